"""Calls that outlast their request: tasks, the extension of 2026-07-28 for long-running calls.

A client that declares it gets a handle where a call takes longer than a moment, and looks for the outcome by
`tasks/get`, at any instance and after its own restart. What a call asks meanwhile waits in the handle and is
answered by `tasks/update`. Does not run calls, and is no way to approve one: what waits for a person says so
in words at once, where a handle would hide it.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY
from pydantic import Field

from steward.contract.call import PendingApproval
from steward.contract.errors import ErrorCode, StewardError
from steward.contract.long_calls import LongCall, LongCallStore, LongState
from steward.servers.gateway import answers
from steward.servers.gateway.callers import owner_of, principal
from steward.servers.gateway.link import Context, Link, ModernLine, RunningWork, modern

EXTENSION = "io.modelcontextprotocol/tasks"
NAMED = frozenset(("tasks/get", "tasks/update", "tasks/cancel"))  # methods whose header names the handle
LONG = 2.0  # seconds after which a call is long
BEAT = 2.0
POLL_MS = 1_000
KEPT_MS = 24 * 3_600 * 1_000

Finish = Callable[[Context, Any], Awaitable[dict[str, Any]]]
"""What to make of an outcome, over the request that is open when it comes."""


class HandleParams(types.RequestParams):
    task_id: str = Field(alias="taskId")


class UpdateParams(HandleParams):
    input_responses: dict[str, Any] = Field(alias="inputResponses")


def declares(meta: Any) -> bool:
    """Whether a request says that its client knows handles. Capabilities come with each request."""
    found = meta
    for name in (types.CLIENT_CAPABILITIES_META_KEY, "extensions", EXTENSION):
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found is not None


def _declared(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    extensions = None if capabilities is None else capabilities.extensions
    return modern(context) and extensions is not None and EXTENSION in extensions


def require_declared(context: Context) -> None:
    if not modern(context):
        raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
    if not _declared(context):
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This is for clients that declare the extension for tasks.",
            {"requiredCapabilities": {"extensions": {EXTENSION: {}}}},
        )


@dataclass(slots=True)
class _Held:
    """A call that runs here and now."""

    id: str
    running: RunningWork
    link: Link
    ending: "asyncio.Task[None] | None" = None
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)


class _HandleLine(ModernLine):
    """A call's line once nobody waits at its end: its stream is over, and handles carry no log lines."""

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """The link keeps it."""

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        pass

    async def ask(
        self, method: str, params: Mapping[str, Any], *, key: str | None = None
    ) -> Mapping[str, Any] | None:
        del key  # a handle's keys are never used twice
        return await super().ask(method, params)


class LongCalls:
    def __init__(self, store: LongCallStore, *, after: float = LONG) -> None:
        self.after = after
        self._store = store
        self._held: dict[str, _Held] = {}

    def concern(self, context: Context) -> bool:
        """Whether this request may be answered with a handle."""
        return context.method == "tools/call" and _declared(context)

    async def hold(
        self, context: Context, running: RunningWork, link: Link, finish: Finish
    ) -> dict[str, Any] | None:
        """The answer that a call goes on without its request; None where that cannot be promised."""
        held = _Held(secrets.token_hex(16), running, link)
        caller = principal(context)
        try:
            await self._store.begin(held.id, caller=caller, user=owner_of(context))
        except StewardError:
            return None
        link.line = _HandleLine(context, running)
        self._held[held.id] = held
        held.ending = asyncio.create_task(self._until_over(held, context, finish))
        now = datetime.now(UTC)
        return {
            "resultType": "task",
            **_about(held.id, LongState.WORKING.value, created=now, changed=now, note=link.note),
        }

    async def get(self, context: Context, params: HandleParams) -> dict[str, Any]:
        require_declared(context)
        held = self._held.get(params.task_id)
        if held is not None:
            await self._look(held)
        known = await self._store.get(params.task_id, caller=principal(context), user=owner_of(context))
        if known is None:
            raise _unknown()
        return _shape(known)

    async def update(self, context: Context, params: UpdateParams) -> dict[str, Any]:
        require_declared(context)
        whose = {"caller": principal(context), "user": owner_of(context)}
        if not await self._store.answer(params.task_id, params.input_responses, **whose):
            raise _unknown()
        await self._nudge(params.task_id)
        return {}

    async def cancel(self, context: Context, params: HandleParams) -> dict[str, Any]:
        require_declared(context)
        if not await self._store.stop(params.task_id, caller=principal(context), user=owner_of(context)):
            raise _unknown()
        await self._nudge(params.task_id)
        return {}

    def close(self) -> None:
        """Nobody waits for them any longer: whoever looks later hears that their end is not known."""
        for held in tuple(self._held.values()):
            held.running.cancel()
            if held.ending is not None:
                held.ending.cancel()

    # --- while it runs ---

    async def _nudge(self, call_id: str) -> None:
        """Where it runs here it hears at once, elsewhere with its next beat."""
        held = self._held.get(call_id)
        if held is not None:
            await self._look(held)

    async def _look(self, held: _Held) -> None:
        async with held.looking:
            questions = {key: question.wire() for key, question in held.running.questions.items()}
            said = await self._store.beat(held.id, note=held.link.note, questions=questions)
            for given in said.answers:
                held.running.answer(given)
            if said.stopping:
                held.running.cancel()
            if said.answers:  # so that nobody is asked again what was answered
                left = {key: question.wire() for key, question in held.running.questions.items()}
                await self._store.beat(held.id, note=held.link.note, questions=left)

    async def _until_over(self, held: _Held, context: Context, finish: Finish) -> None:
        outcome = held.running.outcome
        while not outcome.done():
            await asyncio.wait((outcome,), timeout=BEAT)
            try:
                await self._look(held)
            except StewardError:
                continue  # the database is away; the call is not
        state, told = await _outcome(outcome, context, finish)
        note = str(told["message"]) if state is LongState.FAILED and told else held.link.note
        try:
            await self._end(held.id, state, note, told)
        finally:
            self._held.pop(held.id, None)

    async def _end(
        self, call_id: str, state: LongState, note: str | None, told: Mapping[str, Any] | None
    ) -> None:
        """A database that is away comes back."""
        while True:
            try:
                await self._store.end(call_id, state, note=note, outcome=told)
            except StewardError:
                await asyncio.sleep(BEAT)
            else:
                return


async def _outcome(
    outcome: "asyncio.Future[Any]", context: Context, finish: Finish
) -> tuple[LongState, dict[str, Any] | None]:
    if outcome.cancelled():
        return LongState.CANCELLED, None
    try:
        result = outcome.result()
        pending = isinstance(result, PendingApproval)
        shape = answers.pending(result) if pending else await finish(context, result)
    except MCPError as error:
        said = {"code": error.error.code, "message": error.error.message, "data": error.error.data}
        return LongState.FAILED, {key: value for key, value in said.items() if value is not None}
    except Exception:  # noqa: BLE001 - whoever looks for it must hear that it is over
        return LongState.FAILED, {"code": INTERNAL_ERROR, "message": "The call failed inside Steward."}
    return LongState.COMPLETED, shape


# --- on the wire ---


def _shape(call: LongCall) -> dict[str, Any]:
    state, note = call.state.value, call.note
    payload: dict[str, Any] = {}
    if call.left:
        state, note = LongState.FAILED.value, "The program that ran this call ended."
        data = {"error_code": ErrorCode.OUTCOME_UNKNOWN, "outcome_unknown": True}
        message = f"{note} Whether it took effect is not known: look at 'steward log'. It is not repeated."
        payload["error"] = {"code": INTERNAL_ERROR, "message": message, "data": data}
    elif call.state is LongState.COMPLETED:
        payload["result"] = call.outcome or {}
    elif call.state is LongState.FAILED:
        payload["error"] = call.outcome or {}
    elif call.questions:
        state = "input_required"
        payload["inputRequests"] = call.questions
    return {**_about(call.id, state, created=call.created_at, changed=call.changed_at, note=note), **payload}


def _about(
    call_id: str, status: str, *, created: datetime, changed: datetime, note: str | None
) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "taskId": call_id,
        "status": status,
        "createdAt": created.astimezone(UTC).isoformat(),
        "lastUpdatedAt": changed.astimezone(UTC).isoformat(),
        "ttlMs": KEPT_MS,
        "pollIntervalMs": POLL_MS,
    }
    return shape if note is None else {**shape, "statusMessage": note}


def _unknown() -> MCPError:
    return MCPError(INVALID_PARAMS, "There is no such task of yours. A task is kept for a day.")
