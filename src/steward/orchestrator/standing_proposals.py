"""Which calls of a client's session wait already, so that the same call sent again is the same proposal.

A client that retries what it takes for an error would otherwise put the same question to a person again and
again. Owns the look at what stands; a call that was decided, expired or would now do something else is
asked about anew.
"""

import asyncio

from steward.orchestrator.ports import ProposalStore
from steward.orchestrator.proposals import Proposal, Waiting

MOST_STANDING = 1_000

_Key = tuple[str, str, str | None, str]


class StandingProposals:
    def __init__(self, store: ProposalStore) -> None:
        self._store = store
        self._ids: dict[_Key, str] = {}
        self._turn = asyncio.Lock()  # two of the same call at once are one proposal too

    async def keep(self, proposal: Proposal, *, session: str | None) -> Proposal:
        """The proposal that waits now: the one that stands, or else this one, stored."""
        if session is None:
            await self._store.add(proposal)
            return proposal
        key = (session, proposal.caller.id, proposal.user, proposal.digest)
        async with self._turn:
            known = await self._waiting(key, proposal)
            if known is not None:
                return known
            await self._store.add(proposal)
            while len(self._ids) >= MOST_STANDING:
                del self._ids[next(iter(self._ids))]  # the one that was made first
            self._ids[key] = proposal.id
        return proposal

    async def _waiting(self, key: _Key, proposal: Proposal) -> Proposal | None:
        known = self._ids.pop(key, None)
        found = None if known is None else await self._store.get(known)
        if found is None or not _same(found, proposal):
            return None
        self._ids[key] = found.id
        return found


def _same(found: Proposal, proposal: Proposal) -> bool:
    """Whether a person who looks at the one that waits reads exactly what this one would do."""
    expired = found.expires_at is not None and found.expires_at <= proposal.created_at
    return (
        isinstance(found.state, Waiting)
        and not expired
        and found.definition_hash == proposal.definition_hash
        and found.effect == proposal.effect
        and found.elsewhere == proposal.elsewhere
    )
