"""Servers at the edge of the protocol, or beyond it."""

import json

import pytest
from tests.support.channels import Person, execute
from tests.support.mcp_servers import connected, eventually, stdio

from steward.contract.call import Done, Failed
from steward.contract.errors import NotFoundError, StewardError
from steward.providers.mcp.connection import State, Timing
from steward.providers.mcp.mcp_config import ServerConfig

CALM = Timing(retries=1, backoff=0.01, poll=60, ping_every=0.05, ping_timeout=2)


def odd(scenario: str, **keys: float) -> ServerConfig:
    return stdio(scenario, name="odd", script="odd.py", **keys)


@pytest.mark.req("ORC-Q19")
@pytest.mark.parametrize("scenario", ["plain", "dies_on_probe", "advertises_old"])
async def test_the_oldest_protocol_is_spoken_where_it_must_be(scenario: str) -> None:
    async with connected(odd(scenario), timing=CALM) as agent:
        await eventually(lambda: agent.connection.session)
        assert ((await agent.health()).facts or {})["protocol"] == "2024-11-05"
        assert isinstance(await execute(agent, "talk"), Done)


async def test_a_server_that_ignores_the_probe_is_asked_the_old_way() -> None:
    async with connected(odd("ignores_probe", timeout=4.0), timing=CALM) as agent:
        await eventually(lambda: agent.connection.session)
        assert isinstance(await execute(agent, "talk"), Done)


@pytest.mark.parametrize("scenario", ["foreign", "ancient", "same_cursor", "endless_pages", "no_list"])
async def test_a_server_that_cannot_be_spoken_with_is_shown(scenario: str) -> None:
    async with connected(odd(scenario), timing=CALM) as agent:
        await eventually(lambda: agent.connection.state is State.UNAVAILABLE)
        health = await agent.health()
        assert not health.healthy
        assert health.detail


async def test_tools_that_cannot_be_used_are_left_out_and_named() -> None:
    async with connected(odd("odd_tools"), timing=CALM) as agent:
        names = {spec.name: spec for spec in agent.manifest().tools}
        assert set(names) == {"odd__talk", "odd__no_schema", "odd__odd_name_"}
        assert (names["odd__odd_name_"].title, names["odd__odd_name_"].hints.read_only) == ("Odd", None)
        problems = ((await agent.health()).facts or {})["problems"]
        assert len(problems) == 5
        assert (await agent.execute("odd__odd_name_", {})) == Done(data="")


async def test_a_server_may_have_no_tools_at_all() -> None:
    async with connected(odd("no_tools"), timing=CALM) as agent:
        assert agent.manifest().tools == ()
        assert (await agent.list_resources(), await agent.list_prompts()) == ([], [])
        with pytest.raises(NotFoundError):
            await agent.read_resource("x://y")
        missing = await agent.execute("odd__talk", {})
        assert isinstance(missing, Failed)
        assert missing.code == "TOOL_NOT_FOUND"


async def test_whatever_a_server_says_in_between_its_call_is_answered() -> None:
    async with connected(odd("converse"), timing=CALM) as agent:
        result = await execute(agent, "talk", Person())
        assert json.loads(result.data) == {"900": "result", "901": -32601, "902": -32602}


async def test_a_flood_of_notifications_drowns_nothing() -> None:
    async with connected(odd("flood"), timing=CALM) as agent:
        assert (await execute(agent, "talk")).data == "after the flood"


async def test_an_answer_of_several_kinds_stays_as_it_came() -> None:
    async with connected(odd("picture"), timing=CALM) as agent:
        result = await execute(agent, "talk")
        assert [block["type"] for block in result.data] == ["text", "image"]


@pytest.mark.parametrize(
    ("scenario", "code"),
    [
        ("invalid_params", "INVALID_ARGUMENTS"),
        ("wants_page", "TOOL_EXECUTION_ERROR"),
        ("wrong_code", "INVALID_OUTPUT"),
    ],
)
async def test_a_refusal_keeps_its_code_for_the_gateway(scenario: str, code: str) -> None:
    async with connected(odd(scenario), timing=CALM) as agent:
        result = await execute(agent, "talk")
        assert isinstance(result, Failed)
        assert result.code == code
        if scenario == "invalid_params":
            assert (result.native.code, result.native.data) == (-32602, {"field": "colour"})


async def test_a_stopped_server_says_so() -> None:
    async with connected(odd("plain"), timing=CALM) as agent:
        await agent.shutdown()
        assert (await execute(agent, "talk")).code == "SERVICE_UNAVAILABLE"
        with pytest.raises(StewardError) as error:
            await agent.read_resource("x://y")
        assert error.value.code == "SERVICE_UNAVAILABLE"
        await agent.initialize()  # and can be started again
        assert isinstance(await execute(agent, "talk"), Done)
