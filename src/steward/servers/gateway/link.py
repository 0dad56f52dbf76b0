"""The way from a running call back to the client that asked for it.

A call may report progress, write log lines and put questions to the client: elicitation, sampling,
roots. On 2025-11-25 a question is a request on the call's own stream. On 2026-07-28 there are no such
requests: the call is parked, its questions are the answer, and the client comes back with theirs.
Owns both ways. Does not own what is asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter, ValidationError

from steward.contract.call import ElicitAnswer
from steward.contract.errors import InvalidSchemaError
from steward.contract.schema import compile_schema

Context = ServerRequestContext[Any, Any]

ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"
ROOTS = "roots/list"

_REQUEST: TypeAdapter[types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest] = (
    TypeAdapter(types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest)
)
_RESULTS: dict[str, type[BaseModel]] = {
    ELICIT: types.ElicitResult,
    SAMPLE: types.CreateMessageResult,
    ROOTS: types.ListRootsResult,
}
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def wanted_level(meta: Mapping[str, Any] | None) -> str | None:
    """The level of log lines that a 2026-07-28 request asks for."""
    level = (meta or {}).get(types.LOG_LEVEL_META_KEY)
    return level if level in _LEVELS else None


def modern(context: Context) -> bool:
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def can(context: Context, method: str, params: Mapping[str, Any] | None = None) -> bool:
    """Whether this client said that it answers such questions."""
    capabilities = context.session.client_capabilities
    if capabilities is None:
        return False
    if method == ELICIT:
        offered = capabilities.elicitation
        if offered is None:
            return False
        if (params or {}).get("mode") == "url":
            return offered.url is not None
        return offered.form is not None or offered.url is None
    return (capabilities.sampling if method == SAMPLE else capabilities.roots) is not None


class ClientLine(Protocol):
    """A call's current connection to its client."""

    async def progress(self, done: float, total: float | None, message: str | None) -> None: ...

    async def log(self, level: str, data: Any, logger: str | None) -> None: ...

    async def ask(
        self, method: str, params: Mapping[str, Any], *, key: str | None = None
    ) -> Mapping[str, Any] | None: ...


@dataclass(slots=True)
class ClientQuestion:
    method: str
    params: Mapping[str, Any]
    answer: "asyncio.Future[Mapping[str, Any] | None]"

    def wire(self) -> dict[str, Any]:
        return {"method": self.method, "params": dict(self.params)}


def answers_it(method: str, params: Mapping[str, Any], raw: Any) -> bool:
    """Whether this could be an answer to such a question; what is not is asked for again."""
    try:
        _RESULTS[method].model_validate(raw, by_name=False)
    except ValidationError:
        return False
    schema: Any = params.get("requestedSchema")
    if method != ELICIT or raw["action"] != "accept" or schema is None:
        return True
    try:
        return compile_schema(schema).accepts(raw.get("content") or {})
    except InvalidSchemaError:
        return True  # the server's own schema is no schema: let it judge


@dataclass(slots=True)
class RunningWork:
    """Work on its way, and what it waits to hear from the client."""

    outcome: "asyncio.Future[Any]"
    cancel: Callable[[], object]
    questions: dict[str, ClientQuestion] = field(default_factory=dict[str, ClientQuestion])
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    count: int = 0

    def ask(
        self, method: str, params: Mapping[str, Any], key: str | None
    ) -> "asyncio.Future[Mapping[str, Any] | None]":
        self.count += 1
        if key is None or key in self.questions:
            key = f"question-{self.count}"
        answer: asyncio.Future[Mapping[str, Any] | None] = asyncio.get_running_loop().create_future()
        self.questions[key] = ClientQuestion(method, params, answer)
        self.asked.set()
        return answer

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Take what fits; a question without a fitting answer stays open."""
        for key, question in tuple(self.questions.items()):
            raw = responses.get(key)
            if raw is not None and answers_it(question.method, question.params, raw):
                del self.questions[key]
                if not question.answer.done():
                    question.answer.set_result(raw)
        if not self.questions:
            self.asked.clear()


class _Talking:
    """What both eras share: notifications on the call's own stream."""

    def __init__(self, context: Context, minimum: str | None) -> None:
        self._context = context
        self._minimum = minimum

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        await self._context.session.report_progress(done, total, message)

    async def log(self, level: str, data: Any, logger: str | None) -> None:
        wanted = self._minimum
        if wanted is None or level not in _LEVELS or _LEVELS.index(level) < _LEVELS.index(wanted):
            return
        params = types.LoggingMessageNotificationParams.model_validate(
            {"level": level, "data": data, "logger": logger}
        )
        await self._context.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=self._context.request_id
        )


class LegacyLine(_Talking):
    def __init__(self, context: Context, minimum: str) -> None:
        super().__init__(context, minimum)

    async def ask(
        self, method: str, params: Mapping[str, Any], *, key: str | None = None
    ) -> Mapping[str, Any] | None:
        del key  # a request on the stream has an id of its own
        if not can(self._context, method, params):
            return None
        request = _REQUEST.validate_python({"method": method, "params": dict(params)}, by_name=False)
        try:
            result = await self._context.session.send_request(
                request,
                _RESULTS[method],
                metadata=ServerMessageMetadata(related_request_id=self._context.request_id),
            )
        except (NoBackChannelError, ValidationError):
            return None
        except MCPError:
            return None  # the client refused to put the question
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)


class ModernLine(_Talking):
    def __init__(self, context: Context, running: RunningWork) -> None:
        super().__init__(context, wanted_level(context.meta))
        self._running = running

    async def ask(
        self, method: str, params: Mapping[str, Any], *, key: str | None = None
    ) -> Mapping[str, Any] | None:
        if not can(self._context, method, params):
            return None
        return await self._running.ask(method, params, key)


class Link:
    """The channel that a call carries. Its line may be opened late and replaced while the call runs."""

    def __init__(
        self,
        open_line: Callable[[], Awaitable[None]] | None = None,
        *,
        wants_progress: bool = True,
        given: Mapping[str, Any] | None = None,
        log_level: str | None = None,
    ) -> None:
        self.line: ClientLine | None = None
        self.log_level = log_level
        self._open_line = open_line
        self._wants_progress = wants_progress
        self._given = dict(given or {})  # answers that the client sent before it was asked
        self._opening = asyncio.Lock()
        self.note: str | None = None  # how far the call is, in words

    async def _ready(self) -> ClientLine | None:
        if self.line is None and self._open_line is not None:
            async with self._opening:
                if self._open_line is not None:
                    await self._open_line()
                    self._open_line = None
        return self.line

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        far = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        self.note = f"{message} ({far})" if message else far
        if self._wants_progress and (line := await self._ready()) is not None:
            await line.progress(done, total, message)

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        if (line := await self._ready()) is not None:
            await line.log(level, data, logger)

    async def ask(
        self, method: str, params: Mapping[str, Any], *, key: str | None = None
    ) -> Mapping[str, Any] | None:
        early = self._given.pop(key, None) if key is not None else None
        if early is not None and answers_it(method, params, early):
            return early
        line = await self._ready()
        return None if line is None else await line.ask(method, params, key=key)

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> ElicitAnswer | None:
        question = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
        raw = await self.ask(ELICIT, question)
        if raw is None:
            return None
        return ElicitAnswer(action=raw["action"], content=raw.get("content") or {})
