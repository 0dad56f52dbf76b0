"""How programs that share a database know of each other: a lock that dies with its holder.

A program that starts something it must not leave unnoticed writes its key beside it. While it lives, a
session of its own holds an advisory lock on that key. When it is killed, PostgreSQL lets go of the lock, and
whoever finds the key without a holder in `pg_locks` knows that nobody works on it any more.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable

from steward.contract.errors import StorageError
from steward.storage.codecs import Connection


class Presence:
    def __init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connect = connect
        self._key = secrets.randbits(62)
        self._connection: Connection | None = None
        self._taking = asyncio.Lock()
        self._over = False

    async def hold(self) -> int:
        """The key, held: again on a new connection when the old one is gone."""
        if self._connection is not None and not self._connection.is_closed():
            return self._key
        async with self._taking:
            if self._over:
                raise StorageError("The database is not open.")
            if self._connection is None or self._connection.is_closed():
                connection = await self._connect()
                try:
                    # Waits for the server to notice that an older connection of ours is gone.
                    await connection.execute("SELECT pg_advisory_lock($1)", self._key, timeout=10)
                    if self._over:  # closed meanwhile: a turn that ends late must leave nothing open
                        raise StorageError("The database is not open.")
                except BaseException:
                    connection.terminate()
                    raise
                self._connection = connection
            return self._key

    def drop(self) -> None:
        self._over = True
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
