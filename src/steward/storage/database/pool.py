"""A short way to a pooled connection.

asyncpg's pool spends more time on handing a connection out and taking it back than a small query takes: a
task, a proxy and a shield each time. Here a connection whose call went well stays at hand for the next one;
anything unusual (an error, a cancellation, a closed connection) goes back to asyncpg's pool, which knows what
to do about it.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

from steward.storage.database.failures import FOREIGN, explained, explained_change

if TYPE_CHECKING:
    from asyncpg.pool import Pool, PoolConnectionProxy

CANCEL_DEADLINE = 2.0
"""Seconds a cancelled query gets to end before its connection is cut: a cancel request can come too early."""

Pooled: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"
Turn: TypeAlias = "Pooled | None"  # a connection, or the right to open one


class Lease:
    """One connection for one `async with`. Its own failures are explained, the body's are not."""

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: "ConnectionPool") -> None:
        self._pool = pool
        self._connection: Turn = None

    async def __aenter__(self) -> Pooled:
        with explained:
            self._connection = connection = await self._pool.take()
        return connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is None:
            return
        if error is None and not self._pool.closing:
            self._pool.put(self._connection)
            return
        # What happened is more telling than that the connection could not be saved.
        with explained if error is None else suppress(*FOREIGN):
            await self._pool.drop(self._connection)


class _WholeLease(Lease):
    """One that is a transaction, so that all of a statement's steps meet the same server."""

    __slots__ = ("_transaction",)

    async def __aenter__(self) -> Pooled:
        connection = await super().__aenter__()
        self._transaction = connection.transaction()
        try:
            with explained:
                await self._transaction.start()
        except BaseException as error:
            await super().__aexit__(type(error), error, None)
            raise
        return connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                with explained_change:
                    await self._transaction.commit()
            else:
                with suppress(*FOREIGN):  # a connection that is gone has rolled back already
                    async with asyncio.timeout(CANCEL_DEADLINE):
                        await self._transaction.rollback()
        except BaseException as failure:
            await super().__aexit__(type(failure), failure, None)
            raise
        await super().__aexit__(kind, error, trace)


class ConnectionPool:
    """The methods of a connection, each on whichever one is free."""

    lease: type[Lease] = Lease  # what one statement is given

    def __init__(self, pool: "Pool[asyncpg.Record]", size: int) -> None:
        self._pool = pool
        self._unopened = size  # connections that may still be asked of asyncpg's pool
        self._at_hand: list[Pooled] = []
        self._waiting: deque[asyncio.Future[Turn]] = deque()
        self.closing = False

    def use(self) -> tuple[int, int]:
        """How many connections are not in use, opened or not, and how many calls wait for one."""
        return self._unopened + len(self._at_hand), sum(not turn.done() for turn in self._waiting)

    async def take(self) -> Pooled:
        if self._at_hand:
            return await self._checked(self._at_hand.pop())
        if self._unopened:
            self._unopened -= 1
            return await self._checked(None)
        return await self._checked(await self._turn())

    async def _turn(self) -> Turn:
        """First come, first served: a connection, or the right to open one."""
        turn: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # given and cancelled at once: the next one gets it
                self._give(turn.result())
            raise

    async def _checked(self, connection: Turn) -> Pooled:
        if connection is not None and _usable(connection):
            return connection
        try:
            if connection is not None:
                await self._pool.release(connection)
            return await self._pool.acquire()
        except BaseException:
            self._give(None)
            raise

    def put(self, connection: Pooled) -> None:
        self._give(connection)

    async def drop(self, connection: Pooled) -> None:
        try:
            await self._pool.release(connection, timeout=CANCEL_DEADLINE)
        finally:
            self._give(None)

    def _give(self, connection: Turn) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # otherwise it was cancelled while it waited
                turn.set_result(connection)
                return
        if connection is None:
            self._unopened += 1
        else:
            self._at_hand.append(connection)

    async def close(self, *, seconds: float) -> None:
        """Wait for calls under way, but not for ever."""
        self.closing = True
        try:
            async with asyncio.timeout(seconds):
                while self._at_hand:
                    await self._pool.release(self._at_hand.pop())
                await self._pool.close()
        except (*FOREIGN, asyncio.CancelledError):
            self._pool.terminate()

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]:
        async with self.lease(self) as connection:
            return await connection.fetch(query, *args)

    async def fetchrow(self, query: str, *args: object) -> asyncpg.Record | None:
        async with self.lease(self) as connection:
            return await connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: object) -> Any:
        async with self.lease(self) as connection:
            return await connection.fetchval(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        async with self.lease(self) as connection:
            return await connection.execute(query, *args)

    async def executemany(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        async with self.lease(self) as connection:
            await connection.executemany(query, rows)

    async def copy_records_to_table(
        self, table: str, *, columns: Sequence[str], records: Iterable[Sequence[object]]
    ) -> str:
        async with self.lease(self) as connection:
            return await connection.copy_records_to_table(table, columns=columns, records=records)


class BouncedPool(ConnectionPool):
    """Where a pooler stands in front of the database."""

    lease = _WholeLease


def _usable(connection: Pooled) -> bool:
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:  # closed, and taken out of asyncpg's pool already
        return False
