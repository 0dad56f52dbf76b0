"""The knowledge server as clients meet it: in memory in both eras, and over stdio with the official SDK."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import FunctionTool
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from tests.support.library import open_base

from steward.knowledge.service import KnowledgeBase
from steward.servers.knowledge import build
from steward.storage.database.postgres import Database

TOOLS = {
    "query_knowledge_base": {"query", "collections", "top_k", "document_context", "project_name"},  # ours
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


@pytest.mark.req("KB-4.1-IN", "KB-4.2-IN", "KB-4.3-IN", "KB-4.4-IN", "KB-4.5-IN", "KB-DEP")
@pytest.mark.req("KB-2.1", "KB-3.1", "KB-6.1", "KB-7.1", "KB-7.1-schemas")
async def test_five_tools_take_exactly_their_parameters(server: FastMCP) -> None:
    async with Client(server) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert {name: set(tool.input_schema["properties"]) for name, tool in tools.items()} == TOOLS
    types = {
        name: schema.get("type") or [each["type"] for each in schema["anyOf"]]
        for name, schema in tools["query_knowledge_base"].input_schema["properties"].items()
    }
    assert types == {
        "query": "string",
        "collections": ["string", "null"],
        "top_k": "integer",
        "document_context": ["string", "null"],
        "project_name": ["string", "null"],
    }
    assert {name: set(tool.input_schema["required"]) for name, tool in tools.items()} == {
        "query_knowledge_base": {"query"},
        "manage_collections": {"action"},
        "ingest_documents": {"path", "collection"},
        "manage_projects": {"action"},
        "augment_knowledge": {"content", "source", "collection"},
    }


@pytest.mark.req("KB-1-framework", "KB-6.1-decorators", "KB-DEP-fastmcp")
async def test_the_tools_are_functions_that_fastmcp_decorated(server: FastMCP) -> None:
    tools = await server.list_tools()
    assert {tool.name for tool in tools if isinstance(tool, FunctionTool)} == set(TOOLS)
    assert isinstance(server, FastMCP)


@pytest.mark.req("KB-4.1-OUT", "KB-6.3-progress", "KB-7.2-responses")
@pytest.mark.req("KB-4.1-IN", "KB-4.2-IN", "KB-4.3-IN", "KB-4.4-IN", "KB-4.5-IN")
@pytest.mark.req("KB-4.2-delete", "KB-6.2-interactive")
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


TEXT = """# Kettle
Water for green tea has eighty degrees.

## Code
```python
def boil(kettle):
    return kettle.heat(80)
```

## Table
| tea | degrees |
|---|---|
| sencha | 70 |
| gyokuro | 60 |
"""


@pytest.mark.req("KB-4.1-types", "KB-4.1-labels", "KB-6.2-feedback", "KB-4.1-refinement")
async def test_a_passage_says_what_it_is_and_how_well_it_fits(server: FastMCP) -> None:
    kept = {"content": TEXT, "source": "kettle", "collection": "papers", "title": "Kettle"}
    async with Client(server) as client:
        created = {"action": "create", "collection_name": "papers", "collection_type": "fundamental"}
        await client.call_tool("manage_collections", created)
        await client.call_tool("augment_knowledge", kept)
        asked = ("how hot is water for green tea", "boil kettle heat code", "degrees of sencha and gyokuro")
        found = [
            (await client.call_tool("query_knowledge_base", {"query": each})).structured_content
            for each in asked
        ]
    types = {hit["metadata"]["content_type"] for each in found for hit in each["results"]}
    first = found[0]["results"][0]
    assert types == {"prose", "code_block", "table"}
    assert (first["relevance_label"], first["metadata"]["document_title"]) == ("Highly Relevant", "Kettle")
    assert {"status", "suggestions", "message"} == set(found[0]["query_refinement"])


@pytest.mark.req("KB-4.2-create", "KB-4.2-list", "KB-4.2-info", "KB-6.3-simple")
async def test_collections_are_managed_at_once(server: FastMCP) -> None:
    async with Client(server) as client, asyncio.timeout(5):
        for name, kind in (("papers", "fundamental"), ("tea", "project-specific")):
            created = {"action": "create", "collection_name": name, "collection_type": kind}
            await client.call_tool("manage_collections", created)
        told = await client.call_tool("manage_collections", {"action": "info", "collection_name": "tea"})
        listed = await client.call_tool("manage_collections", {"action": "list"})
    shown = {each["name"]: each["type"] for each in listed.structured_content["collections"]}
    assert shown == {"papers": "fundamental", "tea": "project-specific"}
    assert told.structured_content["collection"]["type"] == "project-specific"


@pytest.mark.req("KB-2.2", "KB-2.3", "KB-2.2-collections", "KB-2.2-documents", "KB-2.2-queries")
@pytest.mark.req("KB-2.3-refinement", "KB-2.3-context")
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


@pytest.mark.req("KB-5.2-format", "KB-5.2-code", "KB-5.2-message", "KB-5.2-guidance", "KB-6.1-validation")
@pytest.mark.req("KB-7.1-errors", "KB-SEC-messages")
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
        ("query_knowledge_base", {"query": "x", "top_k": "many"}, -32602),
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
    assert refused.value.error.message.endswith(refused.value.error.data["guidance"])
    assert "Traceback" not in str(refused.value.error.data)


class Broken:
    async def query(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("psycopg: password=hunter2 at /home/ana/steward")


@pytest.mark.req("KB-5.1-32000", "KB-3.3", "KB-SEC-messages", "KB-DEP-logging")
async def test_a_failure_of_the_inside_is_general_to_the_client_and_whole_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        async with Client(build(cast("KnowledgeBase", Broken()))) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("query_knowledge_base", {"query": "tea"})
    error = refused.value.error
    assert (error.code, error.message.startswith("Tool execution failed.")) == (-32000, True)
    assert ("hunter2" in str(error), "/home/ana" in str(error)) == (False, False)
    assert ("hunter2" in caplog.text, error.data["guidance"]) == (
        True,
        "Look into Steward's log for the cause.",
    )


@pytest.mark.req("KB-6.1-stdio", "KB-7.1-stdio")
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
