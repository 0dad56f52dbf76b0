from steward.storage.database.postgres import Database
from steward.storage.gaps import PostgresGapStore


async def test_the_same_gap_is_kept_once_and_counted(database: Database) -> None:
    store = PostgresGapStore(database)
    await store.record("local", ["banking", "fax_letter"], task="pay and fax it", agent="assistant")
    await store.record("local", ["banking"], task="pay my rent", agent="researcher")
    await store.record("ana", ["gaming"], task="play chess", agent=None)
    found = [(gap.missing, gap.times, gap.task, gap.agent) for gap in await store.list("local")]
    assert found == [
        ("banking", 2, "pay my rent", "researcher"),
        ("fax_letter", 1, "pay and fax it", "assistant"),
    ]
    assert [gap.missing for gap in await store.list("local", limit=1, offset=1)] == ["fax_letter"]
    assert [gap.missing for gap in await store.list("ana")] == ["gaming"]
