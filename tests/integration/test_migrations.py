"""The schema grows from every earlier version, once, whoever comes first."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.support.postgres import TestServer

from steward.contract.errors import ConfigError
from steward.storage.database.migrate import Migration, migrate, read_migrations
from steward.storage.database.postgres import Database, External

MIGRATIONS = read_migrations()
ROWS = "SELECT number, name, sha256 FROM steward_migrations ORDER BY number"
# A row for the tables of each version, written by the program of that version.
SEED = {
    1: """INSERT INTO proposals (id, tool, arguments, digest, definition_hash, risk, confidence, reason,
              caller_kind, caller_id, call_id, correlation_id, created_at)
          VALUES ('p', 't', '{"a": 1.0}', 'd', 'h', 'reversible', 0, 'r', 'person', 'a', 'c', 'x', now())""",
    2: """INSERT INTO facts (id, user_id, text, fingerprint, source, created_at)
          VALUES ('f', 'local', 'tea', 'p', 'person', now())""",
}


@pytest.fixture
async def empty_url(postgres: TestServer) -> AsyncIterator[str]:
    async with postgres.database_url(template="template0") as url:
        yield url


@pytest.fixture
async def empty(empty_url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(empty_url)
    yield connection
    await connection.close()


async def schema(connection: "asyncpg.Connection[asyncpg.Record]") -> list[tuple[str, ...]]:
    columns = await connection.fetch(
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        "WHERE table_schema = 'public' ORDER BY 1, 2"
    )
    indexes = await connection.fetch(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
    )
    return [tuple(row) for row in (*columns, *indexes)]


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
async def test_every_earlier_version_migrates_with_its_data(
    version: int, empty: "asyncpg.Connection[asyncpg.Record]", database_url: str
) -> None:
    earlier = MIGRATIONS[:version]
    if earlier:
        await migrate(empty, earlier)
    seeded = [SEED[m.number] for m in earlier if m.number in SEED]
    for statement in seeded:
        await empty.execute(statement)
    tables = [statement.split()[2] for statement in seeded]
    await migrate(empty)
    assert [await empty.fetchval(f"SELECT count(*) FROM {table}") for table in tables] == [1] * len(tables)
    newest = await asyncpg.connect(database_url)
    assert await schema(empty) == await schema(newest)
    await newest.close()


async def test_a_file_with_a_lower_number_that_lands_later_is_applied(
    empty: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    first, second = Migration(1, "a", "CREATE TABLE a ()"), Migration(20, "b", "CREATE TABLE b ()")
    late = Migration(10, "c", "CREATE TABLE c ()")
    await migrate(empty, [first, second])
    await migrate(empty, [first, late, second])
    rows = [(m.number, m.name, m.sha256) for m in (first, late, second)]
    assert [tuple(row) for row in await empty.fetch(ROWS)] == rows


async def test_a_changed_file_halts_and_names_it(empty: "asyncpg.Connection[asyncpg.Record]") -> None:
    await migrate(empty, [Migration(1, "a", "CREATE TABLE a ()")])
    with pytest.raises(ConfigError) as halted:
        await migrate(empty, [Migration(1, "a", "CREATE TABLE changed ()"), Migration(2, "b", "SELECT 1")])
    assert (halted.value.code, "0001_a.sql" in halted.value.message) == ("CONFIG_INVALID", True)
    assert await empty.fetchval("SELECT count(*) FROM steward_migrations") == 1


async def test_an_older_steward_works_beside_a_newer_schema_of_its_major_version(
    empty: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    old = [Migration(1, "a", "SELECT 1")]
    await migrate(empty, [*old, Migration(3, "b", "CREATE TABLE newer ()")])
    await migrate(empty, [*old, Migration(2, "c", "CREATE TABLE own ()")])
    assert await empty.fetchval("SELECT to_regclass('own') IS NOT NULL")


async def test_a_database_of_a_newer_major_version_is_left_alone(
    empty: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    breaking = Migration(2, "b", "-- major 2\nCREATE TABLE b ()")
    await migrate(empty, [Migration(1, "a", "SELECT 1"), breaking])
    with pytest.raises(ConfigError) as halted:
        await migrate(empty, [Migration(1, "a", "SELECT 1"), Migration(3, "c", "CREATE TABLE c ()")])
    assert "0002" in halted.value.message
    assert await empty.fetchval("SELECT to_regclass('c') IS NULL")


async def test_a_database_from_before_majors_is_of_the_first(
    empty: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await migrate(empty, [Migration(1, "a", "SELECT 1")])
    await empty.execute("ALTER TABLE steward_migrations DROP COLUMN major")
    await migrate(empty, [Migration(1, "a", "SELECT 1"), Migration(2, "b", "SELECT 1")])
    assert [row["major"] for row in await empty.fetch("SELECT major FROM steward_migrations")] == [1, 1]


# They were there before any Steward that looks at majors.
BEFORE_MAJORS = frozenset(m.number for m in MIGRATIONS if m.number < 90)
TAKES_AWAY = r"(?i)\b(DROP (TABLE|COLUMN|FUNCTION)|RENAME (TO|COLUMN)|ALTER COLUMN \w+ (TYPE|SET NOT NULL))\b"


@pytest.mark.parametrize(
    "migration", [m for m in MIGRATIONS if m.number not in BEFORE_MAJORS], ids=lambda m: m.name
)
def test_a_migration_that_takes_something_away_is_of_a_new_major_version(migration: Migration) -> None:
    assert migration.major > 1 or not re.search(TAKES_AWAY, migration.sql)


async def test_a_migration_that_fails_leaves_nothing_of_itself(
    empty: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    good = Migration(1, "a", "CREATE TABLE a ()")
    with pytest.raises(asyncpg.PostgresError):
        await migrate(empty, [good, Migration(2, "b", "CREATE TABLE b (); SELECT 1 / 0")])
    assert await empty.fetchval("SELECT to_regclass('a') IS NOT NULL AND to_regclass('b') IS NULL")
    await migrate(empty, [good, Migration(2, "b", "CREATE TABLE b ()")])


async def test_many_at_once_apply_each_migration_once(empty_url: str) -> None:
    async def opened() -> None:
        async with Database(External(empty_url)) as database:
            assert await database.fetchval("SELECT 1") == 1

    await asyncio.gather(*(opened() for _ in range(8)))
    await applied_once(empty_url)


async def test_two_processes_at_once_apply_each_migration_once(empty_url: str) -> None:
    program = (
        "import asyncio, sys\n"
        "from steward.storage.database.postgres import Database, External\n"
        "async def main():\n"
        "    sys.stdin.readline()\n"
        "    async with Database(External(sys.argv[1])) as database:\n"
        "        await database.fetchval('SELECT 1')\n"
        "asyncio.run(main())\n"
    )
    pipe = asyncio.subprocess.PIPE
    programs = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", program, empty_url, stdin=pipe)
        for _ in range(2)
    ]
    ended = await asyncio.gather(*(one.communicate(b"go\n") for one in programs))
    assert ended == [(None, None)] * 2
    assert [one.returncode for one in programs] == [0, 0]
    await applied_once(empty_url)


async def applied_once(url: str) -> None:
    connection = await asyncpg.connect(url)
    assert [tuple(row) for row in await connection.fetch(ROWS)] == [
        (m.number, m.name, m.sha256) for m in MIGRATIONS
    ]
    await connection.close()


@pytest.mark.parametrize("names", [("0001_a.sql", "0001_b.sql"), ("1_a.sql",), ("0001-a.sql",)])
def test_files_that_cannot_be_ordered_are_refused(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(ConfigError) as refused:
        read_migrations(tmp_path)
    assert refused.value.code == "CONFIG_INVALID"
