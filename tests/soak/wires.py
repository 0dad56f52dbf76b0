"""Connections that can be cut: a small proxy between two programs, and the receiver of webhooks."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from weakref import WeakSet

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Wire:
    """Forwards to whatever `reach` connects to, until somebody cuts it."""

    def __init__(self, reach: Callable[[], Awaitable[Ends]]) -> None:
        self._reach = reach
        self._open: set[asyncio.StreamWriter] = set()
        self._known: WeakSet[asyncio.StreamWriter] = WeakSet()
        self._serving: set[asyncio.Task[None]] = set()
        self.down = False
        self.port = 0

    def cut(self) -> None:
        """Every connection ends in the middle of whatever it carries."""
        for writer in tuple(self._open):
            writer.transport.abort()

    async def end(self) -> None:
        """Nothing is left open: what was still being connected or sent is given up."""
        self.down = True
        self.cut()
        serving = tuple(self._serving)
        for each in serving:
            each.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for writer in tuple(self._known):
            writer.transport.abort()
        await asyncio.sleep(0)  # a transport that was aborted closes its socket in the next turn of the loop

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._forward(reader, writer))
        self._known.add(writer)
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        await asyncio.wait({task})

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.down:
            writer.transport.abort()
            return
        try:
            there, back = await self._reach()
        except OSError:
            writer.transport.abort()
            return
        self._known.add(back)
        self._open |= {writer, back}
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_copy(reader, back))
                both.create_task(_copy(there, writer))
        finally:
            self._open -= {writer, back}
            writer.close()
            back.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    with suppress(OSError, RuntimeError):
        target.write_eof()


@asynccontextmanager
async def wire_to(reach: Callable[[], Awaitable[Ends]]) -> AsyncIterator[Wire]:
    wire = Wire(reach)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0, limit=2**20)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        await wire.end()


class Webhook:
    """Counts what is posted to it: by title, how often each notice came."""

    def __init__(self) -> None:
        self.port = 0
        self.deliveries: dict[str, Counter[str]] = defaultdict(Counter[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            lines = (line.partition(":") for line in head.split("\r\n"))
            headers = {name: value.strip() for name, _, value in lines}
            body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
            if body.get("event") == "reminder":
                self.deliveries[body["title"]][headers["idempotency-key"]] += 1
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
        writer.close()


@asynccontextmanager
async def webhook() -> AsyncIterator[Webhook]:
    receiver = Webhook()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
