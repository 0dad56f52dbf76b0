"""One limit a caller, however many instances take their requests."""

import pytest

from steward.bootstrap.sharing.shared_limits import SharedLimits
from steward.servers.gateway.guard import RateLimit
from steward.storage.database.postgres import Database, External
from steward.storage.registry import PostgresRequestCounts


def taken(limit: RateLimit, caller: str) -> int:
    """How many requests it lets in at once."""
    return next(count for count in range(1_000) if limit.wait(caller))


@pytest.fixture
def limits() -> tuple[RateLimit, RateLimit]:
    return RateLimit(per_minute=60, burst=20, clock=lambda: 100.0), RateLimit(
        per_minute=60, burst=20, clock=lambda: 100.0
    )


async def test_what_one_instance_let_in_is_charged_at_the_other(
    database: Database, database_url: str, limits: tuple[RateLimit, RateLimit]
) -> None:
    async with Database(External(database_url)) as second:
        one = SharedLimits(PostgresRequestCounts(database), {"api": limits[0]})
        other = SharedLimits(PostgresRequestCounts(second), {"api": limits[1]})
        for limit in limits:
            limit.wait("ana")
        for each in (one, other, one):  # they meet
            await each.exchange()
        for _ in range(15):
            limits[0].wait("ana")
        await one.exchange()
        await other.exchange()
        assert taken(limits[1], "ana") == 20 - 1 - 15
        assert taken(limits[1], "ben") == 20
        await other.exchange()
        await one.exchange()
        assert taken(limits[0], "ana") == 0  # it had four left, and the other let four in
        await PostgresRequestCounts(database).forget()


async def test_nobody_waits_longer_than_a_minute_for_what_others_let_in() -> None:
    limit = RateLimit(per_minute=60, burst=20, clock=lambda: 100.0)
    limit.wait("ana")
    limit.charge("ana", 1_000_000)
    limit.charge("stranger", 5)
    assert 0 < limit.wait("ana") <= 61


async def test_an_instance_that_nobody_asks_tells_nothing(database: Database) -> None:
    quiet = SharedLimits(PostgresRequestCounts(database), {"api": RateLimit()})
    await quiet.exchange()
    assert await database.fetchval("SELECT count(*) FROM request_counts") == 0
