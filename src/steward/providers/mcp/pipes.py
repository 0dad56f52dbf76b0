"""JSON-RPC on the pipes of a server process: the thin path of every call to a stdio server.

Implements the SDK's `Dispatcher`, so that the SDK's session negotiates and speaks both eras over it, while
`tools/call` costs one encode, one write, one read and one decode. Owns correlation, cancellation, progress,
bounded buffers and the server's standard error. Does not own starting over (connection.py).
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import anyio.abc
import orjson
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
    coerce_request_id,
    run_notify_intercept,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.transport_context import TransportContext
from mcp_types import INVALID_PARAMS, REQUEST_TIMEOUT, RequestId
from pydantic import ValidationError

from steward.providers.mcp.framing import EndlessLineError, LineFramer, TooLong
from steward.providers.mcp.tail import Tail
from steward.providers.mcp.wire import BadAnswerError, ConnectionLostError, server_error

MAX_HANDLERS = 256  # messages of the server's own being handled at a time
_ID_IN_BROKEN_ANSWER = re.compile(rb'"id"\s*:\s*"?(\d+)"?')
_STDOUT, _STDERR = 1, 2


@dataclass(slots=True)
class _Pending:
    future: asyncio.Future[dict[str, Any]]
    on_progress: ProgressFnT | None


@dataclass
class _Inbound:
    """What a handler of a server's own message may use of its dispatcher."""

    _dispatcher: "PipeDispatcher"
    request_id: RequestId | None
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="stdio", can_send_request=True)
    )
    message_metadata: None = None
    can_send_request: bool = True
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        return await self._dispatcher.send_raw_request(method, params, opts)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        await self._dispatcher.notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Clients report no progress to servers."""


class PipeDispatcher(asyncio.SubprocessProtocol):
    """One server process and the conversation with it. Single use: lost once, lost for good."""

    def __init__(self, *, max_message_bytes: int) -> None:
        self.lost = asyncio.Event()
        self.reason: str | None = None
        self.stderr = Tail()
        self._loop = asyncio.get_running_loop()
        self._framer = LineFramer(max_message_bytes)
        self._limit = max_message_bytes
        self._pending: dict[RequestId, _Pending] = {}
        self._next_id = 0
        self._stdin: asyncio.WriteTransport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._handlers: dict[object, asyncio.Task[None]] = {}
        self._on_request: OnRequest | None = None
        self._on_notify: OnNotify | None = None
        self._intercept: OnNotifyIntercept | None = None

    # --- the process's side ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        process = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", process.get_pipe_transport(0))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self.stderr.add(data)
            return
        if self.lost.is_set():
            return
        try:
            for line in self._framer.feed(data):
                if isinstance(line, TooLong):
                    self._fail_answer(line.head, f"its answer is larger than {self._limit:,} bytes")
                else:
                    self._receive(line)
        except EndlessLineError:
            self.lose("it writes without end and without a line break")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        if fd == _STDOUT:
            self.lose("it closed its output")
        elif fd == 0:
            self.lose("it closed its input")

    def process_exited(self) -> None:
        self._exited.set()
        self.lose("its process ended")

    def lose(self, reason: str) -> None:
        """No answer will come any more: tell everyone who waits for one."""
        if self.lost.is_set():
            return
        self.reason = reason
        self.lost.set()
        self._writable.set()
        for pending in tuple(self._pending.values()):
            _fail(pending.future, ConnectionLostError(reason, sent=True))

    async def exited(self) -> None:
        await self._exited.wait()

    # --- our side: the SDK's Dispatcher ---

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        opts = opts or {}
        await self._clear_to_send()
        self._next_id += 1
        request_id = opts.get("request_id", self._next_id)
        on_progress = opts.get("on_progress")
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if on_progress is not None:
            params = {**(params or {})}
            params["_meta"] = {**params.get("_meta", {}), "progressToken": request_id}
        if params:
            message["params"] = params
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        key = coerce_request_id(request_id)
        self._pending[key] = _Pending(future, on_progress)
        try:
            if not self._write(message):
                future.cancel()
                raise ConnectionLostError(self.reason or "it is gone", sent=False)
            async with asyncio.timeout(opts.get("timeout")):
                return await future
        except TimeoutError:
            self._abandon(request_id, opts, "timed out")
            raise MCPError(REQUEST_TIMEOUT, f"'{method}' was not answered in time") from None
        except asyncio.CancelledError:
            self._abandon(request_id, opts, "the caller gave up")
            raise
        finally:
            self._pending.pop(key, None)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        del opts
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if not self.lost.is_set():
            await self._writable.wait()
            self._write(message)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        self._on_request, self._on_notify, self._intercept = on_request, on_notify, on_notify_intercept
        task_status.started()
        try:
            await self.lost.wait()
        finally:
            handlers = tuple(self._handlers.values())
            for task in handlers:
                task.cancel()
            await asyncio.gather(*handlers, return_exceptions=True)

    async def _clear_to_send(self) -> None:
        if not self._writable.is_set():
            await self._writable.wait()
        if self.lost.is_set():
            raise ConnectionLostError(self.reason or "it is gone", sent=False)

    def _write(self, message: Mapping[str, Any]) -> bool:
        """Whether it may have reached the server: a pipe without a reader closes at the first write."""
        if self._stdin is None or self.lost.is_set():
            return False
        self._stdin.write(orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE))
        if self._stdin.is_closing():
            self.lose("it closed its input")
            return False
        return True

    def _abandon(self, request_id: RequestId, opts: CallOptions, reason: str) -> None:
        if opts.get("cancel_on_abandon", True):
            self._write(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": request_id, "reason": reason},
                }
            )

    # --- what the server says ---

    def _receive(self, line: bytes) -> None:
        try:
            message: Any = orjson.loads(line)
        except orjson.JSONDecodeError:
            self._fail_answer(line, "its answer is not JSON")
            return
        if isinstance(message, list):  # batches existed in 2025-03-26
            for one in cast("list[Any]", message):
                self._dispatch(one)
        else:
            self._dispatch(message)

    def _dispatch(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        body = cast("dict[str, Any]", message)
        method: Any = body.get("method")
        if isinstance(method, str):
            params: Any = body.get("params")
            self._inbound(method, cast("dict[str, Any]", params) if isinstance(params, dict) else None, body)
            return
        request_id: Any = body.get("id")
        pending = (
            self._pending.get(coerce_request_id(request_id)) if isinstance(request_id, int | str) else None
        )
        if pending is None:
            return  # late, or to nobody
        result: Any = body.get("result")
        if isinstance(result, dict):
            if not pending.future.done():
                pending.future.set_result(cast("dict[str, Any]", result))
        elif "error" in body:
            _fail(pending.future, server_error(body["error"]))
        else:
            _fail(pending.future, BadAnswerError("its answer has neither a result nor an error"))

    def _fail_answer(self, line: bytes, why: str) -> None:
        """An unreadable line ends the call it belongs to, where that can be told. Other text is chatter."""
        if not line.lstrip().startswith(b"{"):
            self.stderr.add(line[:1024] + b"\n")
            return
        found = _ID_IN_BROKEN_ANSWER.search(line[:4096]) or _ID_IN_BROKEN_ANSWER.search(line[-4096:])
        pending = self._pending.get(int(found[1])) if found else None
        if pending is None and len(self._pending) == 1:
            pending = next(iter(self._pending.values()))
        if pending is not None:
            _fail(pending.future, BadAnswerError(why))

    def _inbound(self, method: str, params: dict[str, Any] | None, body: dict[str, Any]) -> None:
        request_id: Any = body.get("id")
        if isinstance(request_id, int | str):
            self._spawn(request_id, lambda: self._answer(request_id, method, params))
            return
        if method == "notifications/cancelled":
            handler = self._handlers.get((params or {}).get("requestId"))
            if handler is not None:
                handler.cancel()
        if method == "notifications/progress":
            self._progress(params or {})
        on_notify = self._on_notify
        if not run_notify_intercept(self._intercept, method, params) and on_notify is not None:
            self._spawn(object(), lambda: _quietly(on_notify(_Inbound(self, None), method, params)))

    def _progress(self, params: dict[str, Any]) -> None:
        token, done = params.get("progressToken"), params.get("progress")
        pending = self._pending.get(coerce_request_id(token)) if isinstance(token, int | str) else None
        if pending is None or pending.on_progress is None or not isinstance(done, int | float):
            return
        total, message = params.get("total"), params.get("message")
        report = pending.on_progress
        steps = (
            float(done),
            float(total) if isinstance(total, int | float) else None,
            message if isinstance(message, str) else None,
        )
        self._spawn(object(), lambda: _quietly(report(*steps)))

    def _spawn(self, key: object, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if len(self._handlers) >= MAX_HANDLERS:
            return  # a server that floods is not followed
        task = self._loop.create_task(work())
        self._handlers[key] = task
        task.add_done_callback(lambda _: self._handlers.pop(key, None))

    async def _answer(self, request_id: RequestId, method: str, params: dict[str, Any] | None) -> None:
        assert self._on_request is not None
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
        try:
            reply["result"] = await self._on_request(_Inbound(self, request_id), method, params)
        except MCPError as error:
            reply["error"] = error.error.model_dump(exclude_none=True)
        except ValidationError:
            reply["error"] = {"code": INVALID_PARAMS, "message": "the request could not be understood"}
        self._write(reply)


async def _quietly(work: Awaitable[None]) -> None:
    """A notification's handler must never end the conversation."""
    with contextlib.suppress(Exception):  # whoever listens is told by its own log
        await work


def _fail(future: asyncio.Future[dict[str, Any]], error: MCPError) -> None:
    if not future.done():
        future.set_exception(error)
