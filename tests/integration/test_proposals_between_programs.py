"""Who runs a proposal when programs race, die and come back: one, or nobody, and never twice."""

import asyncio
from datetime import UTC, datetime

import asyncpg
import pytest
from tests.integration.programs import program
from tests.support.waiting import until

from steward.contract.call import Caller, CallerKind
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Finished, OutcomeUnknown, Proposal, Receipt, Running, state_name
from steward.storage.database.postgres import Database, External
from steward.storage.proposals import PostgresProposalStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RECEIPT = Receipt(
    approver="ben", approved_at=NOON, via="api", arguments={"n": 1}, digest="d", definition_hash="h"
)


@pytest.fixture
async def store(database: Database) -> PostgresProposalStore:
    store = PostgresProposalStore(database)
    await store.add(
        Proposal(
            id="p1",
            tool="send",
            arguments={"n": 1},
            digest="d",
            definition_hash="h",
            risk=RiskLevel.IRREVERSIBLE,
            confidence=0.0,
            reason="sends",
            caller=Caller(CallerKind.PERSON, "ana"),
            user=None,
            utterance=None,
            call_id="c",
            correlation_id="r",
            created_at=NOON,
        )
    )
    return store


async def state(store: PostgresProposalStore) -> str:
    found = await store.get("p1")
    assert found is not None
    return state_name(found.state)


async def settled(store: PostgresProposalStore) -> None:
    """PostgreSQL needs a moment to notice that a program is gone."""

    async def over() -> bool:
        return await state(store) != "running"

    await until(over)


async def test_of_two_programs_one_claims(store: PostgresProposalStore, database_url: str) -> None:
    async with program(database_url) as one, program(database_url) as other:
        claims = await asyncio.gather(
            one.tell("claim p1"), other.tell("claim p1"), store.claim("p1", RECEIPT)
        )
        assert sorted(map(str, claims)) == ["False", "False", "True"]
        assert await state(store) == "running"


async def test_a_claim_whose_program_was_killed_is_unknown_and_never_run_again(
    store: PostgresProposalStore, database_url: str
) -> None:
    async with program(database_url) as killed:
        assert await killed.tell("claim p1") == "True"
        assert await state(store) == "running"
        await killed.kill()
    await settled(store)
    found = await store.get("p1")
    assert isinstance(found.state, OutcomeUnknown)
    assert found.state.receipt.approver == "ana"
    assert not await store.claim("p1", RECEIPT)
    assert not await store.reject("p1", by="ben", at=NOON, why=None)
    assert [p.id for p in (await store.list(states=["unknown"])).items] == ["p1"]


async def test_unknown_is_written_down(store: PostgresProposalStore, database_url: str) -> None:
    async with program(database_url) as killed:
        await killed.tell("claim p1")
        await killed.kill()
    connection = await asyncpg.connect(database_url)
    async with asyncio.timeout(10):
        while await connection.fetchval("SELECT state FROM proposals") != "unknown":
            await store.list()
    await connection.close()


async def test_a_program_that_ends_in_order_without_an_outcome_leaves_it_unknown(
    store: PostgresProposalStore, database_url: str
) -> None:
    async with Database(External(database_url)) as other:
        assert await PostgresProposalStore(other).claim("p1", RECEIPT)
    await settled(store)
    assert (await store.get("p1")).state == OutcomeUnknown(receipt=RECEIPT)


async def cut_connections(url: str) -> None:
    """As a restart of PostgreSQL does it to whoever is connected."""
    admin = await asyncpg.connect(url)
    await admin.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await admin.close()


async def test_a_claimant_whose_connections_were_cut_still_runs_it(
    store: PostgresProposalStore, database_url: str
) -> None:
    async with program(database_url) as other:
        assert await other.tell("claim p1") == "True"
        await cut_connections(database_url)
        async with Database(External(database_url)) as third:
            found = await PostgresProposalStore(third).get("p1")
            assert isinstance(found.state, Running)
        assert await other.tell("finish p1") == "finished"
    assert await state(store) == "finished"


async def test_a_claimant_that_was_taken_for_dead_still_writes_the_outcome(
    store: PostgresProposalStore, database: Database
) -> None:
    assert await store.claim("p1", RECEIPT)
    await database.execute("DELETE FROM programs")
    assert (await store.get("p1")).state == OutcomeUnknown(receipt=RECEIPT)
    await store.finish("p1", {"status": "done"}, at=NOON)
    finished = Finished(receipt=RECEIPT, result={"status": "done"}, finished_at=NOON)
    assert (await store.get("p1")).state == finished


async def test_a_process_id_that_was_used_again_is_another_program(
    store: PostgresProposalStore, database: Database, database_url: str
) -> None:
    assert await store.claim("p1", RECEIPT)
    await database.execute("UPDATE programs SET born = born - 100")
    async with Database(External(database_url)) as other:
        found = await PostgresProposalStore(other).get("p1")
    assert found.state == OutcomeUnknown(receipt=RECEIPT)


async def test_claims_of_other_programs_are_left_alone(
    store: PostgresProposalStore, database_url: str
) -> None:
    async with program(database_url) as other:
        assert await other.tell("claim p1") == "True"
        async with program(database_url) as third:
            assert await third.tell("query SELECT 1") == "1"
            await third.kill()
        assert await state(store) == "running"
        assert await other.tell("finish p1") == "finished"
    assert await state(store) == "finished"
