"""What the README shows is what happens: its commands, run as a reader runs them."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from tests.support.readme import README, mentioned, shown
from tests.support.running import steward_up

from steward.surfaces.cli.app import app
from steward.surfaces.cli.library.knowledge import app as research_agent

ROOT = README.parent


@pytest.mark.timeout(600)
async def test_the_readmes_commands_do_what_it_says(tmp_path: Path, database_url: str) -> None:
    commands = Path(sys.executable).parent
    environment = os.environ | {
        "STEWARD_HOME": str(tmp_path / "home"),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        "PATH": f"{commands}:{os.environ['PATH']}",
    }
    seen = {"ID": "", "CONVERSATION": ""}  # what a reader copies from the output before
    async with steward_up(tmp_path, database_url, STEWARD_ALLOWED_ROOTS=str(ROOT)):
        for step in shown():
            ran = await asyncio.create_subprocess_exec(
                *("bash", "-c", re.sub(r"\b(ID|CONVERSATION)\b", lambda word: seen[word[0]], step.command)),
                env=environment, cwd=ROOT, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            said = (await ran.communicate())[0].decode()
            assert (ran.returncode, step.promises(said)) == (step.exit_code, []), f"$ {step.command}\n{said}"
            for word, where in (("ID", r"steward approve (\w+)"), ("CONVERSATION", r"--conversation (\w+)")):
                if found := re.search(where, said):
                    seen[word] = found[1]


@pytest.mark.timeout(240)
async def test_the_readmes_entry_connects_a_client(tmp_path: Path, database_url: str) -> None:
    """As Cursor and Claude do: they start the program that the entry names, here by its full path."""
    (written,) = re.findall(r"```json\n(.+?)\n```", README.read_text(encoding="utf-8"), re.DOTALL)
    server = json.loads(written)["mcpServers"]["steward"]
    environment = {
        "STEWARD_HOME": str(tmp_path / "home"),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }
    command = str(Path(sys.executable).parent / server["command"])
    started = StdioTransport(command, server["args"], env=environment, keep_alive=False)
    async with Client(started) as client:
        tools = {tool.name for tool in await client.list_tools()}
        told = await client.call_tool("get_current_time", {"timezone": "Asia/Tokyo"})
    assert {"add_task", "query_knowledge_base", "web_search"} <= tools
    assert told.structured_content["timezone"] == "Asia/Tokyo"


def test_every_command_that_the_readme_mentions_exists() -> None:
    from typer.main import get_command  # noqa: PLC0415 - Typer's own, for this look only

    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    unknown: list[str] = []
    for line in mentioned():
        program, *words = line.split()
        if program == "make":
            unknown += [] if words[0] in targets else [line]
            continue
        command = get_command(app if program == "steward" else research_agent)
        while (inner := getattr(command, "commands", None)) and words and words[0] in inner:
            command = inner[words.pop(0)]
        if getattr(command, "commands", None) and not getattr(command, "invoke_without_command", False):
            unknown.append(line)
    assert unknown == []


def test_every_row_of_promises_has_a_command_beside_it() -> None:
    table = README.read_text(encoding="utf-8").partition("| promise | see it |")[2].split("\n\n")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and "---" not in row]
    assert len(rows) >= 7
    assert [row for row in rows if not re.search(r"`(steward|make) [^`]+`", row)] == []
