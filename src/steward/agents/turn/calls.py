"""One call of an agent: past its rules, through the door, into the ledger.

Owns what is noted of a call and when. Whoever calls on an agent's behalf (a model's toolset, a procedure of
our own) calls here, so that nothing an agent does goes unnoted.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, assert_never

import orjson

from steward.agents.session import AgentSession
from steward.agents.turn.journal import result_of
from steward.agents.turn.results import as_text, shorten
from steward.contract.call import Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.errors import ErrorCode
from steward.contract.tool import ToolSpec
from steward.conversations.model import CallRecord, CallStatus
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.stages import note_result

KEPT_CHARACTERS = 64_000  # of a result in the record of a conversation


async def call_through(
    door: Orchestrator,
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    *,
    session: AgentSession,
    confidence: float = 0.0,
    risk: str | None = None,
) -> ToolResult:
    """The door's answer, or the rules' refusal as a failure. `risk` is the tool's rating, for the record."""
    call = ToolCall(
        tool=spec.name,
        arguments=arguments,
        caller=session.caller,
        user=session.user,
        utterance=session.utterance,
        confidence=confidence,
        correlation_id=session.correlation_id,
        channel=session.channel,
        run=session.run,
    )
    await session.watch.started(call.call_id, spec.name, arguments)
    refused = session.watch.admit(spec, arguments, session)
    if refused is not None:
        await note(refused, call, session=session, risk=risk, status=CallStatus.REFUSED)
        return refused
    journal = session.journal
    if journal is None:
        return await _execute(door, call, session=session, risk=risk)
    told = journal.replay(spec, arguments)
    if told is not None:  # the turn before was interrupted, and had made this call
        session.ledger.note(told)
        await session.watch.ended(told)
        result = result_of(told)
        note_result(session.run, spec, result, given=arguments)
        return result
    await journal.begin(call)
    try:
        return await _execute(door, call, session=session, risk=risk)
    finally:
        ended = [record for record in session.ledger.calls if record.call_id == call.call_id]
        if ended:
            await asyncio.shield(journal.end(call.call_id, ended[-1]))


async def _execute(
    door: Orchestrator, call: ToolCall, *, session: AgentSession, risk: str | None
) -> ToolResult:
    try:
        result = await door.execute(call)
    except asyncio.CancelledError:
        cut = Failed(error="It was stopped.", code=ErrorCode.CANCELLED, outcome_unknown=True)
        session.ledger.note(record_of(cut, call.tool, call.arguments, call_id=call.call_id, risk=risk))
        raise
    await note(result, call, session=session, risk=risk)
    return result


async def note(
    result: ToolResult,
    call: ToolCall,
    *,
    session: AgentSession,
    risk: str | None = None,
    status: CallStatus | None = None,
) -> None:
    record = record_of(result, call.tool, call.arguments, call_id=call.call_id, risk=risk, status=status)
    session.ledger.note(record)
    await session.watch.ended(record)


def _unsuccessful(result: Failed) -> CallStatus:
    return CallStatus.REJECTED if result.code == ErrorCode.PROPOSAL_REJECTED else CallStatus.FAILED


def record_of(
    result: ToolResult,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    call_id: str = "",
    risk: str | None = None,
    status: CallStatus | None = None,
    proposal_id: str | None = None,
) -> CallRecord:
    match result:
        case Done():
            return CallRecord(
                tool=tool,
                arguments=arguments,
                status=status or CallStatus.DONE,
                data=keepable(result.data),
                risk=risk,
                proposal_id=proposal_id,
                call_id=result.call_id or call_id,
                duration_ms=result.duration_ms,
            )
        case Failed():
            return CallRecord(
                tool=tool,
                arguments=arguments,
                status=status or _unsuccessful(result),
                data=keepable(result.data),
                error=result.error,
                error_code=str(result.code),
                outcome_unknown=result.outcome_unknown,
                risk=risk,
                proposal_id=proposal_id,
                call_id=result.call_id or call_id,
                duration_ms=result.duration_ms,
            )
        case PendingApproval():
            return CallRecord(
                tool=tool,
                arguments=arguments,
                status=CallStatus.PENDING_APPROVAL,
                error=result.reason,
                risk=result.risk.value,
                proposal_id=result.proposal_id,
                call_id=result.call_id or call_id,
                duration_ms=result.duration_ms,
            )
        case _:
            assert_never(result)


def keepable(data: Any) -> Any:
    """A result as the record keeps it: as it is, cut where it is huge, as text where it is odd."""
    text = as_text(data)
    if len(text) > KEPT_CHARACTERS:
        data = shorten(data, KEPT_CHARACTERS)
    try:
        orjson.dumps(data)
    except TypeError:  # numbers beyond 64 bits, half a character
        return text[:KEPT_CHARACTERS]
    return data
