"""A real MCP server behind the door, a real client in front: what passes through the gateway unchanged."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types
import pytest
from fastmcp import Client, Context, FastMCP
from mcp.shared.exceptions import MCPError
from tests.support.gateway_setup import KeptLog, NoTracing, listening

from steward.contract.call import Done, Failed
from steward.contract.errors import NotFoundError
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.access import Keys, Role
from steward.policy.rules import Rules
from steward.providers.mcp.links import memory_opener
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.server_agent import MCPServerAgent
from steward.selection.lexical import LexicalRanker
from steward.servers.gateway import answers
from steward.servers.gateway.guard import GatewayGuard, KnownKeys, OpenDoor
from steward.servers.gateway.http import HttpGateway
from steward.servers.gateway.library import ServerLibrary
from steward.servers.gateway.ports import Member
from steward.servers.gateway.server import Gateway
from steward.storage.database.postgres import Database
from steward.storage.keys import PostgresKeyStore
from steward.testing import MemoryProposalStore

ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
READS = mcp_types.ToolAnnotations(read_only_hint=True)


def zoo() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("zoo")

    @server.tool(annotations=READS)
    def look_up(animal: str) -> dict[str, str]:
        return {"found": animal}

    @server.tool(annotations=READS)
    async def note(ctx: Context) -> str:
        await ctx.info("noted")
        return "noted"

    @server.resource("zoo://map")
    def plan() -> str:
        return "left, then right"

    @server.resource("zoo://animal/{name}")
    def animal(name: str) -> str:
        return f"a {name}"

    @server.prompt
    def greet(name: str) -> str:
        return f"Hello {name}"

    return server


def agent(server: FastMCP[Any], name: str) -> MCPServerAgent:
    config = ServerConfig(
        name=name, transport=StdioTransport(command=sys.executable), namespace=name, trusted=True
    )
    return MCPServerAgent(config, opener=memory_opener(server))


@asynccontextmanager
async def gateway(*agents: MCPServerAgent) -> AsyncIterator[tuple[str, ServerLibrary]]:
    door = Orchestrator(proposals=MemoryProposalStore(), log=KeptLog(), tracer=NoTracing(), rules=Rules)
    for each in agents:
        door.register_agent(each)
    await door.lifecycle.start_all()
    library = ServerLibrary(door.registry)
    served = Gateway(door, ranker=LexicalRanker(), library=library)
    app = HttpGateway(served, door, guard=GatewayGuard(OpenDoor()))
    async with app.run(), listening(app) as url:
        yield url, library
    await door.lifecycle.stop_all()


@ERAS
@pytest.mark.req("ORC-US2.2")
async def test_a_servers_answer_arrives_as_it_was_given(era: str):
    async with gateway(agent(zoo(), "zoo")) as (url, _), Client(url, mode=era) as mcp:
        answer = await mcp.call_tool_mcp("zoo__look_up", {"animal": "bear"})
        assert answer.structured_content == {"found": "bear"}
        assert answer.meta is None or "zoo" not in str(answer.meta)


@ERAS
async def test_resources_and_prompts_of_all_servers_are_one_library(era: str):
    async with (
        gateway(agent(zoo(), "north"), agent(zoo(), "south")) as (url, _),
        Client(url, mode=era) as mcp,
    ):
        assert {str(each.uri) for each in await mcp.list_resources()} == {"zoo://map"}
        assert (await mcp.read_resource("zoo://map"))[0].text == "left, then right"
        assert (await mcp.read_resource("zoo://animal/bear"))[0].text == "a bear"
        assert {each.name for each in await mcp.list_prompts()} == {"north__greet", "south__greet"}
        prompt = await mcp.get_prompt("south__greet", {"name": "Ada"})
        assert prompt.messages[0].content.text == "Hello Ada"
        with pytest.raises(MCPError):
            await mcp.read_resource("zoo://nothing/at/all")


async def test_what_no_server_has_is_not_found():
    async with gateway(agent(zoo(), "zoo")) as (_, library):
        for wanted in (
            library.reading("book://1"),
            library.prompting("greet", {}),
            library.completing({"ref": {"type": "ref/prompt", "name": "greet"}}),
            library.completing({"ref": {"type": "ref/resource", "uri": "book://{id}"}}),
            library.watching("book://1", watched=True),
            library.watching("book://1", watched=False),
        ):
            with pytest.raises(NotFoundError):
                await wanted


async def test_a_server_that_is_away_takes_nothing_from_the_others():
    away = agent(zoo(), "away")
    async with gateway(agent(zoo(), "here"), away) as (_, library):
        await away.shutdown()
        assert [each["name"] for each in await library.prompts()] == ["here__greet"]


async def test_a_library_may_be_one_servers_alone():
    async with gateway(agent(zoo(), "north"), agent(zoo(), "south")) as (_, library):
        alone = ServerLibrary(library._registry, namespaces=frozenset({"south"}))
        assert [each["name"] for each in await alone.prompts()] == ["south__greet"]


# --- answers ---


def test_what_a_modern_server_says_of_itself_stays_behind():
    told = {
        "content": [],
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "inner"}, "mine": 1},
    }
    assert answers.answer(Done(native=told)) == {"content": [], "_meta": {"mine": 1}}
    del told["_meta"]["mine"]
    assert answers.answer(Done(native=told)) == {"content": []}


def test_answers_of_any_kind_take_the_protocols_shape():
    text = {"content": [{"type": "text", "text": "x"}]}
    assert answers.answer(Done(data="x")) == text
    assert answers.answer(Done(data=[1])) == {"content": [{"type": "text", "text": "[1]"}]}
    model = mcp_types.CallToolResult(content=[mcp_types.TextContent(text="x")])
    assert answers.answer(Done(native=model))["content"] == text["content"]
    assert answers.answer(Done(data={"a": 1}, native=object()))["structuredContent"] == {"a": 1}


def test_a_protocol_error_of_a_server_stays_one():
    with pytest.raises(MCPError) as caught:
        answers.answer(Failed(error="x", native=MCPError(-32021, "no sampling")))
    assert caught.value.error.code == -32021
    with pytest.raises(MCPError) as unknown:
        answers.answer(Failed(error="There is no such tool.", code="TOOL_NOT_FOUND"))
    assert unknown.value.error.code == -32602


# --- keys ---


async def test_the_workspaces_keys_open_the_gateway_with_their_roles(database: Database):
    keys = Keys(PostgresKeyStore(database), seconds=0, owner="own")
    here, elsewhere = {"client": ("127.0.0.1", 1)}, {"headers": [(b"x-forwarded-for", b"127.0.0.1")]}
    door = KnownKeys(keys)
    assert (await door.admit(None, here), await door.admit(None, elsewhere)) == (None, None)
    assert await door.admit("own", here) == Member("local", role=Role.ADMIN)
    assert await door.admit("own", elsewhere) is None
    _, token = await keys.add("cursor", Role.USE, user="ana")
    _, looking = await keys.add("looker", Role.READ)
    assert await door.admit(token, elsewhere) == Member("cursor", user="ana")
    assert await door.admit(looking, elsewhere) == Member("looker", user="local", role=Role.READ)
    assert await door.admit("wrong", here) is None
