"""Everything a server can do, over each transport and in both eras."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from tests.servers import sdk
from tests.servers.modern import make_server
from tests.support.channels import Person, PersonWithModel, execute
from tests.support.mcp_servers import FAST, connected, eventually, remote, serving, stdio

from steward.contract.call import Done, ElicitAnswer, Failed
from steward.providers.mcp.links import memory_opener
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.server_agent import MCPServerAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODERN, LEGACY = "2026-07-28", "2025-11-25"


@asynccontextmanager
async def reached(kind: str, protocol: str) -> AsyncIterator[MCPServerAgent]:
    if kind == "stdio":
        async with connected(stdio(name="s", script="modern.py", protocol=protocol)) as agent:
            yield agent
    elif kind == "memory":
        config = ServerConfig(name="s", namespace="s", transport=StdioTransport("-"), protocol=protocol)
        agent = MCPServerAgent(config, opener=memory_opener(make_server()), timing=FAST)
        await agent.initialize()
        try:
            yield agent
        finally:
            await agent.shutdown()
    else:
        app = make_server().http_app(path="/mcp", transport="sse" if kind == "sse" else "http")
        async with serving(app) as url:
            config = remote(f"{url}/mcp", name="s", sse=kind == "sse", protocol=protocol)
            async with connected(config) as agent:
                yield agent


WAYS = [
    ("stdio", "auto", MODERN),
    ("stdio", "legacy", LEGACY),
    ("http", "auto", MODERN),
    ("http", "legacy", LEGACY),
    ("sse", "legacy", LEGACY),
    ("memory", "auto", MODERN),
    ("memory", "legacy", LEGACY),
]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=WAYS, ids=["-".join(way[:2]) for way in WAYS]
)
async def way(request: pytest.FixtureRequest) -> AsyncIterator[tuple[MCPServerAgent, str]]:
    kind, protocol, version = request.param
    async with reached(kind, protocol) as agent:
        yield agent, version


@pytest.mark.req("ORC-ENT-Server", "ORC-ASM-1")
@pytest.mark.req(
    "ORC-FR-004", "ORC-Q19", "ORC-US2.1", "ORC-US2.2", "SKL-FR-003", "SKL-US4.1", "SKL-US4.2", "SKL-Q09"
)
async def test_a_server_is_used_in_full(way: tuple[MCPServerAgent, str]) -> None:
    agent, version = way
    health = await agent.health()
    assert (health.healthy, (health.facts or {})["protocol"]) == (True, version)
    names = {spec.name for spec in agent.manifest().tools}
    assert names == {
        f"s__{tool}" for tool in ("add", "steps", "ask_old", "ask_new", "borrow", "wait", "grow", "fail")
    }

    added = await execute(agent, "add", a=2, b=3)
    assert isinstance(added, Done)
    assert added.data == {"result": 5}
    assert added.native["structuredContent"] == {"result": 5}

    failed = await execute(agent, "fail")
    assert isinstance(failed, Failed)
    assert failed.code == "TOOL_EXECUTION_ERROR"
    assert "it does not work" in failed.error
    assert failed.native["isError"] is True

    wrong = await execute(agent, "add", a="x", b=3)
    assert isinstance(wrong, Failed)

    assert [resource["uri"] for resource in await agent.list_resources()] == ["note://today"]
    assert [found["uriTemplate"] for found in await agent.list_resource_templates()] == ["note://{day}"]
    assert (await agent.read_resource("note://today"))["contents"][0]["text"] == "Water the plants."
    assert [prompt["name"] for prompt in await agent.list_prompts()] == ["greet"]
    prompt = await agent.get_prompt("greet", {"name": "Ana"})
    assert prompt["messages"][0]["content"]["text"] == "Say hello to Ana."


async def test_progress_and_questions_reach_the_person_who_waits(way: tuple[MCPServerAgent, str]) -> None:
    agent, version = way
    person = Person()
    assert (await execute(agent, "steps", person)).data == {"result": "done"}
    assert sorted(person.progressed) == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]

    asking = "ask_new" if version == MODERN else "ask_old"
    said = await execute(agent, asking, person)
    assert person.asked == ["Really?"]
    assert said.data["result"] in ("accept True", "accept {'value': True}")
    declined = await execute(agent, asking, Person(ElicitAnswer("decline")))
    assert declined.data["result"] == "decline None"


async def test_nobody_to_ask_is_a_cancelled_question(way: tuple[MCPServerAgent, str]) -> None:
    agent, version = way
    asking = "ask_new" if version == MODERN else "ask_old"
    assert (await execute(agent, asking)).data["result"] == "cancel None"


async def test_sampling_goes_to_a_client_that_lends_its_model(way: tuple[MCPServerAgent, str]) -> None:
    agent, version = way
    if version == MODERN:
        return  # the newest era has no sampling from inside a tool in this server
    person = PersonWithModel()
    assert (await execute(agent, "borrow", person)).data == {"result": "it said 42"}
    assert person.asked == ["What is the answer?"]
    assert isinstance(await execute(agent, "borrow", Person()), Failed)


async def test_a_changed_list_of_tools_is_followed(way: tuple[MCPServerAgent, str]) -> None:
    agent, version = way
    if version == MODERN:
        return  # FastMCP announces no changes there; the SDK's server does, below
    told = asyncio.Event()
    agent.subscribe(told.set)
    await execute(agent, "grow")
    await eventually(lambda: "s__grown" in {spec.name for spec in agent.manifest().tools})
    assert told.is_set()
    assert (await execute(agent, "grown")).data == {"result": "new"}


@pytest.mark.req("ORC-FR-005")
@pytest.mark.parametrize("kind", ["stdio", "http"])
async def test_a_changed_list_is_followed_in_the_newest_era(kind: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        if kind == "stdio":
            config = stdio(name="s", script="sdk.py")
        else:
            url = await stack.enter_async_context(serving(sdk.make_server().streamable_http_app()))
            config = remote(f"{url}/mcp", name="s")
        agent = await stack.enter_async_context(connected(config))
        assert ((await agent.health()).facts or {})["protocol"] == MODERN
        assert {spec.name for spec in agent.manifest().tools} == {"s__grow"}
        await execute(agent, "grow")
        await eventually(lambda: "s__grown" in {spec.name for spec in agent.manifest().tools})
        assert (await execute(agent, "grown")).data == {"result": "new"}
