"""Calls of the turn before that wait for a person, and what the person's words make of them.

Owns that a yes counts only from somebody who may approve, for one call, once. A plain yes or no decides the
first call that waits. Anything else said turns all of them down: the person wants something else, and a yes
given later must not reach back to what was asked before.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from pydantic_ai import DeferredToolResults, ToolApproved, ToolDenied

from steward.agents.calls import record_of
from steward.agents.confidence import leaves
from steward.agents.decisions import note_decided, outcome_of
from steward.agents.session import Session
from steward.contract.deciding import Decider
from steward.contract.errors import ConflictError, ErrorCode, StewardError
from steward.conversations.consent import Consent, read_consent
from steward.conversations.model import PendingCall, Speaker
from steward.orchestrator.approvals import Approvals
from steward.orchestrator.proposals import ProposalState, Running, Waiting
from steward.policy.deciding import may_decide

NOT_YOURS = "It waits for somebody who may approve it, as proposal {}. Do not call it again."


class Verdict(Enum):
    DECIDED = auto()  # the last of them is decided: the run goes on
    DECIDED_ELSEWHERE = auto()  # the same, and the person says something else by now
    TURNED_DOWN = auto()  # the only one, by a plain no
    NEXT = auto()  # another one waits
    NEW_REQUEST = auto()  # the person wants something else, so they are turned down
    RUNNING = auto()  # somebody approved one, and it is not done yet
    NO_RIGHT = auto()  # a yes or no of somebody who may not decide
    LEFT_WAITING = auto()  # something else is wanted by somebody who may not decide


@dataclass(frozen=True, slots=True)
class Heard:
    verdict: Verdict
    waiting: Sequence[PendingCall] = ()


class PendingCalls:
    def __init__(self, calls: Sequence[PendingCall], approvals: Approvals, *, speaker: Speaker) -> None:
        self._calls = calls
        self._approvals = approvals
        self._speaker = speaker

    async def hear(self, said: str, *, session: Session) -> Heard:
        """Decide what these words decide."""
        states = [await self._state(call) for call in self._calls]
        waiting = [
            call for call, state in zip(self._calls, states, strict=True) if isinstance(state, Waiting)
        ]
        if any(isinstance(state, Running) for state in states):
            return Heard(Verdict.RUNNING, waiting)
        consent = _consent(said, waiting[0] if waiting else self._calls[0])
        other = consent is Consent.OTHER
        if not waiting:
            return Heard(Verdict.DECIDED_ELSEWHERE if other else Verdict.DECIDED)
        decider = self._speaker.decider
        if decider is None or not may_decide(decider, owner=self._speaker.user):
            return Heard(Verdict.LEFT_WAITING if other else Verdict.NO_RIGHT, waiting)
        if other:
            await self._reject(waiting, decider, session=session, why=f"They said: {said[:500]}")
            return Heard(Verdict.NEW_REQUEST)
        if consent is Consent.YES:
            await self._approve(waiting[0], decider, session=session)
        else:
            await self._reject(waiting[:1], decider, session=session, why=None)
        if len(waiting) > 1:
            return Heard(Verdict.NEXT, waiting[1:])
        plain_no = consent is Consent.NO and len(self._calls) == 1
        return Heard(Verdict.TURNED_DOWN if plain_no else Verdict.DECIDED)

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

    async def _approve(self, call: PendingCall, decider: Decider, *, session: Session) -> None:
        try:
            result = await self._approvals.approve(call.proposal_id, by=decider, channel=session.channel)
        except ConflictError as error:
            if error.code != ErrorCode.PROPOSAL_ALREADY_DECIDED:
                raise
            return  # somebody else's decision came first; the run reads what became of it
        record = record_of(result, call.tool, call.arguments, risk=call.risk, proposal_id=call.proposal_id)
        session.ledger.note(record)
        await session.watch.ended(record)

    async def _reject(
        self, calls: Sequence[PendingCall], decider: Decider, *, session: Session, why: str | None
    ) -> None:
        for call in calls:
            with suppress(ConflictError):  # decided meanwhile; the run reads what became of it
                proposal = await self._approvals.reject(call.proposal_id, by=decider, why=why)
                outcome = outcome_of(proposal)
                if outcome is not None:
                    await note_decided(proposal, outcome, session=session)


def _consent(said: str, call: PendingCall) -> Consent:
    about = [call.question, call.tool.replace("_", " "), *leaves(call.arguments)]
    return read_consent(said, about=about)
