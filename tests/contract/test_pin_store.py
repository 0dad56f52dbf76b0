"""Every PinStore keeps these promises, the shipped stand-in as well as PostgreSQL."""

import asyncio
from dataclasses import replace

import pytest

from steward.contract.pins import Pin, PinStore
from steward.storage.pins import PostgresPinStore
from steward.testing import MemoryPinStore

ECHO = Pin(
    agent="raw",
    tool="echo",
    digest="d1",
    definition={"name": "echo", "inputSchema": {"type": "object", "maximum": 1e2, "ä": [1, None, "\u202e"]}},
    accepted=True,
)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> PinStore:
    if request.param == "memory":
        return MemoryPinStore()
    return PostgresPinStore(request.getfixturevalue("database"))


async def test_what_was_remembered_comes_back_as_it_was(store: PinStore) -> None:
    other = replace(ECHO, tool="count", accepted=False)
    await store.remember([ECHO, other])
    await store.remember([])
    assert await store.of("raw") == {"echo": ECHO, "count": other}


async def test_agents_do_not_share_pins(store: PinStore) -> None:
    await store.remember([ECHO, replace(ECHO, agent="other", digest="d2")])
    assert await store.of("raw") == {"echo": ECHO}
    assert await store.of("nobody") == {}


async def test_the_first_sight_counts_however_often_it_is_remembered(store: PinStore) -> None:
    await store.remember([ECHO])
    await asyncio.gather(*(store.remember([replace(ECHO, digest=f"n{n}")]) for n in range(20)))
    assert await store.of("raw") == {"echo": ECHO}


async def test_accepting_replaces_what_was_kept(store: PinStore) -> None:
    changed = replace(ECHO, digest="d2", definition={"name": "echo", "description": "New."})
    await store.remember([replace(ECHO, accepted=False)])
    await store.accept(changed)
    assert await store.of("raw") == {"echo": changed}
    fresh = replace(ECHO, tool="never_seen")
    await store.accept(fresh)
    assert await store.of("raw") == {"echo": changed, "never_seen": fresh}
