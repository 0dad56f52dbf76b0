"""Behind pgbouncer in transaction mode: each statement may meet another server, and nothing is heard."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.support.bouncing import bouncer
from tests.support.waiting import until

from steward.storage.database.changes import ChangeFeed, StoreChange
from steward.storage.database.postgres import Database, External
from steward.storage.registry import FileEdit, PostgresRegistry

pytestmark = pytest.mark.slow  # needs pgbouncer, which `make bouncer` fetches


@pytest.fixture
def bounced_url(database_url: str) -> Iterator[str]:
    with bouncer(database_url) as url:
        yield url


@pytest.fixture
async def bounced(bounced_url: str) -> AsyncIterator[Database]:
    async with Database(External(bounced_url)) as database:
        yield database


async def test_a_pooler_is_recognised_and_postgres_itself_is_not_taken_for_one(
    bounced: Database, database: Database
) -> None:
    assert (bounced.bounced, bounced.can_listen) == (True, False)
    assert (database.bounced, database.can_listen) == (False, True)


async def test_many_statements_at_once_meet_the_servers_they_were_prepared_on(bounced: Database) -> None:
    await bounced.execute("CREATE TABLE counted (n integer, said jsonb)")

    async def one(number: int) -> None:
        await bounced.execute("INSERT INTO counted VALUES ($1, $2)", number, {"n": number})
        async with bounced.transaction() as session:
            assert await session.fetchval("SELECT said ->> 'n' FROM counted WHERE n = $1", number) == str(
                number
            )
            await session.execute("UPDATE counted SET said = said WHERE n = $1", number)
        row = await bounced.fetchrow("SELECT said FROM counted WHERE n = $1", number)
        assert row is not None
        assert row["said"] == {"n": number}

    await asyncio.gather(*(one(number) for number in range(60)))
    await bounced.copy_records("counted", columns=("n", "said"), records=[(n, {}) for n in range(100)])
    await bounced.executemany("INSERT INTO counted VALUES ($1, NULL)", [(n,) for n in range(40)])
    assert await bounced.fetchval("SELECT count(*) FROM counted") == 200


async def test_a_statement_that_fails_leaves_its_connection_usable(bounced: Database) -> None:
    answers = await asyncio.gather(
        *(bounced.fetchval("SELECT 1 / $1::integer", n % 2) for n in range(20)), return_exceptions=True
    )
    assert sum(answer == 1 for answer in answers) == 10
    assert await bounced.fetchval("SELECT 1") == 1


@pytest.mark.parametrize("direct", [True, False])
async def test_changes_are_heard_past_it_or_looked_for(
    bounced_url: str, database_url: str, database: Database, direct: bool
) -> None:
    told: list[StoreChange | None] = []
    place = External(bounced_url, database_url if direct else None)
    async with Database(place) as bounced, ChangeFeed(bounced).heard(told.append):
        await until(lambda: told == [None], seconds=60)
        async with PostgresRegistry(database).alone() as session:
            await session.push([FileEdit(path="tools/a.py", content=b"")], by="somebody")
        if direct:
            await until(lambda: told[1:] == [StoreChange("registry", None, "")], seconds=60)
        else:
            await until(lambda: len(told) > 1, seconds=60)
            assert (await PostgresRegistry(bounced).newest()).files == 1
