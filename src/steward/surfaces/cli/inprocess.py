"""The API inside this process, handing an answer over piece by piece, as a socket would."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Mapping,
    MutableMapping,
)
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import unquote

from steward.surfaces.wire import Body, LostError, split_lines

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]
SECONDS_TO_TIDY = 5.0


class InProcess:
    """A wire to an ASGI application."""

    def __init__(self, app: App, headers: Mapping[str, str] | None = None) -> None:
        self._app = app
        self._headers = {"Host": "localhost", **(headers or {})}

    @asynccontextmanager
    async def open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator["_InProcessExchange"]:
        exchange = _InProcessExchange(body)
        exchange.start(self._app, _scope(method, path, {**self._headers, **(headers or {})}))
        try:
            await exchange.begin()
            yield exchange
        finally:
            await exchange.close()


class _InProcessExchange:
    """One request and the body of its answer; closing it early is the client going away."""

    def __init__(self, body: Body) -> None:
        self._body = _pieces(body)
        self._sent = False
        self._answer: asyncio.Queue[Message | None] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.status = 0

    def start(self, app: App, scope: Message) -> None:
        self._task = asyncio.create_task(self._run(app, scope))

    async def _run(self, app: App, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._answer.put)
        finally:
            self._answer.put_nowait(None)

    async def _receive(self) -> Message:
        if self._sent:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        piece = await anext(self._body, None)
        self._sent = piece is None
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def begin(self) -> None:
        message = await self._answer.get()
        if message is None:
            assert self._task is not None
            await self._task  # it failed before it said anything: that is the answer
            raise LostError(EOFError(), heard=True)
        self.status = message["status"]

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self._pieces()])

    def lines(self) -> AsyncGenerator[str]:
        return split_lines(self._pieces())

    async def _pieces(self) -> AsyncGenerator[bytes]:
        while (message := await self._answer.get()) is not None:
            if body := message.get("body", b""):
                yield body
            if not message.get("more_body", False):
                return

    async def close(self) -> None:
        self._gone.set()
        if self._task is not None and not self._task.done():
            # What is left after the last piece is the application's own tidying up.
            _, running = await asyncio.wait((self._task,), timeout=SECONDS_TO_TIDY)
            for task in running:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def _pieces(body: Body) -> AsyncGenerator[bytes]:
    if isinstance(body, AsyncIterable):
        async for piece in body:
            yield piece
    elif body:
        yield body


def _scope(method: str, path: str, headers: Mapping[str, str]) -> Message:
    where, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "scheme": "http",
        "path": unquote(where),
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 0),
        "root_path": "",
    }
