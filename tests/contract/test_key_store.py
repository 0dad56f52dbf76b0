"""Every KeyStore keeps these promises."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from steward.contract.errors import ConflictError
from steward.policy.access import Key, KeyStore, Role
from steward.storage.keys import PostgresKeyStore
from steward.testing import MemoryKeyStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LAPTOP = Key(id="a1", name="laptop", role=Role.APPROVE, user="ana", digest="d1", created_at=NOON)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> KeyStore:
    if request.param == "memory":
        return MemoryKeyStore()
    return PostgresKeyStore(request.getfixturevalue("database"))


async def test_a_key_is_kept_until_it_is_removed(store: KeyStore) -> None:
    await store.add(LAPTOP)
    assert await store.get("a1") == LAPTOP
    assert await store.get("a2") is None
    assert await store.remove("a1")
    assert not await store.remove("a1")
    assert await store.get("a1") is None


async def test_a_key_that_is_there_gets_another_role(store: KeyStore) -> None:
    await store.add(LAPTOP)
    assert await store.set_role("a1", Role.READ)
    assert await store.get("a1") == replace(LAPTOP, role=Role.READ)
    assert not await store.set_role("a2", Role.READ)


async def test_keys_are_listed_oldest_first(store: KeyStore) -> None:
    older = replace(LAPTOP, id="a2", name="phone", created_at=NOON - timedelta(days=1))
    await store.add(LAPTOP)
    await store.add(older)
    assert await store.list() == [older, LAPTOP]


async def test_a_name_is_taken_once_however_many_ask_at_once(store: KeyStore) -> None:
    keys = [replace(LAPTOP, id=f"a{number}") for number in range(20)]
    answers = await asyncio.gather(*map(store.add, keys), return_exceptions=True)
    assert sum(isinstance(answer, ConflictError) for answer in answers) == 19
    assert len(await store.list()) == 1
