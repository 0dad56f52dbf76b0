"""HTTP to the Steward that runs on this machine, without a library that takes longer to load than to use.

Owns the bytes of one request and its answer over a socket: a length, chunks, or until the end. Understands
what our own server sends and no more. Who is asked, and what an answer means, is the callers'.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager, suppress
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

Body = bytes | AsyncIterable[bytes] | None
LONGEST_LINE = 16 * 1024 * 1024  # an event is one line


class LostError(Exception):
    """Nobody answered, or no longer. `heard`: the request may have arrived."""

    def __init__(self, cause: Exception, *, heard: bool) -> None:
        super().__init__(type(cause).__name__)
        self.heard = heard


class Incoming(Protocol):
    """An answer whose head is there."""

    @property
    def status(self) -> int: ...

    async def read(self) -> bytes: ...

    def lines(self) -> AsyncGenerator[str]: ...


class Wire(Protocol):
    """A way to an HTTP API. Raises `LostError` when there is no answer."""

    def open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[Incoming]: ...


def target(path: str, query: Mapping[str, Any] | None) -> str:
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


async def split_lines(pieces: AsyncGenerator[bytes]) -> AsyncGenerator[str]:
    """Lines as they become whole, wherever the pieces were cut."""
    rest = b""
    async with aclosing(pieces):
        async for piece in pieces:
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line.decode().removesuffix("\r")
    if rest:
        yield rest.decode()


class SocketWire:
    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port or 80
        self._headers = {"Host": parts.netloc, "Connection": "close", **(headers or {})}

    @asynccontextmanager
    async def open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator["_Answer"]:
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port, limit=LONGEST_LINE)
        except OSError as error:
            raise LostError(error, heard=False) from error
        try:
            with _lost():
                await self._send(writer, method, path, body=body, headers=headers)
                answer = await _answer(reader)
            yield answer
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _send(
        self,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        *,
        body: Body,
        headers: Mapping[str, str] | None,
    ) -> None:
        head = {**self._headers, **(headers or {})}
        if isinstance(body, AsyncIterable):
            head["Transfer-Encoding"] = "chunked"
        else:
            head["Content-Length"] = str(len(body or b""))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1"))
        if isinstance(body, AsyncIterable):
            async for piece in body:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        elif body:
            writer.write(body)
        await writer.drain()


@contextmanager
def _lost() -> Generator[None]:
    try:
        yield
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
        raise LostError(error, heard=True) from error


async def _answer(reader: asyncio.StreamReader) -> "_Answer":
    status = int((await _line(reader)).partition(" ")[2][:3])
    headers: dict[str, str] = {}
    while line := await _line(reader):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return _Answer(reader, status, headers)


async def _line(reader: asyncio.StreamReader) -> str:
    return (await reader.readuntil(b"\n")).decode("latin-1").rstrip("\r\n")


class _Answer:
    def __init__(self, reader: asyncio.StreamReader, status: int, headers: Mapping[str, str]) -> None:
        self._reader = reader
        self._headers = headers
        self.status = status

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self._pieces()])

    def lines(self) -> AsyncGenerator[str]:
        return split_lines(self._pieces())

    async def _pieces(self) -> AsyncGenerator[bytes]:
        if "chunked" not in self._headers.get("transfer-encoding", ""):
            yield await self._whole()
            return
        while piece := await self._chunk():
            yield piece

    async def _whole(self) -> bytes:
        length = self._headers.get("content-length")
        with _lost():
            return await (self._reader.read() if length is None else self._reader.readexactly(int(length)))

    async def _chunk(self) -> bytes:
        with _lost():
            size = int((await _line(self._reader)).partition(";")[0], 16)
            return (await self._reader.readexactly(size + 2))[:size]
