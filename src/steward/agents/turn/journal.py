"""What a turn has done so far, kept as it happens, so that another program can go on with it.

Owns that a call is noted before it begins and when it ends, that nobody calls on a lease that is lost, and
what a turn that goes on takes from the one before: a call that ended is not made again, its record answers.
One that may change something and has no end is never made again: nobody knows whether it took effect. A turn
that wants other changes than those already made has lost its thread, and stops.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import orjson

from steward.contract.call import Done, Failed, PendingApproval, ToolCall, ToolResult, current_call
from steward.contract.errors import ConflictError, ErrorCode, StewardError
from steward.contract.tool import RiskLevel, ToolSpec
from steward.conversations.model import CallRecord, CallStatus, Conversation, OpenCall
from steward.conversations.ports import ConversationStore, lease_lost

logger = logging.getLogger(__name__)

INTERRUPTED = (
    "It was interrupted: Steward ended while it ran. Whether it took effect is not known, "
    "and it was not run again."
)

current_journal: "ContextVar[Journal | None]" = ContextVar("current_journal", default=None)


class Journal:
    """Of one turn. An agent that is asked in the middle of it writes into the same one."""

    def __init__(
        self, store: ConversationStore, held: Conversation, *, changes: Callable[[str], bool]
    ) -> None:
        """`changes` says of a tool by name whether it may change something."""
        self._store = store
        self._held = held
        self._changes = changes
        left = () if held.left is None else held.left.calls
        ended = {call.call_id for call in left if call.record is not None}
        # What an ended call made on its way is in that call's own record.
        self._left = [call for call in left if call.within not in ended]

    @property
    def unknown(self) -> Sequence[OpenCall]:
        """Calls of the turn before that may have changed something, without an end."""
        return [call for call in self._left if call.record is None and self._changes(call.tool)]

    def account(self) -> list[CallRecord]:
        """Everything the turn before did that nothing here has taken up yet, as records."""
        return [_record(call) for call in self._left if call.record is not None or self._changes(call.tool)]

    def replay(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> CallRecord | None:
        """The record of the same call in the turn before; None when it was not made, or may be made again."""
        if not self._left:
            return None
        wanted = _canonical(arguments)
        for call in self._left:
            if call.tool == spec.name and _canonical(call.arguments) == wanted:
                self._left.remove(call)
                if call.record is None and not self._changes(call.tool):
                    return None
                return _record(call)
        if self._changes(spec.name) and any(self._changes(call.tool) for call in self._left):
            raise ConflictError(
                "Steward was interrupted in this turn, and could not find its thread again.",
                code=ErrorCode.INTERRUPTED,
                fix="Say what is still to be done.",
            )
        return None

    async def begin(self, call: ToolCall) -> None:
        """`LeaseLostError` when somebody else has this turn."""
        asking = current_call.get()  # the call by which one agent asks another
        await self._store.begin_call(
            self._held,
            OpenCall(
                call_id=call.call_id,
                tool=call.tool,
                arguments=_keepable(call.arguments),
                within=None if asking is None else asking.call_id,
            ),
        )

    async def end(self, call_id: str, record: CallRecord) -> None:
        try:
            await self._store.end_call(self._held, call_id, record)
        except StewardError as error:  # it has run all the same; whoever goes on finds it without an end
            logger.warning("call_end_not_kept", extra={"call": call_id, "problem": error.message})

    async def check(self) -> None:
        """`LeaseLostError` when somebody else has this turn."""
        if (await self._store.beat({self._held.id: self._held.lease})).lost:
            raise lease_lost()


def result_of(record: CallRecord) -> ToolResult:
    """A record as the answer it was."""
    if record.status is CallStatus.DONE:
        return Done(data=record.data, call_id=record.call_id, duration_ms=record.duration_ms)
    if record.status is CallStatus.PENDING_APPROVAL and record.proposal_id is not None:
        return PendingApproval(
            proposal_id=record.proposal_id,
            reason=record.error or "",
            risk=RiskLevel(record.risk),
            call_id=record.call_id,
        )
    return Failed(
        error=record.error or "",
        code=record.error_code or ErrorCode.TOOL_EXECUTION_ERROR,
        data=record.data,
        outcome_unknown=record.outcome_unknown,
        call_id=record.call_id,
        duration_ms=record.duration_ms,
    )


def _record(call: OpenCall) -> CallRecord:
    return call.record or CallRecord(
        tool=call.tool,
        arguments=call.arguments,
        status=CallStatus.FAILED,
        error=INTERRUPTED,
        error_code=ErrorCode.INTERRUPTED,
        outcome_unknown=True,
        call_id=call.call_id,
    )


def _canonical(arguments: Mapping[str, Any]) -> bytes:
    return orjson.dumps(_keepable(arguments), option=orjson.OPT_SORT_KEYS)


def _keepable(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """As they are; as text where they are odd (numbers beyond 64 bits, half a character)."""
    try:
        orjson.dumps(dict(arguments))
    except TypeError:
        return {name: ascii(value) for name, value in arguments.items()}
    return dict(arguments)
