"""The connection to the database ends in the middle of a change: nobody says it failed, nobody repeats it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.support.lost_answers import LosingWire, Picks, a_commit, a_statement, losing_wire
from tests.support.waiting import until

from steward.bootstrap import Platform, open_platform
from steward.contract.call import Caller, CallerKind, Failed, ToolCall, ToolResult
from steward.contract.errors import StorageError
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Proposal, Receipt, state_name
from steward.settings import load_settings
from steward.storage.database.postgres import Database, External
from steward.storage.proposals import PostgresProposalStore
from steward.surfaces.api.app import create_app

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
ANA = Caller(CallerKind.PERSON, "ana")


@pytest.fixture
async def wire(database_url: str) -> AsyncIterator[tuple[LosingWire, str]]:
    async with losing_wire(database_url) as made:
        yield made


@pytest.fixture
async def behind(wire: tuple[LosingWire, str]) -> AsyncIterator[Database]:
    async with Database(External(wire[1])) as database:
        await database.execute("CREATE TABLE things (id int PRIMARY KEY)")
        yield database


async def things(database: Database) -> list[int]:
    return [row["id"] for row in await database.fetch("SELECT id FROM things ORDER BY id")]


async def test_a_change_whose_answer_is_lost_is_in_doubt(
    wire: tuple[LosingWire, str], behind: Database
) -> None:
    wire[0].lose = a_statement
    with pytest.raises(StorageError) as lost:
        await behind.execute("INSERT INTO things VALUES ($1)", 1)
    assert (lost.value.in_doubt, await things(behind)) == (True, [1])


async def test_a_reading_whose_answer_is_lost_is_only_tried_again(
    wire: tuple[LosingWire, str], behind: Database
) -> None:
    wire[0].lose = a_statement
    with pytest.raises(StorageError) as lost:
        await things(behind)
    assert (lost.value.in_doubt, lost.value.retryable) == (False, True)


@pytest.mark.parametrize(("moment", "stored"), [(a_statement, []), (a_commit, [1])], ids=["before", "at"])
async def test_a_transaction_is_in_doubt_only_from_its_commit_on(
    wire: tuple[LosingWire, str], behind: Database, moment: Picks, stored: list[int]
) -> None:
    async def change() -> None:
        async with behind.transaction() as session:
            wire[0].lose = moment
            await session.execute("INSERT INTO things VALUES ($1)", 1)

    with pytest.raises(StorageError) as lost:
        await change()
    assert (lost.value.in_doubt, await things(behind)) == (bool(stored), stored)


# --- behind the door ---


@pytest.fixture
async def platform(wire: tuple[LosingWire, str], tmp_path: Path) -> AsyncIterator[Platform]:
    settings = load_settings(
        STEWARD_HOME=tmp_path / "home", DATABASE_URL=wire[1], OTEL_EXPORTER_OTLP_ENDPOINT="none"
    )
    async with open_platform(settings, agents=("tasks",)) as platform:
        yield platform


async def call(platform: Platform, tool: str, **arguments: object) -> ToolResult:
    made = ToolCall(tool=tool, arguments=arguments, caller=ANA, user="local")
    return await platform.orchestrator.execute(made)


async def test_a_task_whose_storing_was_not_answered_may_be_there_and_nobody_is_told_to_add_it_again(
    wire: tuple[LosingWire, str], platform: Platform
) -> None:
    await call(platform, "list_tasks")
    wire[0].lose = adding
    added = await call(platform, "add_task", title="milk")
    assert isinstance(added, Failed)
    assert (added.outcome_unknown, added.retryable) == (True, False)


async def test_nothing_is_unknown_of_a_list_that_was_not_answered(
    wire: tuple[LosingWire, str], platform: Platform
) -> None:
    await call(platform, "list_tasks")
    wire[0].lose = a_statement
    listed = await call(platform, "list_tasks")
    assert isinstance(listed, Failed)
    assert not listed.outcome_unknown


async def test_a_request_with_a_key_whose_change_was_not_answered_is_not_made_again(
    wire: tuple[LosingWire, str], platform: Platform
) -> None:
    transport = httpx.ASGITransport(app=create_app(platform), client=("127.0.0.1", 50_000))
    headers = {"X-API-Key": platform.owner_token, "Idempotency-Key": "order-66"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost:8700", headers=headers
    ) as api:
        await api.get("/v1/tasks")
        wire[0].lose = adding
        answers = [await api.post("/v1/tasks", json={"title": "milk"}) for _ in range(2)]
        listed = (await api.get("/v1/tasks")).json()["items"]
    said = [(each.status_code, each.json()["outcome_unknown"]) for each in answers]
    assert said == [(504, True), (504, True)]
    assert [task["title"] for task in listed] == ["milk"]


async def test_a_request_with_a_key_says_that_the_database_is_away(
    wire: tuple[LosingWire, str], platform: Platform
) -> None:
    transport = httpx.ASGITransport(app=create_app(platform), client=("127.0.0.1", 50_000))
    headers = {"X-API-Key": platform.owner_token, "Idempotency-Key": "order-66"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost:8700", headers=headers
    ) as api:
        wire[0].cut()
        await until(lambda: is_away(platform.database))
        refused = await api.post("/v1/tasks", json={"title": "milk"})
        wire[0].down = False
        added = await api.post("/v1/tasks", json={"title": "milk"})
    assert (refused.status_code, refused.json()["code"]) == (503, "STORAGE_UNAVAILABLE")
    assert added.json()["success"]


async def is_away(database: Database) -> bool:
    try:
        await database.fetchval("SELECT 1")
    except StorageError:
        return True
    return False


def adding(message: bytes) -> bool:
    return a_statement(message) and b"milk" in message


async def test_a_job_whose_putting_in_was_not_answered_may_be_in(
    wire: tuple[LosingWire, str], platform: Platform
) -> None:
    asked: list[bytes] = []

    def its_commit(message: bytes) -> bool:
        asked.extend([message] if b"procrastinate_defer" in message else [])
        return bool(asked) and a_commit(message)

    wire[0].lose = its_commit
    with pytest.raises(StorageError) as lost:
        await platform.work.defer("call", {}, user="local", title="Call")
    there = await platform.work.store.list(user="local")
    assert (lost.value.in_doubt, len(there.items)) == (True, 1)


# --- a yes ---


def proposal() -> Proposal:
    return Proposal(
        id="p1", tool="send", arguments={}, digest="d", definition_hash="h", risk=RiskLevel.IRREVERSIBLE,
        confidence=0.0, reason="sends", caller=ANA, user=None, utterance=None, call_id="c1",
        correlation_id="r", created_at=NOW,
    )  # fmt: skip


def yes(second: int) -> Receipt:
    at = NOW.replace(second=second)
    return Receipt(approver="ben", approved_at=at, via="api", arguments={}, digest="d", definition_hash="h")


async def state(store: PostgresProposalStore) -> str:
    found = await store.get("p1")
    assert found is not None
    return state_name(found.state)


async def test_a_yes_whose_answer_is_lost_has_run_nothing_and_is_given_anew(
    wire: tuple[LosingWire, str], behind: Database
) -> None:
    store = PostgresProposalStore(behind)
    await store.add(proposal())
    await behind.program.hold()
    wire[0].lose = a_statement
    with pytest.raises(StorageError):
        await store.claim("p1", yes(1))
    assert wire[0].lost == 1
    assert await state(store) == "waiting"
    assert await store.claim("p1", yes(2))
    assert await state(store) == "running"


async def test_a_yes_that_is_given_up_before_its_answer_keeps_nobody_out(
    wire: tuple[LosingWire, str], behind: Database
) -> None:
    store = PostgresProposalStore(behind)
    await store.add(proposal())
    await behind.program.hold()
    async with behind.transaction() as session:
        await session.fetchrow("SELECT * FROM proposals WHERE id = 'p1' FOR UPDATE")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await store.claim("p1", yes(1))
    assert await state(store) == "waiting"


async def test_another_yes_of_the_same_program_is_not_put_back_with_one_that_was_lost(
    wire: tuple[LosingWire, str], behind: Database
) -> None:
    store = PostgresProposalStore(behind)
    await store.add(proposal())
    behind.program.unheard.append(("p1", yes(1).approved_at))
    assert await store.claim("p1", yes(2))
    assert await state(store) == "running"
