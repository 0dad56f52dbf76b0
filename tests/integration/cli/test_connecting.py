"""`steward connect` and `steward open`: how other programs and a browser come in."""

import json
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from steward.surfaces.cli import opening
from steward.surfaces.cli.app import app
from steward.surfaces.cli.clients import CLIENTS, Access, piped

Run = Callable[..., Result]
ACCESS = Access("http://127.0.0.1:8700", "stw_0123456789ab_" + "x" * 43)


@pytest.fixture
def run(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_pasted_names_the_address_and_the_key(name: str) -> None:
    client = CLIENTS[name]
    paste = client.paste(ACCESS)
    assert (client.url(ACCESS) in paste, ACCESS.key in paste) == (True, True)


@pytest.mark.parametrize(
    ("name", "place"),
    [("cursor", "mcpServers"), ("claude", "mcpServers"), ("windsurf", "mcpServers"), ("gemini", "mcpServers"),
     ("vscode", "servers")],
)  # fmt: skip
def test_what_is_pasted_into_a_json_file_is_json(name: str, place: str) -> None:
    server = json.loads(CLIENTS[name].paste(ACCESS))[place]["steward"]
    assert server["headers"] == {"Authorization": f"Bearer {ACCESS.key}"}


def test_what_is_pasted_into_other_files_is_what_they_hold() -> None:
    codex = tomllib.loads(CLIENTS["codex"].paste(ACCESS))["mcp_servers"]["steward"]
    assert codex["http_headers"] == {"Authorization": f"Bearer {ACCESS.key}"}
    (librechat,) = yaml.safe_load(CLIENTS["librechat"].paste(ACCESS))["endpoints"]["custom"]
    assert (librechat["baseURL"], librechat["apiKey"]) == ("http://127.0.0.1:8700/v1", ACCESS.key)


def test_a_client_that_starts_its_servers_itself_needs_no_key() -> None:
    server = json.loads(piped("/bin/steward", "/home/ana/steward", "use"))["mcpServers"]["steward"]
    assert (server["command"], server["args"]) == ("/bin/steward", ["serve", "gateway", "--role", "use"])


@pytest.mark.req("KB-0", "KB-1-mode")
def test_each_client_gets_a_key_of_its_own_that_may_use_and_no_more(run: Run) -> None:
    first, second = (json.loads(run("connect", "Cursor", "--json").stdout) for _ in range(2))
    assert {"url", "api_key", "role", "paste"} <= first.keys()
    assert (first["url"], first["role"]) == ("http://127.0.0.1:8700/mcp", "use")
    assert (first["key"], second["key"], first["api_key"] != second["api_key"]) == (
        "cursor",
        "cursor-2",
        True,
    )
    keys = json.loads(run("keys", "list", "--json").stdout)["items"]
    assert {key["name"]: key["role"] for key in keys} == {"cursor": "use", "cursor-2": "use"}


def test_a_person_who_lets_a_client_say_yes_is_told_what_that_opens(run: Run) -> None:
    shown = run("connect", "open-webui", "--role", "approve")
    assert (shown.exit_code, "SAY YES" in shown.stderr, "SAY YES" in shown.stdout) == (0, True, False)
    assert "keys revoke open-webui" in shown.stderr


def test_a_desktop_client_is_told_what_its_role_opens(run: Run) -> None:
    shown = run("connect", "claude-desktop")
    assert ("never say yes" in shown.stderr, json.loads(shown.stdout)["mcpServers"].keys()) == (
        True,
        {"steward"},
    )
    told = json.loads(run("connect", "claude-desktop", "--json").stdout)
    assert (told["api_key"], told["role"]) == (None, "use")


@pytest.mark.parametrize(
    "command",
    [
        ("connect", "nothing"),
        ("connect", "claude-desktop", "--role", "king"),
        ("connect", "cursor", "--role", "king"),
    ],
)
def test_an_unknown_client_or_role_is_bad_usage(run: Run, command: tuple[str, ...]) -> None:
    result = run(*command, "--json")
    assert (result.exit_code, json.loads(result.stdout)["status"]) == (2, "failed")


def test_a_page_that_nobody_serves_is_not_opened(run: Run) -> None:
    result = run("open")
    assert (result.exit_code, "steward up" in result.stderr) == (1, True)


def test_a_browser_is_given_a_file_and_never_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(opening.webbrowser, "open", opened.append)
    opening.show("http://127.0.0.1:8700/sign-in?code=secret", tmp_path).join()
    file = tmp_path / opening.FILE
    assert (opened, stat.S_IMODE(file.stat().st_mode)) == ([file.as_uri()], 0o600)
    assert "url=http://127.0.0.1:8700/sign-in?code=secret" in file.read_text()


@pytest.mark.parametrize(
    ("told", "default", "terminal", "display", "opens"),
    [
        (None, True, True, ":0", True),
        (None, True, True, "", False),
        (None, True, False, ":0", False),
        (None, False, True, ":0", False),
        (False, True, True, ":0", False),
        (True, False, False, "", True),
    ],
)
def test_a_browser_is_opened_where_somebody_sits_in_front_of_one(
    monkeypatch: pytest.MonkeyPatch,
    *,
    told: bool | None,
    default: bool,
    terminal: bool,
    display: str,
    opens: bool,
) -> None:
    monkeypatch.setattr(opening.sys, "platform", "linux")
    monkeypatch.setattr(opening.sys, "stdout", type("Terminal", (), {"isatty": lambda _: terminal})())
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert opening.wanted(told, default=default) is opens
