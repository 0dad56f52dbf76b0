"""`steward serve tasks` over stdio, driven by the official SDK's client in both eras of the protocol."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from steward.contract.schema import compile_schema

PROGRAM = Path(__file__).parent.parent / "programs" / "serve_tasks.py"


@asynccontextmanager
async def connected(database_url: str, home: Path, mode: str) -> AsyncIterator[Client]:
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "STEWARD_HOME": str(home),
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }
    server = StdioServerParameters(command=sys.executable, args=[str(PROGRAM)], env=environment)
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is not None
    assert bool(result.is_error) == (not result.structured_content["success"])
    return result.structured_content


@pytest.mark.req("TODO-TOOL-1", "TODO-TOOL-2", "TODO-TOOL-3", "TODO-TOOL-4", "TODO-TOOL-5")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tasks_life_through_the_official_client(database_url: str, tmp_path: Path, mode: str) -> None:
    async with connected(database_url, tmp_path, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        added = await ask(client, "add_task", user_id="ana", title="buy milk", due_date="2027-03-01")
        task_id = added["task"]["id"]
        moved = await ask(client, "update_task", user_id="ana", task_id=task_id, priority="high")
        stolen = await ask(client, "complete_task", user_id="bob", task_id=task_id)
        done = await ask(client, "complete_task", user_id="ana", task_id=task_id)
        listed = await ask(client, "list_tasks", user_id="ana", completed=True)
        gone = await ask(client, "delete_task", user_id="ana", task_id=task_id)
        missing = await ask(client, "add_task", user_id="ana")
        nobody = await ask(client, "list_tasks", user_id="nobody")
    assert moved["changes"] == ["priority"]
    assert (stolen["code"], missing["code"], nobody["code"]) == (
        "UNAUTHORIZED",
        "INVALID_TITLE",
        "INVALID_USER",
    )
    assert (done["task"]["completed"], gone["deleted_task"]) == (True, {"id": task_id, "title": "buy milk"})
    assert [task["id"] for task in listed["tasks"]] == [task_id]
    assert tools.keys() == {"add_task", "list_tasks", "complete_task", "delete_task", "update_task"}
    for name, answer in (("add_task", added), ("list_tasks", listed), ("delete_task", gone)):
        assert compile_schema(tools[name].output_schema or {}).problems(answer) == ()


@pytest.mark.req("RES-ART-I.D", "TODO-PHASE-persistence", "TODO-PHASE-stateless")
@pytest.mark.req("TODO-MTR-001", "TODO-MTR-005")
async def test_two_servers_on_one_database_share_everything_and_remember_nothing(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        connected(database_url, tmp_path, "auto") as one,
        connected(database_url, tmp_path, "auto") as other,
    ):
        added = await ask(one, "add_task", user_id="ana", title="shared")
        completed = await ask(other, "complete_task", user_id="ana", task_id=added["task"]["id"])
        seen = await ask(one, "list_tasks", user_id="ana")
    assert completed["success"]
    assert [(task["title"], task["completed"]) for task in seen["tasks"]] == [("shared", True)]


@pytest.mark.req("TODO-TOOL-2")
async def test_the_text_of_an_answer_reads_well(database_url: str, tmp_path: Path) -> None:
    async with connected(database_url, tmp_path, "auto") as client:
        await ask(client, "add_task", user_id="ana", title="buy *milk*", priority="high")
        result = await client.call_tool("list_tasks", {"user_id": "ana"})
        refused = await client.call_tool("list_tasks", {"user_id": "ana", "limit": 0})
    lines = result.content[0].text.splitlines()  # type: ignore[union-attr]
    assert lines[0] == "Found 1 task."
    assert lines[2].startswith(r"1. **buy \*milk\*** (high priority) `task_")
    assert refused.content[0].text == "**INVALID_FILTER**: Invalid filter: limit must be 1-100"  # type: ignore[union-attr]
