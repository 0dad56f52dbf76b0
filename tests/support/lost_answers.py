"""A PostgreSQL whose answers get lost: it does what it is asked, and whoever asked never hears so."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Picks = Callable[[bytes], bool]
EXECUTE = b"B"  # asyncpg's messages of one run of a statement begin with its arguments


def a_statement(message: bytes) -> bool:
    return message.startswith(EXECUTE)


def a_commit(message: bytes) -> bool:
    return b"COMMIT" in message


class LosingWire:
    """Forwards to PostgreSQL; where `lose` is set, the answer to the first message that it picks is lost."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.lose: Picks | None = None
        self.port = 0
        self.down = False
        self._open: set[asyncio.StreamWriter] = set()
        self.lost = 0

    def cut(self) -> None:
        """Every connection ends, and nobody gets another as long as it is down."""
        self.down = True
        for writer in self._open:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.down:
            writer.transport.abort()
            return
        there, back = await asyncio.open_unix_connection(self._socket)
        self._open.add(writer)
        answering = asyncio.create_task(_copy(there, writer))
        try:
            while data := await reader.read(1 << 20):
                if self.lose is None or not self.lose(data):
                    back.write(data)
                    continue
                self.lose = None
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
                back.write(data)
                await there.read(1 << 20)  # it is done by now
                self.lost += 1
                return
        except OSError:
            return
        finally:
            answering.cancel()
            self._open.discard(writer)
            writer.transport.abort()
            back.transport.abort()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(1 << 20):
        target.write(data)


@asynccontextmanager
async def losing_wire(database_url: str) -> AsyncIterator[tuple[LosingWire, str]]:
    """The wire, and the address of the same database behind it."""
    parts = urlsplit(database_url)
    wire = LosingWire(f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432")
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire, f"postgresql://postgres@127.0.0.1:{wire.port}{parts.path}?sslmode=disable"
    finally:
        server.close()
