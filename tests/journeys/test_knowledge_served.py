"""`steward serve knowledge` as an editor starts it: over a pipe, through the door, in both eras."""

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
    ("query_knowledge_base", {}, -32602, "INVALID_ARGUMENTS"),
    ("manage_collections", {"action": "create", "collection_name": "a/../b"}, -32002, "KB_COLLECTION"),
    ("manage_collections", {"action": "explode"}, -32602, "INVALID_ARGUMENTS"),
    ("ingest_documents", {"path": "/etc/passwd", "collection": "papers"}, -32003, "KB_PATH_FORBIDDEN"),
    ("ingest_documents", {"path": "{}/../../etc", "collection": "papers"}, -32003, "KB_PATH_FORBIDDEN"),
    ("ingest_documents", {"path": "{}/none.md", "collection": "papers"}, -32003, "KB_DOCUMENT"),
    ("ingest_documents", {"path": "{}/huge.txt", "collection": "papers"}, -32003, "KB_TOO_LARGE"),
    ("augment_knowledge", {"content": "", "source": "x", "collection": "papers"}, -32003, "KB_DOCUMENT"),
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


@ERAS
@pytest.mark.req("KB-1", "KB-2.1", "KB-2.2", "KB-2.3", "KB-5.1", "KB-5.2", "KB-6.2", "KB-6.3", "KB-SEC")
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
        await call("manage_projects", action="create")
        linked = await call("manage_projects", action="link")  # both are asked for
        assert linked["project"]["collections"] == ["papers"]

        assert [item["documents"] for item in await read("knowledge://collections")] == [2]
        documents = await read("knowledge://collections/papers/documents")
        assert [item["title"] for item in documents] == ["Bread", "Tea"]
        assert (await read(f"knowledge://documents/{documents[0]['id']}"))["source"].endswith("bread.md")
        assert [item["query"] for item in await read("knowledge://queries")] == ["how hot for bread"]
        with pytest.raises(MCPError, match="There is no collection 'nope'"):
            await read("knowledge://collections/nope/documents")
        assert {prompt.name for prompt in await mcp.list_prompts()} == {"refine_query", "extract_context"}
        prompt = await mcp.get_prompt("refine_query", {"query": "tea"})
        assert "tea" in prompt.messages[0].content.text

        await _check_refusals(mcp, tea_and_bread)
        gone = await call("manage_collections", action="delete", collection_name="papers")
        assert gone["action"] == "delete"
        assert await read("knowledge://collections") == []


async def _check_refusals(mcp: Client[Any], tea_and_bread: Path) -> None:
    with (tea_and_bread / "huge.txt").open("wb") as file:
        file.truncate(1024**3)
    for tool, arguments, number, code in WRONG:
        sent = {key: value.replace("{}", str(tea_and_bread)) for key, value in arguments.items()}
        with pytest.raises(MCPError) as refused:
            await mcp.call_tool(tool, sent)
        error = refused.value.error
        assert (error.code, error.data["error_code"]) == (number, code), (tool, arguments)
        assert error.message
        assert error.data["details"]
        assert error.data["guidance"]
        assert "Traceback" not in str(error)


async def test_where_nobody_can_be_asked_a_missing_name_is_an_error_and_a_deletion_waits(
    environment: dict[str, str],
) -> None:
    async with Client(piped(environment)) as mcp:
        await mcp.call_tool("manage_collections", {"action": "create", "collection_name": "papers"})
        with pytest.raises(MCPError) as refused:
            await mcp.call_tool("manage_collections", {"action": "info"})
        assert (refused.value.error.code, refused.value.error.data["error_code"]) == (-32002, "KB_COLLECTION")
        waits = await mcp.call_tool_mcp(
            "manage_collections", {"action": "delete", "collection_name": "papers"}
        )
        assert waits.structured_content["status"] == "pending_approval"
        listed = await mcp.call_tool("manage_collections", {"action": "list"})
        assert [item["name"] for item in listed.structured_content["collections"]] == ["papers"]


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
            assert late.value.error.message == "The operation took too long."
    assert "agent_started agent=knowledge" in errors.read_text()  # silent without STEWARD_DEBUG


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
