"""Calls of the turn before that wait for a person, and what the person's words make of them.

Owns that a yes counts only from somebody who may approve, for one call, once. A plain yes or no decides the
first call that waits. Anything else said turns all of them down: the person wants something else, and a yes
given later must not reach back to what was asked before.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from pydantic_ai import DeferredToolResults, ToolApproved, ToolDenied

from steward.agents.session import AgentSession
from steward.agents.turn.calls import record_of
from steward.agents.turn.confidence import leaves
from steward.agents.turn.decisions import note_decided, outcome_of
from steward.contract.deciding import Always, Decider
from steward.contract.errors import ConflictError, ErrorCode, StewardError
from steward.conversations.consent import Consent, read_consent
from steward.conversations.model import PendingCall, Speaker
from steward.orchestrator.approvals import Approvals
from steward.orchestrator.lasting_answers import LastingOffer, Reach
from steward.orchestrator.proposals import ProposalState, Running, Waiting
from steward.policy.who_decides import may_decide

NO_MORE_ASKING = "From now on I run `{}`{} without asking; `steward policy` lists that rule and removes it."
NEVER_AGAIN = "From now on I never run `{}`; `steward policy` lists that rule and removes it."
_ALWAYS = {Consent.ALWAYS: Always.TOOL, Consent.ALWAYS_THESE: Always.ARGUMENTS}
_WITH = {Always.TOOL: "", Always.ARGUMENTS: " with exactly these arguments"}
NOT_YOURS = "It waits for somebody who may approve it, as proposal {}. Do not call it again."


class ReplyVerdict(Enum):
    DECIDED = auto()  # the last of them is decided: the run goes on
    DECIDED_ELSEWHERE = auto()  # the same, and the person says something else by now
    TURNED_DOWN = auto()  # the only one, by a plain no
    NEXT = auto()  # another one waits
    NEW_REQUEST = auto()  # the person wants something else, so they are turned down
    RUNNING = auto()  # somebody approved one, and it is not done yet
    NO_RIGHT = auto()  # a yes or no of somebody who may not decide
    LEFT_WAITING = auto()  # something else is wanted by somebody who may not decide
    ONCE_ONLY = auto()  # a yes for always, to what asks every time


@dataclass(frozen=True, slots=True)
class HeardReply:
    verdict: ReplyVerdict
    waiting: Sequence[PendingCall] = ()
    news: str = ""  # what the answer has to say of the decision itself


class PendingCalls:
    def __init__(self, calls: Sequence[PendingCall], approvals: Approvals, *, speaker: Speaker) -> None:
        self._calls = calls
        self._approvals = approvals
        self._speaker = speaker

    async def hear(self, said: str, *, session: AgentSession) -> HeardReply:
        """Decide what these words decide."""
        states = [await self._state(call) for call in self._calls]
        waiting = [
            call for call, state in zip(self._calls, states, strict=True) if isinstance(state, Waiting)
        ]
        if any(isinstance(state, Running) for state in states):
            return HeardReply(ReplyVerdict.RUNNING, waiting)
        consent = _consent(said, waiting[0] if waiting else self._calls[0])
        other = consent is Consent.OTHER
        if not waiting:
            return HeardReply(ReplyVerdict.DECIDED_ELSEWHERE if other else ReplyVerdict.DECIDED)
        decider = self._speaker.decider
        if decider is None or not may_decide(decider, owner=self._speaker.user):
            return HeardReply(ReplyVerdict.LEFT_WAITING if other else ReplyVerdict.NO_RIGHT, waiting)
        if other:
            await self._reject(waiting, decider, session=session, why=f"They said: {said[:500]}")
            return HeardReply(ReplyVerdict.NEW_REQUEST)
        return await self._decide(consent, waiting, decider, session=session)

    async def _decide(
        self, consent: Consent, waiting: Sequence[PendingCall], decider: Decider, *, session: AgentSession
    ) -> HeardReply:
        first, always = waiting[0], _ALWAYS.get(consent)
        offer = await self._offer(first) if always is not None or consent is Consent.NEVER else LastingOffer()
        if always is not None and always not in offer.always:
            return HeardReply(
                ReplyVerdict.ONCE_ONLY, waiting, f"{offer.why_not or ''} Say yes to run it this once."
            )
        news = ""
        if consent is Consent.YES or always is not None:
            reach = None if always is None else Reach(always=always)
            await self._approve(first, decider, session=session, reach=reach)
            news = "" if always is None else NO_MORE_ASKING.format(first.tool, _WITH[always])
        else:
            # What was never offered is a plain no: nobody loses a tool by a strong word.
            reach = Reach(always=Always.TOOL) if offer.always else None
            await self._reject([first], decider, session=session, why=None, reach=reach)
            news = "" if reach is None else NEVER_AGAIN.format(first.tool)
        if len(waiting) > 1:
            return HeardReply(ReplyVerdict.NEXT, waiting[1:], news)
        plain_no = always is None and consent is not Consent.YES and len(self._calls) == 1
        return HeardReply(ReplyVerdict.TURNED_DOWN if plain_no else ReplyVerdict.DECIDED, news=news)

    async def _offer(self, call: PendingCall) -> LastingOffer:
        return await asyncio.to_thread(self._approvals.offer, await self._approvals.get(call.proposal_id))

    def results(self, left_waiting: Sequence[PendingCall] = ()) -> DeferredToolResults:
        """For the run that goes on. The toolset reads what became of each; a yes here runs nothing."""
        results = DeferredToolResults(
            approvals={call.tool_call_id: ToolApproved() for call in self._calls},
            metadata={
                call.tool_call_id: {"proposal_id": call.proposal_id, "tool": call.tool}
                for call in self._calls
            },
        )
        for call in left_waiting:
            results.approvals[call.tool_call_id] = ToolDenied(NOT_YOURS.format(call.proposal_id))
        return results

    async def _state(self, call: PendingCall) -> ProposalState | None:
        """None when the proposal is gone, with everything its user owned."""
        try:
            return (await self._approvals.get(call.proposal_id)).state
        except StewardError as error:
            if error.code != ErrorCode.PROPOSAL_NOT_FOUND:
                raise
            return None

    async def _approve(
        self, call: PendingCall, decider: Decider, *, session: AgentSession, reach: Reach | None = None
    ) -> None:
        if session.journal is not None:
            await session.journal.check()
        try:
            result = await self._approvals.approve(
                call.proposal_id, by=decider, channel=session.channel, reach=reach
            )
        except ConflictError as error:
            if error.code != ErrorCode.PROPOSAL_ALREADY_DECIDED:
                raise
            return  # somebody else's decision came first; the run reads what became of it
        record = record_of(result, call.tool, call.arguments, risk=call.risk, proposal_id=call.proposal_id)
        session.ledger.note(record)
        await session.watch.ended(record)

    async def _reject(
        self,
        calls: Sequence[PendingCall],
        decider: Decider,
        *,
        session: AgentSession,
        why: str | None,
        reach: Reach | None = None,
    ) -> None:
        for call in calls:
            with suppress(ConflictError):  # decided meanwhile; the run reads what became of it
                proposal = await self._approvals.reject(call.proposal_id, by=decider, why=why, reach=reach)
                outcome = outcome_of(proposal)
                if outcome is not None:
                    await note_decided(proposal, outcome, session=session)


def _consent(said: str, call: PendingCall) -> Consent:
    about = [call.question, call.tool.replace("_", " "), *leaves(call.arguments)]
    return read_consent(said, about=about)
