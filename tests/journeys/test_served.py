"""Steward's tools in other people's clients: served over a pipe and over HTTP, as a user starts them."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from tests.support.owner import owner_headers

SERVER = Path(__file__).parents[1] / "servers" / "raw.py"
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])


@pytest.fixture
def environment(tmp_path: Path, database_url: str) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "note.txt").write_text("hello")
    return {
        **os.environ,
        "STEWARD_HOME": str(tmp_path / "home"),
        "STEWARD_ALLOWED_ROOTS": str(tmp_path / "open"),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }


def piped(environment: dict[str, str], *arguments: str) -> StdioTransport:
    command = ["-m", "steward", "serve", *arguments]
    return StdioTransport(sys.executable, command, env=environment, keep_alive=False)


def keyed(environment: dict[str, str], url: str) -> StreamableHttpTransport:
    """With the owner's token, as the owner would paste it."""
    headers: Any = owner_headers(Path(environment["STEWARD_HOME"]))
    return StreamableHttpTransport(url, headers=headers)


@asynccontextmanager
async def started(environment: dict[str, str], *arguments: str) -> AsyncIterator[str]:
    """A Steward that serves over HTTP; gives its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "steward",
        *arguments,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(100):
            said = ""
            while not (found := re.search(r"(http://127\.0\.0\.1:\d+)", said)):
                line = (await process.stdout.readline()).decode()
                assert line, f"it ended: {said}"
                said += line
        yield found[1]
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(30):
            await process.communicate()


@ERAS
@pytest.mark.req("RES-FR-006", "RES-FR-007", "RES-FR-008", "ORC-Q19")
async def test_the_gateway_over_a_pipe_tells_time_reads_and_says_when_it_cannot_search(
    environment: dict[str, str], era: str
) -> None:
    environment["WEBSEARCH_ENGINE"] = "http://127.0.0.1:9/search"
    async with Client(piped(environment, "gateway"), mode=era) as mcp:
        names = {tool.name for tool in await mcp.list_tools()}
        assert {"get_current_time", "web_search", "read_file"} <= names
        time = await mcp.call_tool_mcp("get_current_time", {"timezone": "Asia/Tokyo"})
        assert time.structured_content["timezone"] == "Asia/Tokyo"
        read = await mcp.call_tool_mcp("read_file", {"path": "note.txt"})
        assert read.structured_content == {"result": "hello"}
        searched = await mcp.call_tool_mcp("search_web", {"query": "x"})
        assert searched.is_error
        assert "127.0.0.1:9" in searched.content[0].text


@pytest.mark.parametrize(("part", "tool"), [("time", "get_current_time"), ("files", "read_file")])
async def test_a_part_is_served_alone(environment: dict[str, str], part: str, tool: str) -> None:
    async with Client(piped(environment, part)) as mcp:
        names = [each.name for each in await mcp.list_tools()]
    assert tool in names
    assert "save_fact" not in names


async def test_a_server_of_mcp_json_is_served_under_its_own_name(environment: dict[str, str]) -> None:
    config = {"mcpServers": {"notes": {"command": sys.executable, "args": [str(SERVER)]}}}
    (Path(environment["STEWARD_HOME"]) / "mcp.json").write_text(json.dumps(config))
    async with Client(piped(environment, "notes")) as mcp:
        names = [each.name for each in await mcp.list_tools()]
    assert names
    assert all(name.startswith("notes__") for name in names)


async def test_what_does_not_exist_is_not_served(environment: dict[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "steward", "serve", "nothing", env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert "nothing to serve under 'nothing'" in errors.decode()


@ERAS
async def test_steward_up_serves_the_gateway_beside_the_api(environment: dict[str, str], era: str) -> None:
    async with started(environment, "up", "--port", "0") as url:
        async with Client(keyed(environment, f"{url}/mcp"), mode=era) as mcp:
            answer = await mcp.call_tool_mcp("get_current_time", {})
            assert answer.structured_content["timezone"] == "UTC"
        async with Client(keyed(environment, f"{url}/mcp/time"), mode=era) as mcp:
            assert [tool.name for tool in await mcp.list_tools()] == ["get_current_time"]


@pytest.mark.req("TODO-TOOL-1", "TODO-MTR-002", "TODO-ENT-User")
async def test_a_part_served_alone_asks_for_a_key_and_tasks_for_their_user(
    environment: dict[str, str],
) -> None:
    async with started(environment, "serve", "tasks", "--http", "0") as url:
        with pytest.raises(Exception, match="A key is needed"):
            async with Client(f"{url}/mcp") as mcp:
                await mcp.list_tools()
        async with Client(keyed(environment, f"{url}/mcp")) as mcp:
            assert len(await mcp.list_tools()) == 5
            nobodys = await mcp.call_tool_mcp("add_task", {"title": "Buy milk"})
            own = await mcp.call_tool_mcp("add_task", {"user_id": "local", "title": "Buy milk"})
    assert nobodys.structured_content["code"] == "INVALID_USER"
    assert own.structured_content["success"] is True


@pytest.mark.req("TODO-TOOL-4-TASK_NOT_FOUND", "TODO-TOOL-4-INVALID_USER")
@pytest.mark.parametrize(("options", "left"), [((), 1), (("--client-confirms",), 0)])
async def test_the_task_server_asks_before_it_deletes_unless_the_client_confirms(
    environment: dict[str, str], options: tuple[str, ...], left: int
) -> None:
    me = {"user_id": "local"}
    async with Client(piped(environment, "tasks", *options)) as mcp:
        wanted = [tool.input_schema["required"] for tool in await mcp.list_tools()]
        assert ["user_id" in names for names in wanted] == [True] * 5
        nobodys = await mcp.call_tool_mcp("add_task", {"title": "Buy milk"})
        assert nobodys.structured_content["code"] == "INVALID_USER"
        made = await mcp.call_tool_mcp("add_task", {**me, "title": "Buy milk"})
        task = made.structured_content["task"]["id"]
        nowhere = await mcp.call_tool_mcp("delete_task", {**me, "task_id": "task_nowhere"})
        nobody = await mcp.call_tool_mcp("delete_task", {"user_id": "nobody", "task_id": task})
        deleted = await mcp.call_tool_mcp("delete_task", {**me, "task_id": task})
        listed = await mcp.call_tool_mcp("list_tasks", me)
    refused = [each.structured_content for each in (nowhere, nobody)]
    assert [(each["code"], each["message"]) for each in refused] == [
        ("TASK_NOT_FOUND", "Task not found"),  # there is nothing that a person need agree to
        ("INVALID_USER", "User not found"),
    ]
    assert deleted.is_error is bool(left)
    assert len(listed.structured_content["tasks"]) == left
    if left:
        assert deleted.structured_content["code"] == "CONFIRMATION_REQUIRED"
