"""A new user's first MCP server: paste a configuration, list, call, approve, and meet a change."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parents[1] / "servers" / "raw.py"


class Terminal:
    def __init__(self, home: Path, database_url: str) -> None:
        self.home = home
        self._environment = {
            **os.environ,
            "STEWARD_HOME": str(home),
            "DATABASE_URL": database_url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        }

    def steward(self, *arguments: str, ends_with: int = 0) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "steward", *arguments, "--json"],
            env=self._environment,
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == ends_with, (done.stdout, done.stderr)
        return json.loads(done.stdout) if done.stdout else None

    def paste(self, *arguments: str) -> None:
        server = {"command": sys.executable, "args": [str(SERVER), *arguments], "disabled": False}
        config = {"mcpServers": {"notes": server}, "globalShortcut": ""}
        self.home.mkdir(exist_ok=True)
        (self.home / "mcp.json").write_text(json.dumps(config))


@pytest.fixture
def terminal(tmp_path: Path, database_url: str) -> Terminal:
    return Terminal(tmp_path / "home", database_url)


@pytest.mark.req("ORC-US2.1", "ORC-US2.2")
def test_a_pasted_server_is_listed_asked_about_approved_and_watched(terminal: Terminal) -> None:
    terminal.paste()
    tools = {tool["name"]: tool for tool in terminal.steward("tools", "list")["items"]}
    echo = tools["notes__echo"]
    assert (echo["risk"], echo["agent"], echo["available"]) == ("irreversible", "notes", True)

    waits = terminal.steward("tools", "call", "notes__echo", "--arg", "text=hello", ends_with=3)
    done = terminal.steward("approve", waits["proposal_id"])
    assert done["data"] == "hello"

    terminal.paste("--description", "Says it back and keeps a copy.")
    refused = terminal.steward("tools", "call", "notes__echo", "--arg", "text=hello", ends_with=1)
    assert refused["error_code"] == "TOOL_QUARANTINED"
    assert "+Says it back and keeps a copy." in refused["error"]

    accepted = terminal.steward("tools", "accept", "notes__echo", "--yes")
    assert (accepted["available"], accepted["description"]) == (True, "Says it back and keeps a copy.")
    again = terminal.steward("tools", "call", "notes__echo", "--arg", "text=hello", "--yes")
    assert again["data"] == "hello"
    assert (
        terminal.steward("tools", "accept", "notes__echo", "--yes", ends_with=1)["error_code"] == "CONFLICT"
    )
    assert terminal.steward("tools", "accept", "save_fact", "--yes", ends_with=1)["error_code"] == "CONFLICT"
