"""Any PostgreSQL through DATABASE_URL: what can be wrong with it, and what goes in and out."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import numpy as np
import pytest
from tests.support.postgres import FAST, TestServer
from tests.support.waiting import until

from steward.contract.errors import ConfigError, ConflictError, InputError, StewardError, StorageError
from steward.storage.database import codecs
from steward.storage.database.embedded import EmbeddedServer
from steward.storage.database.postgres import Database, External

SECRET = "hunter2"
ASLEEP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"


async def refusal(url: str) -> StewardError:
    """What opening it says; never the password, not even in what a developer prints."""
    with pytest.raises(StewardError) as refused:
        await Database(External(url)).__aenter__()
    assert SECRET not in f"{refused.value.explain()} {refused.value.details}"
    assert refused.value.fix
    return refused.value


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port that is taken, and where nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


async def test_a_host_where_nobody_answers_is_named(free_port: int) -> None:
    error = await refusal(f"postgresql://ana:{SECRET}@127.0.0.1:{free_port}/steward?password={SECRET}")
    assert (error.code, error.retryable) == ("STORAGE_UNAVAILABLE", True)
    assert f"127.0.0.1:{free_port}/steward" in error.message


async def test_a_host_that_does_not_exist_is_named() -> None:
    error = await refusal(f"postgresql://ana:{SECRET}@nowhere.invalid/steward")
    assert (error.code, "nowhere.invalid:5432" in error.message) == ("STORAGE_UNAVAILABLE", True)


@pytest.mark.parametrize(
    "url", [f"mysql://ana:{SECRET}@host/x", SECRET, f"postgresql://ana:{SECRET}@host:port/x", ""]
)
async def test_an_address_of_something_else_is_a_configuration_error(url: str) -> None:
    error = await refusal(url)
    assert (type(error), error.code) == (ConfigError, "CONFIG_INVALID")


async def test_a_database_that_does_not_exist_is_explained(postgres: TestServer) -> None:
    error = await refusal(postgres.url("nobody_made_this"))
    assert (error.code, error.retryable) == ("STORAGE_UNAVAILABLE", False)
    assert "createdb" in error.fix


async def test_a_user_that_does_not_exist_is_explained(postgres: TestServer) -> None:
    error = await refusal(postgres.server.url.replace("postgres@", f"stranger:{SECRET}@"))
    assert (error.code, error.retryable) == ("STORAGE_UNAVAILABLE", False)


async def test_a_wrong_password_is_explained(home: Path) -> None:
    server = EmbeddedServer(home / "database", settings=FAST)
    await asyncio.to_thread(server.join)
    try:
        admin = await asyncpg.connect(server.url)
        await admin.execute("CREATE ROLE guest LOGIN PASSWORD 'right'")
        rules = home / "database" / "data" / "pg_hba.conf"
        rules.write_text(f"local all guest scram-sha-256\n{rules.read_text()}")
        before = await admin.fetchval("SELECT pg_conf_load_time()")
        await admin.execute("SELECT pg_reload_conf()")
        await until(lambda: admin.fetchval("SELECT pg_conf_load_time() > $1", before))
        await admin.close()
        error = await refusal(server.url.replace("postgres@", f"guest:{SECRET}@"))
        assert (error.code, error.retryable) == ("STORAGE_UNAVAILABLE", False)
        assert "password" in error.fix
    finally:
        await asyncio.to_thread(server.leave)


async def test_a_server_without_pgvector_is_explained(postgres: TestServer) -> None:
    async with postgres.database_url(template="template0") as url:
        admin = await asyncpg.connect(url)
        name = await admin.fetchval("SELECT current_database()")
        await admin.execute(f"ALTER DATABASE \"{name}\" SET extension_control_path = '/nowhere'")
        await admin.close()
        error = await refusal(url)
        assert (error.code, error.retryable, "pgvector" in error.message) == ("STORAGE_FAILED", False, True)


async def test_a_server_that_is_too_old_is_explained(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.storage.database.postgres.OLDEST_SERVER", 99)
    error = await refusal(database_url)
    assert (error.code, error.retryable, "needs 99" in error.message) == ("STORAGE_FAILED", False, True)


async def test_a_user_who_may_not_create_tables_is_explained(postgres: TestServer) -> None:
    async with postgres.database_url(template="template0") as url:
        admin = await asyncpg.connect(url)
        await admin.execute("CREATE EXTENSION vector; CREATE ROLE reader LOGIN")
        try:
            error = await refusal(url.replace("postgres@", "reader@"))
        finally:
            await admin.execute("DROP ROLE reader")
            await admin.close()
    assert (error.code, error.retryable) == ("STORAGE_FAILED", False)


async def test_pgvector_may_live_in_a_schema_of_its_own(postgres: TestServer) -> None:
    async with postgres.database_url(template="template0") as url:
        admin = await asyncpg.connect(url)
        name = await admin.fetchval("SELECT current_database()")
        await admin.execute("CREATE SCHEMA tools; CREATE EXTENSION vector SCHEMA tools")
        await admin.execute(f'ALTER DATABASE "{name}" SET search_path = public, tools')
        await admin.close()
        async with Database(External(url)) as database:
            vector = await database.fetchval("SELECT '[1,2]'::vector")
            assert vector.tolist() == [1, 2]


@pytest.fixture
async def table(database: Database) -> Database:
    await database.execute("CREATE TABLE things (id int PRIMARY KEY, name text CHECK (name <> ''))")
    return database


async def add_both(database: Database) -> None:
    async with database.transaction() as session:
        await session.execute("INSERT INTO things VALUES (2, 'lost')")
        await session.execute("INSERT INTO big VALUES ('x')")


async def test_a_full_disk_is_named_and_what_was_stored_stays(
    table: Database, database_url: str, postgres: TestServer
) -> None:
    await table.execute("CREATE TABLE big (t text)")
    await table.execute("INSERT INTO things VALUES (1, 'kept')")
    file = Path(await table.fetchval("SELECT current_setting('data_directory')"))
    file /= await table.fetchval("SELECT pg_relation_filepath('big')")
    file.unlink()
    file.symlink_to("/dev/full")  # every write to it fails as on a disk without space
    async with Database(External(database_url)) as fresh:  # the old connections have the file open
        with pytest.raises(StorageError) as refused:
            await add_both(fresh)
        assert refused.value.code == "STORAGE_FULL"
        assert await fresh.fetchval("SELECT array_agg(name) FROM things") == ["kept"]


@pytest.mark.parametrize(
    ("state", "code", "retryable"),
    [
        ("53100", "STORAGE_FULL", True),
        ("53300", "STORAGE_UNAVAILABLE", True),
        ("57P01", "STORAGE_UNAVAILABLE", True),
        ("40001", "STORAGE_FAILED", True),
        ("40P01", "STORAGE_FAILED", True),
        ("42P01", "STORAGE_FAILED", False),
        ("XX000", "STORAGE_FAILED", False),
        ("P0001", "STORAGE_FAILED", False),
    ],
)
async def test_what_the_server_says_has_a_code(
    database: Database, state: str, code: str, retryable: bool
) -> None:
    with pytest.raises(StorageError) as refused:
        await database.execute(f"DO $$ BEGIN RAISE EXCEPTION '{SECRET}' USING ERRCODE = '{state}'; END $$")
    assert (refused.value.code, refused.value.retryable) == (code, retryable)
    assert SECRET not in refused.value.explain()


async def test_a_row_that_breaks_a_rule_is_a_conflict_that_names_it(table: Database) -> None:
    await table.execute("INSERT INTO things VALUES (1, 'a')")
    broken: list[str] = []
    for query in ("INSERT INTO things VALUES (1, 'b')", "INSERT INTO things VALUES (2, '')"):
        with pytest.raises(ConflictError) as refused:
            await table.execute(query)
        broken.append(refused.value.details["constraint"])
    assert broken == ["things_pkey", "things_name_check"]


async def test_a_nul_character_is_the_senders_mistake(table: Database) -> None:
    with pytest.raises(InputError) as refused:
        await table.execute("INSERT INTO things VALUES ($1, $2)", 1, "a\0b")
    assert refused.value.code == "INVALID_INPUT"


async def test_an_argument_of_the_wrong_type_is_not_repeated(table: Database) -> None:
    with pytest.raises(StorageError) as refused:
        await table.execute("INSERT INTO things VALUES ($1, $2)", SECRET, "x")
    assert refused.value.code == "STORAGE_FAILED"
    assert SECRET not in refused.value.explain()
    assert refused.value.__cause__ is None


async def test_a_transaction_happens_whole_or_not_at_all(table: Database) -> None:
    async with table.transaction() as session:
        await session.executemany("INSERT INTO things VALUES ($1, $2)", [(1, "a"), (2, "b")])

    async def changed_my_mind() -> None:
        async with table.transaction() as session:
            await session.execute("DELETE FROM things")
            raise KeyError("mine")

    with pytest.raises(KeyError):
        await changed_my_mind()
    rows = [tuple(row) for row in await table.fetch("SELECT * FROM things ORDER BY id")]
    assert rows == [(1, "a"), (2, "b")]
    assert await table.fetchrow("SELECT * FROM things WHERE id = 3") is None


async def test_a_cancelled_transaction_is_undone_and_its_connection_used_again(database_url: str) -> None:
    async with Database(External(database_url), pool_size=1) as database:
        await database.execute("CREATE TABLE things (id int)")

        async def slow() -> None:
            async with database.transaction() as session:
                await session.execute("INSERT INTO things VALUES (1)")
                await session.execute("SELECT pg_sleep(600)")

        task = asyncio.create_task(slow())
        watcher = await asyncpg.connect(database_url)
        await until(lambda: watcher.fetchval(ASLEEP))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await database.fetchval("SELECT count(*) FROM things") == 0
        await watcher.close()


async def test_a_query_that_does_not_hear_its_cancellation_is_cut_off(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_early(*_: object) -> None:
        """A request to cancel that reaches the server before the query does nothing."""

    monkeypatch.setattr(asyncpg.Connection, "_cancel", too_early)
    async with Database(External(database_url), pool_size=1) as database:
        watcher = await asyncpg.connect(database_url)
        task = asyncio.create_task(database.fetchval("SELECT pg_sleep(600)"))
        await until(lambda: watcher.fetchval(ASLEEP))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await database.fetchval("SELECT 1") == 1
        await watcher.close()


async def test_more_calls_than_connections_wait_their_turn(database: Database) -> None:
    answers = await asyncio.gather(*(database.fetchval("SELECT $1::int", n) for n in range(200)))
    assert answers == list(range(200))
    used = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    assert await database.fetchval(used) <= 10


async def test_a_caller_who_gives_up_waiting_loses_nobody_a_connection(database_url: str) -> None:
    async with Database(External(database_url), pool_size=1) as database:
        async with database.transaction() as session:
            waiting = [asyncio.create_task(database.fetchval("SELECT $1::int", at)) for at in range(4)]
            await session.fetchval("SELECT 1")  # they have begun to wait
            waiting[0].cancel()
            waiting[2].cancel()
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(answer) for answer in answers] == [
            asyncio.CancelledError,
            int,
            asyncio.CancelledError,
            int,
        ]
        late = asyncio.create_task(database.fetchval("SELECT 5"))
        async with database.transaction():
            await asyncio.sleep(0)  # it waits now, and is given the connection as this block ends
        late.cancel()  # given and cancelled at once
        with pytest.raises(asyncio.CancelledError):
            await late
        assert await database.fetchval("SELECT 6") == 6


@pytest.mark.parametrize("kind", ["json", "jsonb"])
async def test_documents_come_back_as_they_went(database: Database, kind: str) -> None:
    document = {"ä": [1, 2.5, None, True, {"deep": "☃"}], "": "x" * 1000}
    assert await database.fetchval(f"SELECT $1::{kind}", document) == document


async def test_vectors_are_copied_in_and_come_back(database: Database) -> None:
    await database.execute("CREATE TABLE vectors (id int, v vector(3), h halfvec(3))")
    rows = [(n, np.array([n, 0.5, -1], np.float32), np.array([n, 0.5, -1], np.float32)) for n in range(5)]
    await database.copy_records("vectors", columns=["id", "v", "h"], records=rows)
    found = await database.fetchrow(
        "SELECT v, h FROM vectors ORDER BY h <-> $1, v <-> $1::vector LIMIT 1", rows[3][2]
    )
    assert (found["v"].tolist(), found["h"].tolist()) == ([3, 0.5, -1], [3, 0.5, -1])
    assert (found["v"].dtype, found["h"].dtype) == (np.float32, np.float32)


async def test_a_connection_the_server_ended_is_replaced(database: Database) -> None:
    ended = await database.fetchval("SELECT pg_backend_pid()")
    admin = await asyncpg.connect(database.url)
    await admin.fetchval("SELECT pg_terminate_backend($1, 5000)", ended)
    await admin.close()
    assert await database.fetchval("SELECT pg_backend_pid()") != ended


async def test_closing_waits_for_the_calls_under_way(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.storage.database.postgres.CLOSE_DEADLINE", 600)
    async with asyncio.timeout(60):
        async with Database(External(database_url)) as database:
            await asyncio.gather(*(database.fetchval("SELECT 1") for _ in range(4)))
            calls = [asyncio.create_task(database.fetchval("SELECT 7 FROM pg_sleep(0.3)")) for _ in range(3)]
            await until(lambda: database.fetchval(f"{ASLEEP} HAVING count(*) = 3"))
        assert await asyncio.gather(*calls) == [7, 7, 7]


async def test_calls_that_find_no_database_fail_each_and_block_nobody(postgres: TestServer) -> None:
    name = f"test_{os.getpid()}_doomed"
    admin = await asyncpg.connect(postgres.server.url)
    await admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{postgres.template}"')
    async with Database(External(postgres.url(name)), pool_size=2) as database:
        assert await asyncio.gather(*(database.fetchval("SELECT 1") for _ in range(4))) == [1] * 4
        await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        await admin.close()
        calls = (database.fetchval("SELECT 1") for _ in range(20))
        answers = await asyncio.gather(*calls, return_exceptions=True)
    assert {answer.code for answer in answers if isinstance(answer, StorageError)} == {"STORAGE_UNAVAILABLE"}
    assert len(answers) == 20


def test_an_external_place_shows_no_password() -> None:
    place = External(f"postgresql://ana:{SECRET}@db.example:6000/steward?password={SECRET}")
    assert (repr(place), place.describe()) == ("External()", "db.example:6000/steward")


async def test_a_connection_that_was_not_made_ready_is_not_left_open(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[asyncpg.Connection] = []

    async def never(connection: asyncpg.Connection, _: object) -> None:
        made.append(connection)
        raise asyncio.CancelledError

    async with Database(External(database_url)) as database:
        monkeypatch.setattr(codecs, "register", never)
        with pytest.raises(asyncio.CancelledError):
            await database.connection()
    assert [connection.is_closed() for connection in made] == [True]
