"""Every FactStore keeps these promises, the shipped stand-in as well as PostgreSQL."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from steward.contract.errors import InputError
from steward.knowledge.facts import MAX_LENGTH, Fact, FactPage, FactStore, save_fact
from steward.storage.library.facts import PostgresFactStore
from steward.testing import MemoryFactStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> FactStore:
    if request.param == "memory":
        return MemoryFactStore()
    return PostgresFactStore(request.getfixturevalue("database"))


async def test_a_saved_fact_is_listed(store: FactStore) -> None:
    fact = await save_fact(store, "  Ana likes tea  ", user="local", source="agent", now=lambda: NOON)
    assert fact == Fact(id=fact.id, user="local", text="Ana likes tea", source="agent", created_at=NOON)
    assert await store.list("local") == FactPage(items=[fact])


@pytest.mark.parametrize(
    "again", ["Ana likes tea", "ana  LIKES tea.", "Ana\nlikes tea!", "\uff21na likes tea"]
)
async def test_nearly_the_same_fact_is_kept_once(store: FactStore, again: str) -> None:
    first = await save_fact(store, "Ana likes tea", user="local")
    assert await save_fact(store, again, user="local") == first
    assert await store.list("local") == FactPage(items=[first])


async def test_different_facts_and_different_users_are_kept_apart(store: FactStore) -> None:
    texts = ["Ana likes tea", "Ana likes teas", "Ana likes tea 2", "!!!", "???", "👍"]
    for text in texts:
        await save_fact(store, text, user="ana")
    await save_fact(store, texts[0], user="ben")
    assert {fact.text for fact in (await store.list("ana")).items} == set(texts)
    assert [fact.text for fact in (await store.list("ben")).items] == [texts[0]]


async def test_one_fact_saved_many_times_at_once_is_kept_once(store: FactStore) -> None:
    facts = await asyncio.gather(*(save_fact(store, "Ana likes tea", user="local") for _ in range(30)))
    assert len({fact.id for fact in facts}) == 1
    assert len((await store.list("local")).items) == 1


@pytest.mark.parametrize("text", ["", " \n\t", "x" * (MAX_LENGTH + 1), "a\0b"])
async def test_a_text_that_cannot_be_a_fact_is_refused(store: FactStore, text: str) -> None:
    with pytest.raises(InputError) as refused:
        await save_fact(store, text, user="local")
    assert refused.value.code == "INVALID_INPUT"
    assert refused.value.fix
    assert await store.list("local") == FactPage(items=[])


async def test_the_longest_fact_is_kept_whole(store: FactStore) -> None:
    fact = await save_fact(store, "ä" * MAX_LENGTH, user="local")
    assert await store.list("local") == FactPage(items=[fact])


async def test_a_removed_fact_is_gone_and_may_be_saved_again(store: FactStore) -> None:
    fact = await save_fact(store, "Ana likes tea", user="local")
    assert not await store.remove("ben", fact.id)
    assert await store.remove("local", fact.id)
    assert not await store.remove("local", fact.id)
    assert await store.list("local") == FactPage(items=[])
    again = await save_fact(store, "Ana likes tea", user="local")
    assert again.id != fact.id
    assert await store.list("local") == FactPage(items=[again])


async def test_erasing_a_user_deletes_theirs_and_nothing_else(store: FactStore) -> None:
    await save_fact(store, "one", user="ana")
    await save_fact(store, "two", user="ana")
    kept = await save_fact(store, "one", user="ben")
    assert await store.erase("ana") == 2
    assert await store.erase("ana") == 0
    assert await store.list("ben") == FactPage(items=[kept])


async def test_the_list_comes_newest_first_in_pages(store: FactStore) -> None:
    for n in range(5):
        moment = NOON + timedelta(seconds=n)
        await save_fact(store, f"fact {n}", user="local", now=lambda moment=moment: moment)
    first = await store.list("local", limit=3)
    second = await store.list("local", limit=3, after=first.next)
    assert [fact.text for fact in (*first.items, *second.items)] == [f"fact {n}" for n in (4, 3, 2, 1, 0)]
    assert second.next is None
