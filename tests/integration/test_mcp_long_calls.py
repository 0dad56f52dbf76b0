"""Servers behind us that go on with a call after their answer: followed, answered, given up, over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.support.channels import Person, execute
from tests.support.gateway_setup import GatewaySetup, build_house, served
from tests.support.mcp_servers import connected, remote
from tests.support.waiting import until

from steward.contract.call import Done, ElicitAnswer, Failed
from steward.contract.long_calls import LongState
from steward.providers.mcp.server_agent import MCPServerAgent
from steward.servers.gateway.long_calls import LongCalls
from steward.storage.database.postgres import Database
from steward.storage.long_calls import PostgresLongCalls

ANSWER = ElicitAnswer("accept", {"name": "Ada"})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.servers.gateway.long_calls.POLL_MS", 20)


@asynccontextmanager
async def behind(
    database: Database, *, after: float = 0.02, protocol: str = "auto"
) -> AsyncIterator[tuple[GatewaySetup, MCPServerAgent]]:
    """A server that lets go of calls, and us as its client."""
    calls = LongCalls(PostgresLongCalls(database), after=after)
    async with (
        served(house=build_house(), long_calls=calls) as house,
        connected(remote(house.url, protocol=protocol)) as agent,
    ):
        yield house, agent


async def handles(database: Database) -> list[str]:
    return [row["state"] for row in await database.fetch("SELECT state FROM long_calls")]


async def test_a_long_call_is_followed_to_its_outcome_and_its_questions_reach_the_person(
    database: Database,
) -> None:
    async with behind(database) as (house, agent):
        person = Person(ANSWER)
        call = asyncio.create_task(execute(agent, "survey", person))

        async def let_go() -> bool:
            return bool(await handles(database))

        await until(let_go)
        house.go_on.set()
        result = await call
    assert isinstance(result, Done), result
    assert result.data == {"answers": ["Ada", "Ada", "Ada"]}
    assert sorted(person.asked) == ["One?", "Three?", "Two?"]
    assert await handles(database) == [LongState.COMPLETED.value]


async def test_whoever_stops_waiting_stops_the_call_at_the_server(database: Database) -> None:
    async with behind(database) as (house, agent):
        call = asyncio.create_task(execute(agent, "wait"))

        async def followed() -> bool:
            """It has its handle: between two looks no request of ours is on its way."""
            session = agent.connection.session
            return bool(await handles(database)) and session is not None and session.in_flight == 0

        await until(followed)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(house.stopped.wait(), 20)


async def test_a_call_that_the_server_gave_up_has_failed(database: Database) -> None:
    async with behind(database) as (_, agent):
        call = asyncio.create_task(execute(agent, "wait"))
        await until(lambda: stopped_in(database))
        result = await call
    assert isinstance(result, Failed)
    assert await handles(database) == [LongState.CANCELLED.value]


async def stopped_in(database: Database) -> bool:
    """As another of its programs stops it."""
    found = await database.fetch("UPDATE long_calls SET stopping = true RETURNING id")
    return bool(found)


async def test_a_call_that_ends_at_once_needs_no_handle(database: Database) -> None:
    async with behind(database, after=20) as (_, agent):
        result = await execute(agent, "echo", text="hi")
    assert (result.data, await handles(database)) == ({"text": "hi"}, [])


async def test_a_server_of_the_older_era_is_not_told_of_handles(database: Database) -> None:
    async with behind(database, protocol="legacy") as (house, agent):
        call = asyncio.create_task(execute(agent, "survey", Person(ANSWER)))
        await asyncio.sleep(0)
        house.go_on.set()
        result = await call
    assert (result.data["answers"], await handles(database)) == (["Ada"] * 3, [])
