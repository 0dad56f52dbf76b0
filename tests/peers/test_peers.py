"""Real servers behind the door and real clients in front of the gateway."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from tests.peers.setup import FIXTURES, Meeting, installed, meeting, npm, own, pypi, server
from tests.support.deciders import deciding
from tests.support.gateway_setup import told

from steward.contract.call import Caller, CallerKind, Done, PendingApproval, ToolCall
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import state_name
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


async def through_both(met: Meeting, tool: str, **arguments: Any) -> str:
    """The same call through the door itself and through the gateway; both must say the same."""
    caller = Caller(CallerKind.SYSTEM, "test")
    direct = await met.orchestrator.execute(ToolCall(tool=tool, arguments=arguments, caller=caller))
    assert isinstance(direct, Done), direct
    async with Client(met.url) as mcp:
        answer = await mcp.call_tool_mcp(tool, arguments)
    assert not answer.is_error
    return answer.content[0].text


@pytest.mark.req("RES-FR-007", "ORC-US2.1", "ORC-US2.2")
async def test_the_filesystem_server_reads_and_asks_before_it_writes(tmp_path: Path):
    (tmp_path / "note.txt").write_text("hello", encoding="utf-8")
    command = [*npm("@modelcontextprotocol/server-filesystem", "dist/index.js"), str(tmp_path)]
    async with meeting(server("fs", command)) as met:
        path = str(tmp_path / "note.txt")
        assert await through_both(met, "fs__read_text_file", path=path) == "hello"
        async with Client(met.url) as mcp:
            change = {"path": str(tmp_path / "new.txt"), "content": "x"}
            waiting = await mcp.call_tool_mcp("fs__write_file", change)
        assert told(waiting)["status"] == "pending_approval"
        assert not (tmp_path / "new.txt").exists()
        person = Caller(CallerKind.PERSON, "me")
        proposal = told(waiting)["proposal_id"]
        await met.orchestrator.approvals.approve(proposal, by=deciding(person.id))
        assert (tmp_path / "new.txt").read_text() == "x"


async def test_the_everything_server_gives_tools_resources_and_prompts():
    command = npm("@modelcontextprotocol/server-everything", "dist/index.js")
    async with meeting(server("every", command)) as met:
        assert "hi" in await through_both(met, "every__echo", message="hi")
        async with Client(met.url) as mcp:
            prompts = [prompt.name for prompt in await mcp.list_prompts()]
            resources = await mcp.list_resources()
            assert prompts
            assert all(name.startswith("every__") for name in prompts)
            assert await mcp.read_resource(str(resources[0].uri))


async def test_the_memory_server_keeps_what_a_person_agreed_to(tmp_path: Path):
    command = npm("@modelcontextprotocol/server-memory", "dist/index.js")
    config = ServerConfig(
        name="memory",
        namespace="memory",
        trusted=True,
        timeout=20,
        transport=StdioTransport(
            command=command[0],
            args=tuple(command[1:]),
            env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")},
        ),
    )

    async def yes(message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, bool]:
        return {"approve": True}

    entity = {"name": "Ada", "entityType": "person", "observations": ["writes programs"]}
    async with meeting(config) as met:
        async with Client(met.url, elicitation_handler=yes) as mcp:
            made = await mcp.call_tool_mcp("memory__create_entities", {"entities": [entity]})
            assert not made.is_error, made
        assert "writes programs" in await through_both(met, "memory__read_graph")
        states = [state_name(each.state) for each in (await met.proposals.list()).items]
        assert states in (["finished"], [])


@pytest.mark.req("RES-FR-008")
async def test_the_time_server_tells_the_time():
    async with meeting(server("clock", pypi("servers", "mcp-server-time"))) as met:
        text = await through_both(met, "clock__get_current_time", timezone="Europe/Berlin")
        assert json.loads(text)["timezone"] == "Europe/Berlin"


async def test_the_git_server_reads_a_repository_and_asks_before_it_commits(tmp_path: Path):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@y"]
    await printed(*git, "init", "-q")
    (tmp_path / "a.txt").write_text("a")
    await printed(*git, "add", ".")
    await printed(*git, "commit", "-q", "-m", "First step")
    command = [*pypi("servers", "mcp-server-git"), "--repository", str(tmp_path)]
    async with meeting(server("git", command)) as met:
        assert "First step" in await through_both(met, "git__git_log", repo_path=str(tmp_path))
        call = ToolCall(
            tool="git__git_reset",
            arguments={"repo_path": str(tmp_path)},
            caller=Caller(CallerKind.CLIENT, "test"),
        )
        assert isinstance(await met.orchestrator.execute(call), PendingApproval)


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body><article><h1>Bees</h1><p>Scouts dance.</p></article></body></html>")

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def page() -> Iterator[str]:
    site = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{site.server_port}/bees"
    site.shutdown()
    site.server_close()
    thread.join()


async def test_the_fetch_server_reads_a_page_of_this_machine(page: str):
    command = [*pypi("servers", "mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"]
    config = replace(server("web", command), risk=(("fetch", RiskLevel.REVERSIBLE),))
    async with meeting(config) as met:
        assert "Scouts dance." in await through_both(met, "web__fetch", url=page)


# --- clients ---


async def printed(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")},
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode() + output.decode()
    return output.decode()


async def test_the_inspector_lists_and_calls_through_the_gateway():
    inspector = npm("@modelcontextprotocol/inspector", "clients/launcher/build/index.js")
    async with meeting(server("suite", own("conformance_server.py"), namespace="")) as met:
        there = [*inspector, "--cli", met.url, "--transport", "http"]
        listed = json.loads(await printed(*there, "--method", "tools/list"))
        assert "test_simple_text" in [tool["name"] for tool in listed["tools"]]
        call = ["--method", "tools/call", "--tool-name", "test_simple_text"]
        called = json.loads(await printed(*there, *call))
        assert called["content"][0]["text"] == "This is a simple text response for testing."


async def test_the_openai_agents_sdk_lists_and_calls_through_the_gateway():
    python = installed(Path(pypi("openai-agents", "python")[0]))
    async with meeting(server("suite", own("conformance_server.py"), namespace="")) as met:
        said = json.loads(await printed(python, str(FIXTURES / "openai_agents_client.py"), met.url))
        assert "test_simple_text" in said["tools"]
        assert said["text"] == "This is a simple text response for testing."
        assert said["pending"] is False
