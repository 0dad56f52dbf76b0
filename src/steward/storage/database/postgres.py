"""The one store: a pool of connections to the embedded PostgreSQL or to any other.

Owns opening (server, checks, migrations), the pool and its recovery. Does not own queries: each domain has a
module of its own with named SQL. No asyncpg or operating-system exception leaves the methods here.

    async with Database(Embedded(folder)) as database:
        rows = await database.fetch(SQL.list_things, user)
        async with database.transaction() as session:
            await session.execute(SQL.change_thing, thing_id)

Pooled connections carry no session state, so that nothing needs to be reset when one is given back: use
`set_config(..., is_local => true)` and `pg_advisory_xact_lock` in a transaction, never their session forms.
For the same reason a pooler in front of the database (pgbouncer in transaction mode) may change the server
behind a connection between two transactions: where one is found, each statement is a transaction of its own.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, assert_never
from urllib.parse import urlsplit

import asyncpg

from steward.contract.errors import ConfigError, ErrorCode, StorageError
from steward.storage.database import codecs, sql
from steward.storage.database.codecs import Connection
from steward.storage.database.failures import (
    FOREIGN,
    LOST_CONNECTION,
    explain_connecting,
    explained,
    explained_change,
)
from steward.storage.database.migrate import migrate
from steward.storage.database.pool import CANCEL_DEADLINE, BouncedPool, ConnectionPool, Lease, Pooled
from steward.storage.database.programs import Program

if TYPE_CHECKING:
    from steward.storage.database.embedded import EmbeddedServer

POOL_SIZE = 10
CONNECT_TIMEOUT = 10.0
RECOVERY_DEADLINE = 30.0
CLOSE_DEADLINE = 5.0
OLDEST_SERVER = 15
_VECTOR_SCHEMA = """
    SELECT n.nspname FROM pg_extension e
    JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'"""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A server of our own that lives in this folder and stops with the last program that uses it."""

    folder: Path

    def describe(self) -> str:
        return str(self.folder)


@dataclass(frozen=True, slots=True)
class External:
    """Any PostgreSQL 15+ with pgvector; `direct` leads to it past a pooler, for who listens."""

    url: str = field(repr=False)
    direct: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, url in (("DATABASE_URL", self.url), ("STEWARD_DIRECT_URL", self.direct)):
            if url is not None and not url.startswith(("postgresql://", "postgres://")):
                raise _not_an_address(name)

    def describe(self) -> str:
        """Where it is, without user, password or options."""
        try:
            parts = urlsplit(self.url)
            return f"{parts.hostname or 'the local socket'}:{parts.port or 5432}{parts.path}"
        except ValueError:  # several hosts, or a mistake
            return "the hosts of DATABASE_URL"


Place = Embedded | External


class Session:
    """Queries, on a connection of a transaction or on the pool; both have these methods."""

    def __init__(self, source: "ConnectionPool | Pooled | None") -> None:
        self._source = source

    @property
    def _target(self) -> "ConnectionPool | Pooled":
        if self._source is None:
            raise StorageError("The database is not open.")
        return self._source

    def _asking(self, query: str) -> AbstractContextManager[None]:
        """A transaction that lost its connection has not happened; a statement on its own may have."""
        alone = isinstance(self._source, ConnectionPool)
        return explained_change if alone and sql.changes(query) else explained

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator["Session"]:
        """Everything inside happens or nothing does; inside another one, a step of it."""
        target = self._target
        if isinstance(target, ConnectionPool):
            raise StorageError("A pool has no transaction of its own.")
        async with _transaction(target, committing=explained) as session:
            yield session

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]:
        with self._asking(query):
            return await self._target.fetch(query, *args)

    async def fetchrow(self, query: str, *args: object) -> asyncpg.Record | None:
        with self._asking(query):
            return await self._target.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: object) -> Any:
        with self._asking(query):
            return await self._target.fetchval(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        """Answers with PostgreSQL's own word for what was done, e.g. 'UPDATE 1'."""
        with self._asking(query):
            return await self._target.execute(query, *args)

    async def executemany(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        """All rows or none."""
        with self._asking(query):
            await self._target.executemany(query, rows)

    async def copy_records(
        self, table: str, *, columns: Sequence[str], records: Iterable[Sequence[object]]
    ) -> None:
        """Binary COPY: the fast way in for many rows. All rows or none."""
        with self._asking("COPY"):
            await self._target.copy_records_to_table(table, columns=columns, records=records)


class Database(Session):
    def __init__(self, place: Place, *, pool_size: int = POOL_SIZE, migrating: bool = True) -> None:
        """`migrating`: bring it up to date while opening; without, it is only to be looked at."""
        super().__init__(None)
        self._migrating = migrating
        self._pool: ConnectionPool | None = None
        self._place = place
        self._pool_size = pool_size
        self._server: EmbeddedServer | None = None
        self._vector_schema: str | None = None
        self._bounced = True  # as long as nobody knows better
        self.program = Program(self)
        self._reviving = asyncio.Lock()

    @property
    def url(self) -> str:
        match self._place:
            case Embedded():
                if self._server is None:
                    raise StorageError("The database is not open.")
                return self._server.url
            case External(url):
                return url
            case _:
                assert_never(self._place)

    @property
    def direct_url(self) -> str:
        """The address of PostgreSQL itself, where one is known beside that of a pooler."""
        direct = self._place.direct if isinstance(self._place, External) else None
        return direct or self.url

    @property
    def bounced(self) -> bool:
        """Whether a pooler stands in front: no session is anybody's own there."""
        return self._bounced

    @property
    def can_listen(self) -> bool:
        """Whether notifications of PostgreSQL reach this program; who needs them polls otherwise."""
        return not self._bounced or self.direct_url != self.url

    async def __aenter__(self) -> "Database":
        try:
            await self._open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    def use(self) -> tuple[int, int, int]:
        """Connections that there may be, those in use, and calls that wait for one."""
        free, waiting = (self._pool_size, 0) if self._pool is None else self._pool.use()
        return self._pool_size, self._pool_size - free, waiting

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Session]:
        """Everything inside happens or nothing does. Keep it short: it occupies a connection."""
        pool = self._pool
        if pool is None:
            raise StorageError("The database is not open.")
        async with Lease(pool) as connection, _transaction(connection) as session:
            yield session

    async def connection(self) -> Connection:
        """One of its own, for who listens: nobody else uses it, and whoever asked for it ends it."""
        return await self._connect(self.direct_url)

    async def _open(self) -> None:
        match self._place:
            case Embedded(folder):
                if sys.platform == "win32":  # pragma: no cover
                    raise ConfigError("There is no embedded PostgreSQL on Windows.", fix="Set DATABASE_URL.")
                # Not at the top: what it needs does not exist on Windows, where DATABASE_URL works.
                from steward.storage.database.embedded import EmbeddedServer  # noqa: PLC0415

                self._server = EmbeddedServer(folder)
                await _finish(asyncio.to_thread(self._server.join))
            case External():
                pass
            case _:
                assert_never(self._place)
        await self._prepare()
        pool = await asyncpg.create_pool(
            min_size=0, max_size=self._pool_size, connect=self._connect, reset=_keep
        )
        kind = BouncedPool if self._bounced else ConnectionPool
        self._source = self._pool = kind(pool, self._pool_size)

    async def _prepare(self) -> None:
        try:
            connection = await self._connect()
        except (asyncpg.ClientConfigurationError, ValueError):
            raise _not_an_address("DATABASE_URL") from None  # the driver repeats what it could not read
        except FOREIGN as error:
            raise explain_connecting(error, self._place.describe()) from error
        try:
            with explained:
                async with connection.transaction():
                    # A pooler tells each client of a backend that does not exist.
                    backend = await connection.fetchval("SELECT pg_backend_pid()")
                    await _check_server(connection)
                if self._migrating:
                    await migrate(connection)
                async with connection.transaction():
                    self._vector_schema = await connection.fetchval(_VECTOR_SCHEMA)
                self._bounced = backend != connection.get_server_pid()
        finally:
            connection.terminate()

    async def _connect(self, dsn: str | None = None, **options: Any) -> Connection:
        """A connection that works. A server that was killed, or is still coming up, gets its time."""
        if self._bounced:  # a statement that was prepared on one server may be asked of another
            options["statement_cache_size"] = 0
        deadline = time.monotonic() + RECOVERY_DEADLINE
        while True:
            try:
                connection = await asyncpg.connect(
                    dsn or self.url,
                    timeout=CONNECT_TIMEOUT,
                    server_settings={"application_name": "steward"},
                    **options,
                )
                try:
                    async with connection.transaction() if self._bounced else nullcontext():
                        await codecs.register(connection, self._vector_schema)
                except BaseException:
                    connection.terminate()  # nobody else knows of it yet
                    raise
                return connection
            except LOST_CONNECTION as error:
                if time.monotonic() > deadline or not await self._recovers(error):
                    raise

    async def _recovers(self, error: BaseException) -> bool:
        if self._server is not None:
            async with self._reviving:  # one at a time: waiting for the server occupies a thread
                await asyncio.to_thread(self._server.revive)
        elif not isinstance(error, asyncpg.CannotConnectNowError):
            return False
        await asyncio.sleep(0.1)
        return True

    async def _close(self) -> None:
        await self.program.leave()
        if self._pool is not None:
            await self._pool.close(seconds=CLOSE_DEADLINE)
        if self._server is not None:
            await _finish(asyncio.to_thread(self._server.leave))


@asynccontextmanager
async def _transaction(
    connection: Pooled, *, committing: AbstractContextManager[None] = explained_change
) -> AsyncGenerator[Session]:
    with explained:
        transaction = connection.transaction()
        await transaction.start()
    try:
        yield Session(connection)
    except BaseException:
        with suppress(*FOREIGN):  # a connection that is gone has rolled back already
            async with asyncio.timeout(CANCEL_DEADLINE):
                await transaction.rollback()
        raise
    with committing:
        await transaction.commit()


def _not_an_address(name: str) -> ConfigError:
    return ConfigError(
        f"{name} is not the address of a PostgreSQL database.",
        fix="Write it like postgresql://user:password@host:5432/name",
    )


async def _keep(_connection: Connection) -> None:
    """Nothing to reset (see above): asyncpg's own reset would double the round trips."""


async def _check_server(connection: Connection) -> None:
    version = connection.get_server_version()
    if version.major < OLDEST_SERVER:
        raise StorageError(
            f"The database is PostgreSQL {version.major}; Steward needs {OLDEST_SERVER} or newer.",
            code=ErrorCode.STORAGE_FAILED,
            fix="Upgrade it, or leave DATABASE_URL empty to use the embedded one.",
            retryable=False,
        )
    if not await connection.fetchval("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"):
        raise StorageError(
            "The database has no pgvector extension.",
            code=ErrorCode.STORAGE_FAILED,
            fix="Install pgvector on that server, or leave DATABASE_URL empty to use the embedded one.",
            retryable=False,
        )


async def _finish(work: Any) -> None:
    """Wait for work in a thread to its end even when cancelled: a server half-joined would never be left."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(Exception):
            await task
        raise
