"""What became of a call that waited for a person, as the agent that made it reads it. Runs nothing."""

from collections.abc import Mapping
from typing import Any, assert_never

from steward.agents.session import AgentSession
from steward.agents.turn.calls import record_of
from steward.contract.call import Done, Failed
from steward.contract.errors import ErrorCode
from steward.orchestrator.proposals import (
    Expired,
    Finished,
    OutcomeUnknown,
    Proposal,
    Rejected,
    Running,
    Waiting,
)


def outcome_of(proposal: Proposal) -> Done | Failed | None:
    """None while nothing is decided, or while it runs."""
    match proposal.state:
        case Finished(result=result):
            return _stored(result)
        case Rejected(why=why):
            return Failed(error=f"The person said no. {why or ''}".strip(), code=ErrorCode.PROPOSAL_REJECTED)
        case Expired():
            return Failed(error="Nobody decided in time; nothing was run.", code=ErrorCode.PROPOSAL_EXPIRED)
        case OutcomeUnknown():
            return Failed(
                error="It was approved and started; its outcome is unknown. Do not repeat it.",
                code=ErrorCode.CONFLICT,
                outcome_unknown=True,
            )
        case Waiting() | Running():
            return None
        case _:
            assert_never(proposal.state)


async def note_decided(proposal: Proposal, outcome: Done | Failed, *, session: AgentSession) -> None:
    """Once: whoever decided in this conversation has noted it already."""
    if session.ledger.knows_decision(proposal.id):
        return
    record = record_of(
        outcome,
        proposal.tool,
        proposal.arguments,
        call_id=proposal.call_id,
        risk=proposal.risk.value,
        proposal_id=proposal.id,
    )
    session.ledger.note(record)
    await session.watch.ended(record)


def _stored(shape: Mapping[str, Any]) -> Done | Failed:
    """A stored envelope as the result it was."""
    told: dict[str, Any] = {
        "call_id": str(shape.get("call_id") or ""),
        "correlation_id": str(shape.get("correlation_id") or ""),
        "duration_ms": float(shape.get("duration_ms") or 0.0),
        "data": shape.get("data"),
    }
    if shape.get("success"):
        return Done(**told)
    return Failed(
        error=str(shape.get("error") or ""),
        code=str(shape.get("error_code") or ErrorCode.TOOL_EXECUTION_ERROR),
        retryable=bool(shape.get("retryable")),
        outcome_unknown=bool(shape.get("outcome_unknown")),
        **told,
    )
