"""Resources and prompts of servers, for agents that need one, through the door."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.servers.modern import make_server
from tests.support.door import Door
from tests.support.mcp_servers import FAST, stdio

from steward.contract.call import Done, Failed
from steward.providers.mcp.links import memory_opener
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.resources import resources_agent
from steward.providers.mcp.server_agent import MCPServerAgent


def in_memory(name: str) -> MCPServerAgent:
    config = ServerConfig(name=name, namespace=name, transport=StdioTransport("-"))
    return MCPServerAgent(config, opener=memory_opener(make_server()), timing=FAST)


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    servers: dict[str, Any] = {
        "notes": in_memory("notes"),
        "dead": MCPServerAgent(stdio("--fault", "dies", name="dead"), timing=FAST),
    }
    door = Door()
    for agent in (*servers.values(), resources_agent(lambda: servers)):
        door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    yield door
    await door.orchestrator.lifecycle.stop_all()


@pytest.mark.req("SKL-US4.2")
async def test_a_resource_is_found_and_read_without_asking(door: Door) -> None:
    listed = await door.call("list_resources")
    assert isinstance(listed, Done)
    assert {item.get("uri") or item.get("uriTemplate") for item in listed.data["resources"]} == {
        "note://today",
        "note://{day}",
    }
    assert {item["server"] for item in listed.data["resources"]} == {"notes"}
    assert set(listed.data["problems"]) == {"dead"}

    read = await door.call("read_resource", uri="note://today")
    assert isinstance(read, Done)
    assert read.data["contents"][0]["text"] == "Water the plants."
    templated = await door.call("read_resource", uri="note://monday")
    assert isinstance(templated, Done)
    assert templated.data["contents"][0]["text"] == "Nothing on monday."


async def test_prompts_are_found_and_filled_in(door: Door) -> None:
    listed = await door.call("list_prompts", server="notes")
    assert isinstance(listed, Done)
    assert [(item["server"], item["name"]) for item in listed.data["prompts"]] == [("notes", "greet")]
    prompt = await door.call("get_prompt", server="notes", name="greet", arguments={"name": "Ana"})
    assert isinstance(prompt, Done)
    assert prompt.data["messages"][0]["content"]["text"] == "Say hello to Ana."


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("read_resource", {"uri": "other://thing"}, "NOT_FOUND"),
        ("read_resource", {"uri": "note://today", "server": "nobody"}, "NOT_FOUND"),
        ("read_resource", {"uri": "note://today", "server": "dead"}, "SERVICE_UNAVAILABLE"),
        ("get_prompt", {"server": "notes", "name": "nothing"}, "NOT_FOUND"),
        ("get_prompt", {"name": "greet"}, "INVALID_ARGUMENTS"),
    ],
)
async def test_what_is_not_there_is_explained(door: Door, tool: str, arguments: Any, code: str) -> None:
    result = await door.call(tool, **arguments)
    assert isinstance(result, Failed)
    assert result.code == code


async def test_a_resource_that_two_servers_have_needs_a_name() -> None:
    servers = {name: in_memory(name) for name in ("a", "b")}
    door = Door()
    for agent in (*servers.values(), resources_agent(lambda: servers)):
        door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    try:
        assert (await door.call("read_resource", uri="note://today")).code == "INVALID_INPUT"
        assert isinstance(await door.call("read_resource", uri="note://today", server="b"), Done)
    finally:
        await door.orchestrator.lifecycle.stop_all()
