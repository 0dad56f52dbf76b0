"""The API inside this process as an httpx transport that hands an answer over piece by piece.

httpx's own ASGI transport waits for the end of an answer, so that a stream of events would arrive as one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import httpx

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]


class InProcess(httpx.AsyncBaseTransport):
    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(await request.aread())
        exchange.start(self._app, _scope(request))
        try:
            head = await exchange.head()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(head["status"], headers=head.get("headers", []), stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and the body of its answer; closing it early is the client going away."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._answer: asyncio.Queue[Message | None] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, app: App, scope: Message) -> None:
        self._task = asyncio.create_task(self._run(app, scope))

    async def _run(self, app: App, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._answer.put)
        finally:
            self._answer.put_nowait(None)

    async def _receive(self) -> Message:
        if self._body is None:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def head(self) -> Message:
        message = await self._answer.get()
        if message is None:
            assert self._task is not None
            await self._task  # it failed before it said anything: that is the answer
            raise httpx.RemoteProtocolError("The application answered nothing.")
        return message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._answer.get()) is not None:
            if body := message.get("body", b""):
                yield body
            if not message.get("more_body", False):
                return

    async def aclose(self) -> None:
        self._gone.set()
        if self._task is not None and not self._task.done():
            # What is left after the last piece is the application's own tidying up.
            _, running = await asyncio.wait((self._task,), timeout=5.0)
            for task in running:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def _scope(request: httpx.Request) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "query_string": request.url.query,
        "server": (request.url.host, request.url.port),
        "client": ("127.0.0.1", 0),
        "root_path": "",
    }
