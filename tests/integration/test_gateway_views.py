"""What a client sees of the registry: all of it, a part of it, or a handful with a search."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx
import pytest
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference
from tests.support.gateway_setup import ACCEPT, GatewaySetup, build_house, builtin, open_session, served, told

from steward.contract.errors import AgentError, NotFoundError, UnavailableError
from steward.contract.tool import ToolSpec
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.servers.gateway.views import Target, View

ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
ALL = ["echo", "wipe", "count", "ask", "ask_twice", "think", "wait", "survey", "fail", "zoo__feed"]


async def names(url: str, era: str = "auto") -> list[str]:
    async with Client(url, mode=era) as mcp:
        return [tool.name for tool in await mcp.list_tools()]


@ERAS
async def test_the_whole_registry_is_listed_with_its_namespaces(era: str):
    async with served() as house:
        assert await names(house.url, era) == ALL


async def test_a_tool_without_a_title_gets_one_that_a_person_reads():
    async with served() as house, Client(house.url) as mcp:
        titles = {tool.name: tool.title for tool in await mcp.list_tools()}
        assert (titles["ask_twice"], titles["zoo__feed"]) == ("Ask twice", "Feed (zoo)")
        assert mcp.session.server_info.icons[0].src.startswith("data:image/svg+xml")


async def test_a_tool_is_listed_with_its_schemas_title_and_hints():
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "$defs": {"x": {}}}
    out = {"type": "object", "properties": {"n": {"type": "integer"}}}
    spec = ToolSpec(name="odd", title="Odd", description="D", input_schema=schema, output_schema=out)
    async with served() as house:
        house.orchestrator.register_agent(LegacyToolAgent("odd", [FunctionTool(spec, lambda: {"n": 1})]))
        await house.orchestrator.lifecycle.start("odd")
        async with Client(house.url) as mcp:
            tool = next(tool for tool in await mcp.list_tools() if tool.name == "odd")
    assert (tool.title, tool.description, tool.input_schema, tool.output_schema) == ("Odd", "D", schema, out)
    assert tool.annotations is None


async def test_a_view_shows_its_part_and_calls_nothing_else():
    view = View(tools=frozenset({"echo"}), namespaces=frozenset({"zoo"}))
    async with served(view) as house:
        assert await names(house.url) == ["echo", "zoo__feed"]
        async with Client(house.url) as mcp:
            await mcp.call_tool_mcp("zoo__feed", {"text": "hay"})
            with pytest.raises(MCPError):
                await mcp.call_tool_mcp("count", {})
        assert [line.tool for line in house.log.lines] == ["zoo__feed"]


@ERAS
async def test_a_large_view_shows_a_handful_and_finds_the_rest(era: str):
    async with served(View(many=3, pinned=frozenset({"echo"}))) as house:
        assert await names(house.url, era) == ["echo", "search_tools", "call_tool"]
        async with Client(house.url, mode=era) as mcp:
            found = await mcp.call_tool_mcp("search_tools", {"query": "feed the zoo"})
            first = found.structured_content["tools"][0]
            assert (first["name"], "inputSchema" in first) == ("zoo__feed", True)
            call = {"name": "zoo__feed", "arguments": {"text": "hay"}}
            answer = await mcp.call_tool_mcp("call_tool", call)
            direct = await mcp.call_tool_mcp("zoo__feed", {"text": "hay"})
            assert answer.structured_content == direct.structured_content == {"text": "hay"}


async def test_a_search_says_which_server_it_could_not_look_at() -> None:
    async def broken() -> Any:
        raise UnavailableError("There is no way to the shop.")

    async with served(View(many=0)) as house, Client(house.url) as mcp:
        whole = await mcp.call_tool_mcp("search_tools", {"query": "feed the zoo"})
        house.orchestrator.lifecycle.register("shop", broken)
        with pytest.raises(AgentError):
            await house.orchestrator.lifecycle.start("shop")
        part = await mcp.call_tool_mcp("search_tools", {"query": "feed the zoo"})
    assert whole.structured_content["incomplete"] == []
    assert part.structured_content["incomplete"] == ["'shop' is not reachable; its tools may be missing."]


@ERAS
async def test_a_call_found_by_search_asks_like_any_other(era: str):
    async def yes(message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, bool]:
        return {"approve": True}

    async with served(View(many=0)) as house, Client(house.url, mode=era, elicitation_handler=yes) as mcp:
        answer = await mcp.call_tool_mcp("call_tool", {"name": "wipe", "arguments": {"name": "disk"}})
        assert answer.content[0].text == "wiped disk"
        assert house.wiped == ["disk"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_tools", {}),
        ("search_tools", {"query": "x", "limit": 0}),
        ("search_tools", {"query": "x", "limit": "many"}),
        ("call_tool", {}),
        ("call_tool", {"name": "echo", "arguments": 1}),
    ],
)
async def test_a_senseless_search_is_answered_with_what_is_wrong(tool: str, arguments: dict[str, Any]):
    async with served(View(many=0)) as house, Client(house.url) as mcp:
        refused = await mcp.call_tool_mcp(tool, arguments)
        assert (refused.is_error, told(refused)["error_code"]) == (True, "INVALID_ARGUMENTS")


async def test_a_tool_that_is_not_there_cannot_be_called_through_the_search_either():
    async with served(View(many=0)) as house, Client(house.url) as mcp:
        with pytest.raises(MCPError) as refused:
            await mcp.call_tool_mcp("call_tool", {"name": "nothing"})
        assert refused.value.error.code == -32602


async def add_tool(house: GatewaySetup) -> None:
    more = LegacyToolAgent("more", [FunctionTool(builtin("more"), lambda: "x")])
    house.orchestrator.register_agent(more)
    await house.orchestrator.lifecycle.start("more")


async def heard(stream: httpx.Response, method: str) -> None:
    async with asyncio.timeout(10):
        async for line in stream.aiter_lines():
            if method in line:
                return


async def test_handshake_clients_hear_of_new_tools_on_their_stream():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        async with http.stream("GET", house.url, headers=session) as stream:
            await add_tool(house)
            await heard(stream, "notifications/tools/list_changed")


async def test_modern_clients_hear_of_what_they_listen_for():
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    listen = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "subscriptions/listen",
        "params": {"_meta": meta, "notifications": {"toolsListChanged": True}},
    }
    headers = {**ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    async with (
        served() as house,
        httpx.AsyncClient() as http,
        http.stream("POST", house.url, json=listen, headers=headers) as stream,
    ):
        await heard(stream, "notifications/subscriptions/acknowledged")


async def test_news_of_a_watched_resource_reach_whoever_watches_it():
    shelf = Shelf()
    async with served(library=shelf, house=house_with_books(shelf)) as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        watch = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": {"uri": "book://1"}}
        await http.post(house.url, json=watch, headers=session)
        assert shelf.watched == {"book://1"}
        async with http.stream("GET", house.url, headers=session) as stream:
            for listener in shelf.listeners:
                listener("book://1")
            await heard(stream, "notifications/resources/updated")
        await http.post(house.url, json={**watch, "method": "resources/unsubscribe"}, headers=session)
        assert shelf.watched == set()


async def test_arguments_of_prompts_are_completed():
    async with served(library=Shelf(), house=house_with_books()) as house, Client(house.url) as mcp:
        ref = PromptReference(name="zoo__greet")
        completion = await mcp.complete(ref, {"name": "name", "value": "A"})
        assert completion.values == ["A!"]


async def test_a_long_list_comes_in_pages():
    tools = [FunctionTool(builtin(f"t{number}"), lambda: "x") for number in range(450)]
    async with served(View(many=1000)) as house:
        house.orchestrator.register_agent(LegacyToolAgent("many", tools))
        await house.orchestrator.lifecycle.start("many")
        async with Client(house.url) as mcp:
            first = await mcp.list_tools_mcp()
            assert (len(first.tools), first.next_cursor) == (200, "200")
            assert len(await mcp.list_tools()) == 450 + len(ALL)
            with pytest.raises(MCPError):
                await mcp.list_tools_mcp(cursor="elsewhere")


def read_book(uri: str) -> dict[str, Any]:
    if uri == "book://burnt":
        raise UnavailableError("It burnt.")
    if uri != "book://1":
        raise NotFoundError("There is no such book.")
    return {"contents": [{"uri": uri, "text": "Once"}]}


def greet(name: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": {"type": "text", "text": f"Hi {name}"}}]}


def complete(value: str) -> dict[str, Any]:
    return {"completion": {"values": [f"{value}!"]}}


def house_with_books(shelf: "Shelf | None" = None) -> GatewaySetup:
    """The calls that stand for what is asked of the shelf, behind the door as all others."""
    house, watched = build_house(), set[str]() if shelf is None else shelf.watched

    def watch(uri: str, watched_now: bool) -> dict[str, Any]:
        (watched.add if watched_now else watched.discard)(uri)
        return {}

    calls: dict[str, Any] = {"read_book": read_book, "greet": greet, "complete": complete, "watch": watch}
    tools = [FunctionTool(builtin(name), function) for name, function in calls.items()]
    house.orchestrator.register_agent(LegacyToolAgent("books", tools))
    return house


class Shelf:
    """Resources and prompts without servers behind them."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[str], None]] = []
        self.watched: set[str] = set()

    async def resources(self) -> Sequence[Mapping[str, Any]]:
        return [{"uri": "book://1", "name": "One"}]

    async def templates(self) -> Sequence[Mapping[str, Any]]:
        return [{"uriTemplate": "book://{id}", "name": "Book"}]

    async def reading(self, uri: str) -> Target:
        return Target("read_book", {"uri": uri})

    async def prompts(self) -> Sequence[Mapping[str, Any]]:
        return [{"name": "zoo__greet"}]

    async def prompting(self, name: str, arguments: Mapping[str, str]) -> Target:
        if name != "zoo__greet":
            raise NotFoundError("There is no such prompt.")
        return Target("greet", arguments)

    async def completing(self, params: Mapping[str, Any]) -> Target:
        return Target("complete", {"value": params["argument"]["value"]})

    async def watching(self, uri: str, *, watched: bool) -> Target:
        return Target("watch", {"uri": uri, "watched_now": watched})

    def subscribe(self, listener: Callable[[str], None]) -> None:
        self.listeners.append(listener)


@ERAS
async def test_resources_and_prompts_pass_through(era: str):
    async with served(library=Shelf(), house=house_with_books()) as house, Client(house.url, mode=era) as mcp:
        assert [str(each.uri) for each in await mcp.list_resources()] == ["book://1"]
        assert [each.uri_template for each in await mcp.list_resource_templates()] == ["book://{id}"]
        assert (await mcp.read_resource("book://1"))[0].text == "Once"
        assert [each.name for each in await mcp.list_prompts()] == ["zoo__greet"]
        prompt = await mcp.get_prompt("zoo__greet", {"name": "Ada"})
        assert prompt.messages[0].content.text == "Hi Ada"


@pytest.mark.parametrize(
    ("era", "uri", "code"),
    [
        ("auto", "book://9", -32602),
        ("legacy", "book://9", -32002),
        ("auto", "book://burnt", -32603),
        ("legacy", "book://burnt", -32603),
    ],
)
async def test_a_resource_that_cannot_be_read_is_an_error_of_its_era(era: str, uri: str, code: int):
    async with served(library=Shelf(), house=house_with_books()) as house, Client(house.url, mode=era) as mcp:
        with pytest.raises(MCPError) as refused:
            await mcp.read_resource(uri)
        assert refused.value.error.code == code
        with pytest.raises(MCPError) as unknown:
            await mcp.get_prompt("nothing")
        assert unknown.value.error.code == -32602
