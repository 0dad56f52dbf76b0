"""`steward serve knowledge` as an editor starts it: over a pipe, through the door, in both eras."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from tests.support.gateway_setup import told

ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
TOOLS = {
    "query_knowledge_base",
    "manage_collections",
    "ingest_documents",
    "manage_projects",
    "augment_knowledge",
}
WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("query_knowledge_base", {"query": " "}, -32004, "KB_QUERY"),
    ("query_knowledge_base", {"query": "x" * 100_000}, -32004, "KB_QUERY"),
    ("query_knowledge_base", {"query": "x", "collections": "nope"}, -32002, "KB_COLLECTION"),
    ("manage_collections", {"action": "create", "collection_name": "a/../b"}, -32002, "KB_COLLECTION"),
    (
        "manage_collections",
        {"action": "create", "collection_name": "x", "collection_type": "odd"},
        -32002,
        "KB_COLLECTION",
    ),
    ("query_knowledge_base", {"query": "x", "project_name": "nope"}, -32002, "KB_COLLECTION"),
    ("ingest_documents", {"path": "/etc/passwd", "collection": "papers"}, -32003, "KB_PATH_FORBIDDEN"),
    ("ingest_documents", {"path": "{}/../../etc", "collection": "papers"}, -32003, "KB_PATH_FORBIDDEN"),
    ("ingest_documents", {"path": "{}/none.md", "collection": "papers"}, -32003, "KB_DOCUMENT"),
    ("ingest_documents", {"path": "{}/huge.txt", "collection": "papers"}, -32003, "KB_TOO_LARGE"),
    ("augment_knowledge", {"content": "", "source": "x", "collection": "papers"}, -32003, "KB_DOCUMENT"),
]


# Each of these would wait for a person, were there anything to wait for.
NOTHING_TO_ASK: list[tuple[str, dict[str, Any], int, str]] = [
    ("manage_collections", {"action": "delete", "collection_name": "nope"}, -32002, "KB_COLLECTION"),
    ("ingest_documents", {"path": "{}/.env", "collection": "papers"}, -32003, "KB_DOCUMENT"),
    (
        "ingest_documents",
        {"path": "{}", "collection": "nope", "remove_missing": True},
        -32002,
        "KB_COLLECTION",
    ),
]

UNFIT: list[tuple[str, dict[str, Any]]] = [
    ("query_knowledge_base", {}),
    ("manage_collections", {"action": "explode"}),
]


@pytest.fixture
def environment(tmp_path: Path, tea_and_bread: Path, database_url: str) -> dict[str, str]:
    return {
        **os.environ,
        "STEWARD_HOME": str(tmp_path / "home"),
        "STEWARD_ALLOWED_ROOTS": str(tea_and_bread),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }


def piped(environment: dict[str, str], *options: str) -> StdioTransport:
    command = ["-m", "steward", "serve", "knowledge", *options]
    return StdioTransport(sys.executable, command, env=environment, keep_alive=False)


async def person(message: str, _kind: Any, _params: Any, _context: Any) -> dict[str, Any]:
    """Approves what waits, and names the collection or project that is asked for."""
    if message.startswith("Run "):
        return {"approve": True}
    return {"value": "kitchen" if "project" in message else "papers"}


@pytest.mark.req("KB-5.1-32002", "KB-5.1-32003", "KB-5.1-32004", "KB-SEC-paths")
@pytest.mark.req("KB-7.2-execution", "KB-7.2-errors", "KB-0", "KB-1-mode")
@ERAS
@pytest.mark.req("KB-1", "KB-2.1", "KB-2.2", "KB-2.3", "KB-4.1", "KB-4.4", "KB-5.1", "KB-5.2", "KB-6.2")
@pytest.mark.req("KB-6.3", "KB-SEC")
async def test_an_editor_builds_asks_and_clears_a_library(
    environment: dict[str, str], tea_and_bread: Path, era: str
) -> None:
    steps: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _message: str | None) -> None:
        steps.append((done, total))

    approving = piped(environment, "--role", "approve")
    async with Client(approving, mode=era, elicitation_handler=person, progress_handler=progress) as mcp:

        async def call(tool: str, **arguments: Any) -> Any:
            return (await mcp.call_tool(tool, arguments)).structured_content

        async def read(uri: str) -> Any:
            return json.loads((await mcp.read_resource(uri))[0].text)

        assert {tool.name for tool in await mcp.list_tools()} == TOOLS
        made = await call("manage_collections", action="create")  # the name is asked for
        assert made["collection"]["name"] == "papers"
        taken = await call("ingest_documents", path=str(tea_and_bread), collection="papers")
        assert (taken["added"], taken["failed"]) == (2, [])
        assert steps[-1] == (2, 2)
        found = await call("query_knowledge_base", query="how hot for bread", collections="papers")
        assert found["results"][0]["header_path"] == "Bread > Oven"
        assert found["results"][0]["source_document"] == "bread.md"  # its name, not its place on this machine
        await call("manage_projects", action="create")
        linked = await call("manage_projects", action="link")  # both are asked for
        assert linked["project"]["collections"] == ["papers"]
        await _check_project_defaults(call, read)

        assert [item["documents"] for item in await read("knowledge://collections")] == [2]
        documents = await read("knowledge://collections/papers/documents")
        assert [item["title"] for item in documents] == ["Bread", "Tea"]
        assert (await read(f"knowledge://documents/{documents[0]['id']}"))["source"].endswith("bread.md")
        assert {item["query"] for item in await read("knowledge://queries")} == {"how hot for bread"}
        with pytest.raises(MCPError, match="There is no collection 'nope'"):
            await read("knowledge://collections/nope/documents")
        assert {prompt.name for prompt in await mcp.list_prompts()} == {"refine_query", "extract_context"}
        prompt = await mcp.get_prompt("refine_query", {"query": "tea"})
        assert "tea" in prompt.messages[0].content.text

        await _check_refusals(mcp, tea_and_bread)
        gone = await call("manage_collections", action="delete", collection_name="papers")
        assert gone["action"] == "delete"
        assert await read("knowledge://collections") == []


async def _check_project_defaults(call: Any, read: Any) -> None:
    await call("manage_collections", action="create", collection_name="web", collection_type="fundamental")
    await call("augment_knowledge", content="Bake bread in a cold oven.", source="blog", collection="web")

    async def searched(**where: str) -> set[str]:
        found = await call("query_knowledge_base", query="how hot for bread", **where)
        return {hit["metadata"]["collection"] for hit in found["results"]}

    assert await searched() == {"papers", "web"}
    assert await searched(project_name="kitchen") == {"papers"}
    await call("manage_projects", action="link", project_name="kitchen", collections="web")
    await call("manage_projects", action="set-defaults", project_name="kitchen", collections="web")
    assert await searched(project_name="kitchen") == {"web"}
    assert await searched(project_name="kitchen", collections="papers") == {"papers"}  # named ones win
    [kitchen] = await read("knowledge://projects")
    assert kitchen["default_collections"] == ["web"]
    await call("manage_collections", action="delete", collection_name="web")


async def _check_refusals(mcp: Client[Any], tea_and_bread: Path) -> None:
    with (tea_and_bread / "huge.txt").open("wb") as file:
        file.truncate(1024**3)
    for tool, arguments, number, code in WRONG:
        sent = {key: value.replace("{}", str(tea_and_bread)) for key, value in arguments.items()}
        with pytest.raises(MCPError) as refused:
            await mcp.call_tool(tool, sent)
        error = refused.value.error
        assert (error.code, error.data["error_code"]) == (number, code), (tool, arguments)
        assert error.message == f"{error.data['details']} {error.data['guidance']}"
        assert "Traceback" not in str(error)
    with pytest.raises(MCPError) as unknown:
        await mcp.call_tool("no_such_tool", {})
    assert (unknown.value.error.code, unknown.value.error.data["details"]) == (
        -32602,
        "Unknown tool: no_such_tool",
    )
    assert "tools/list" in unknown.value.error.data["guidance"]
    # What no schema allows is a result for every tool, so that a model reads it.
    for tool, arguments in UNFIT:
        unfit = await mcp.call_tool_mcp(tool, arguments)
        assert (unfit.is_error, told(unfit)["error_code"]) == (True, "INVALID_ARGUMENTS")


@pytest.mark.req("KB-1-transport", "KB-1-format", "KB-7.1-jsonrpc", "KB-DEP-json")
@pytest.mark.req("KB-3.1", "KB-3.2", "KB-3.3", "KB-SEC", "KB-SEC-commands")
async def test_the_frames_are_those_of_the_document(environment: dict[str, str], tmp_path: Path) -> None:
    pwned = tmp_path / "pwned"
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "steward", "serve", "knowledge",
        env=environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None

    async def send(**frame: Any) -> dict[str, Any]:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        while frame.get("id"):
            answer = json.loads(await asyncio.wait_for(server.stdout.readline(), 60))
            if answer.get("id") == frame["id"]:
                return answer
        return {}

    async def call(number: str, tool: str, **arguments: Any) -> dict[str, Any]:
        return await send(id=number, method="tools/call", params={"name": tool, "arguments": arguments})

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    await send(id="hello", method="initialize", params=hello)
    await send(method="notifications/initialized")
    await call("make", "manage_collections", action="create", collection_name="papers")
    hostile = f"$(touch {pwned}); `touch {pwned}`"
    kept = await call("keep", "augment_knowledge", content=hostile, source=hostile, collection="papers")
    found = await call(
        "request-id", "query_knowledge_base", query=hostile, collections=None, top_k=10, document_context=None
    )
    refused = await call("refused", "query_knowledge_base", query=" ")
    server.stdin.close()
    await asyncio.wait_for(server.wait(), 60)
    assert set(found) == {"jsonrpc", "result", "id"}
    assert (found["jsonrpc"], found["result"]["content"][0]["type"]) == ("2.0", "text")
    assert found["result"]["content"][0]["text"].startswith("## Results for")
    assert set(refused) == {"jsonrpc", "error", "id"}
    assert (refused["error"]["code"], set(refused["error"])) == (-32004, {"code", "message", "data"})
    assert refused["error"]["data"]["details"] == "The query is empty."
    assert (kept["result"]["structuredContent"]["added"], pwned.exists()) == (1, False)


@pytest.mark.req("KB-5.1", "KB-5.2")
async def test_where_nobody_can_be_asked_what_is_missing_is_an_error_and_a_deletion_waits(
    environment: dict[str, str], tea_and_bread: Path
) -> None:
    async with Client(piped(environment)) as mcp:
        await mcp.call_tool("manage_collections", {"action": "create", "collection_name": "papers"})
        with pytest.raises(MCPError) as refused:
            await mcp.call_tool("manage_collections", {"action": "info"})
        assert (refused.value.error.code, refused.value.error.data["error_code"]) == (-32002, "KB_COLLECTION")
        for tool, arguments, number, code in NOTHING_TO_ASK:
            sent = {
                name: value.replace("{}", str(tea_and_bread)) if isinstance(value, str) else value
                for name, value in arguments.items()
            }
            with pytest.raises(MCPError) as nothing:
                await mcp.call_tool(tool, sent)
            error = nothing.value.error
            assert (error.code, error.data["error_code"]) == (number, code), (tool, arguments)
            assert error.message == f"{error.data['details']} {error.data['guidance']}"
        waits = await mcp.call_tool_mcp(
            "manage_collections", {"action": "delete", "collection_name": "papers"}
        )
        assert told(waits)["status"] == "pending_approval"
        listed = await mcp.call_tool("manage_collections", {"action": "list"})
        assert [item["name"] for item in listed.structured_content["collections"]] == ["papers"]


@pytest.mark.req("KB-5.1-32000", "KB-6.3-timeout", "KB-CFG-timeout", "KB-CFG-debug")
@pytest.mark.req("KB-CFG")
async def test_variables_set_the_time_limit_and_debugging(
    environment: dict[str, str], tmp_path: Path
) -> None:
    environment |= {"STEWARD_TIMEOUT": "0.000001", "STEWARD_DEBUG": "1"}
    errors = tmp_path / "stderr.txt"
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "steward", "serve", "knowledge"], env=environment
    )
    with errors.open("w") as log:
        async with stdio_client(parameters, errlog=log) as (read, write), ClientSession(read, write) as mcp:
            await mcp.initialize()
            with pytest.raises(MCPError) as late:
                await mcp.call_tool("query_knowledge_base", {"query": "tea"})
            assert late.value.error.code == -32000
            assert late.value.error.message == "The operation took too long. Ask for less."
    assert "agent_started agent=knowledge" in errors.read_text()  # silent without STEWARD_DEBUG


@pytest.mark.req("KB-5.1-32001", "KB-CFG-variables")
@pytest.mark.req("KB-CFG", "KB-5.1")
async def test_folders_that_are_not_there_are_a_configuration_error(
    environment: dict[str, str], tmp_path: Path
) -> None:
    environment["STEWARD_ALLOWED_ROOTS"] = str(tmp_path / "nowhere")
    async with Client(piped(environment)) as mcp:
        await mcp.call_tool("manage_collections", {"action": "create", "collection_name": "papers"})
        with pytest.raises(MCPError) as refused:
            await mcp.call_tool("ingest_documents", {"path": str(tmp_path), "collection": "papers"})
    assert (refused.value.error.code, refused.value.error.data["error_code"]) == (-32001, "KB_CONFIGURATION")
    assert "STEWARD_ALLOWED_ROOTS" in refused.value.error.data["guidance"]
