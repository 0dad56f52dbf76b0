"""The knowledge server as clients meet it: in memory in both eras, and over stdio with the official SDK."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastmcp import Client, FastMCP
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from tests.library import open_base

from steward.servers.knowledge import build
from steward.storage.postgres import Database

TOOLS = {
    "query_knowledge_base": {"query", "collections", "top_k", "document_context"},
    "manage_collections": {"action", "collection_name", "collection_type", "project_name"},
    "ingest_documents": {"path", "collection", "recursive", "remove_missing"},  # the last one is ours
    "manage_projects": {"action", "project_name", "collections"},
    "augment_knowledge": {"content", "source", "collection", "title"},
}


@pytest.fixture
async def server(database: Database, tea_and_bread: Path) -> AsyncIterator[FastMCP]:
    async with open_base(database, [tea_and_bread]) as base:
        yield build(base)


async def answer(_message: str, _kind: Any, _params: Any, _context: Any) -> dict[str, str]:
    return {"value": "papers"}


@pytest.mark.req("KB-2.1", "KB-3.1", "KB-6.1", "KB-7.1")
async def test_five_tools_take_exactly_their_parameters(server: FastMCP) -> None:
    async with Client(server) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert {name: set(tool.input_schema["properties"]) for name, tool in tools.items()} == TOOLS
    assert {name: set(tool.input_schema["required"]) for name, tool in tools.items()} == {
        "query_knowledge_base": {"query"},
        "manage_collections": {"action"},
        "ingest_documents": {"path", "collection"},
        "manage_projects": {"action"},
        "augment_knowledge": {"content", "source", "collection"},
    }


@pytest.mark.req("KB-3.2", "KB-4.1", "KB-4.2", "KB-4.3", "KB-4.4", "KB-4.5", "KB-6.2", "KB-6.3")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_library_from_nothing_to_an_answer(server: FastMCP, tea_and_bread: Path, mode: Any) -> None:
    steps: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _message: str | None) -> None:
        steps.append((done, total))

    async with Client(server, mode=mode, elicitation_handler=answer, progress_handler=progress) as client:
        created = await client.call_tool("manage_collections", {"action": "create"})  # the name is asked for
        assert created.structured_content["collection"]["name"] == "papers"
        taken = await client.call_tool(
            "ingest_documents", {"path": str(tea_and_bread), "collection": "papers"}
        )
        assert taken.structured_content["added"] == 2
        assert steps[-1] == (2, 2)
        await client.call_tool(
            "augment_knowledge",
            {"content": "Honey keeps for centuries.", "source": "web", "collection": "papers"},
        )
        found = await client.call_tool("query_knowledge_base", {"query": "how hot for bread", "top_k": 2})
        data = found.structured_content
        first = data["results"][0]
        assert set(first) == {
            *("content", "relevance_score", "relevance_label", "source_document", "header_path", "metadata")
        }
        assert (first["header_path"], first["metadata"]["document_title"]) == ("Bread > Oven", "Bread")
        assert (first["metadata"]["content_type"], first["metadata"]["chunk_sequence_id"]) == ("prose", 0)
        assert (data["status"], data["query_refinement"]["status"]) == ("success", "optimal")
        assert found.content[0].text.startswith("## Results for “how hot for bread”\n\n### 1. Bread > Oven")
        project = await client.call_tool(
            "manage_projects", {"action": "create", "project_name": "kitchen", "collections": "papers"}
        )
        assert project.structured_content["project"] == {
            "name": "kitchen",
            "collections": ["papers"],
            "default_collections": [],
        }
        listed = await client.call_tool("manage_collections", {"action": "list"})
        assert [item["documents"] for item in listed.structured_content["collections"]] == [3]
        gone = await client.call_tool("manage_collections", {"action": "delete", "collection_name": "papers"})
        assert gone.structured_content["action"] == "delete"


@pytest.mark.req("KB-2.2", "KB-2.3")
async def test_resources_and_prompts(server: FastMCP, tea_and_bread: Path) -> None:
    async with Client(server) as client:
        await client.call_tool("manage_collections", {"action": "create", "collection_name": "papers"})
        await client.call_tool("ingest_documents", {"path": str(tea_and_bread), "collection": "papers"})
        await client.call_tool("query_knowledge_base", {"query": "tea"})

        async def read(uri: str) -> Any:
            return orjson.loads((await client.read_resource(uri))[0].text)

        assert [item["name"] for item in await read("knowledge://collections")] == ["papers"]
        documents = await read("knowledge://collections/papers/documents")
        assert [item["title"] for item in documents] == ["Bread", "Tea"]
        assert (await read(f"knowledge://documents/{documents[0]['id']}"))["chunks"] == 1
        assert [item["query"] for item in await read("knowledge://queries")] == ["tea"]
        assert {prompt.name for prompt in await client.list_prompts()} == {"refine_query", "extract_context"}
        refined = await client.get_prompt("refine_query", {"query": "tea"})
        assert "tea" in refined.messages[0].content.text


@pytest.mark.req("KB-3.3", "KB-5.1", "KB-5.2", "KB-SEC")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("query_knowledge_base", {"query": " "}, -32004),
        ("query_knowledge_base", {"query": "x", "collections": "nope"}, -32002),
        ("manage_collections", {"action": "create", "collection_name": "a/../b"}, -32002),
        ("manage_collections", {"action": "info"}, -32002),
        ("ingest_documents", {"path": "/etc/passwd", "collection": "papers"}, -32003),
        ("ingest_documents", {"path": "library/none.md", "collection": "papers"}, -32003),
        ("augment_knowledge", {"content": "", "source": "x", "collection": "papers"}, -32003),
        ("manage_collections", {"action": "explode"}, -32602),
        ("query_knowledge_base", {}, -32602),
        ("no_such_tool", {}, -32602),
    ],
)
async def test_errors_keep_their_code_and_say_what_to_do(
    server: FastMCP, tool: str, arguments: dict[str, Any], code: int, mode: Any
) -> None:
    async with Client(server, mode=mode) as client:
        await client.call_tool("manage_collections", {"action": "create", "collection_name": "papers"})
        with pytest.raises(MCPError) as refused:
            await client.call_tool(tool, arguments)
    assert refused.value.error.code == code
    assert refused.value.error.data["details"]
    assert "Traceback" not in str(refused.value.error.data)


@pytest.mark.req("KB-1", "KB-7.1", "KB-7.2", "KB-CFG")
async def test_the_official_client_works_over_stdio(
    postgres: Any, tea_and_bread: Path, tmp_path: Path
) -> None:
    async with postgres.database_url() as url:
        environment = {
            **os.environ,
            "STEWARD_HOME": str(tmp_path / "home"),
            "DATABASE_URL": url,
            "STEWARD_ALLOWED_ROOTS": str(tea_and_bread),
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        }
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "steward", "serve", "knowledge"], env=environment
        )
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            assert {tool.name for tool in (await session.list_tools()).tools} == set(TOOLS)
            await session.call_tool("manage_collections", {"action": "create", "collection_name": "papers"})
            await session.call_tool("ingest_documents", {"path": str(tea_and_bread), "collection": "papers"})
            found = await session.call_tool("query_knowledge_base", {"query": "how is tea brewed"})
            assert found.structured_content is not None
            assert found.structured_content["results"][0]["header_path"] == "Tea > Brewing"
            with pytest.raises(MCPError) as refused:
                await session.call_tool("query_knowledge_base", {"query": ""})
            assert refused.value.error.code == -32004
