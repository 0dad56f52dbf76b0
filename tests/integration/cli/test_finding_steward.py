"""How a command finds the Steward it talks to, and names what it asks for."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner, Result

from steward.settings import load_settings
from steward.storage import owner_token
from steward.surfaces.cli.app import app
from steward.surfaces.instance import FILE, Instance, announced, find_running, proof

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")
    (tmp_path / "home").mkdir()
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


class Answering(BaseHTTPRequestHandler):
    """Something else at that port: another home's Steward, or a stranger."""

    body = b""
    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.heard.append(self.headers.get("Authorization", ""))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer())

    def answer(self) -> bytes:
        return self.body

    def log_message(self, *_: object) -> None:
        return None


class Ours(Answering):
    """The Steward of this home: it proves that it knows the token."""

    token = ""
    told: ClassVar[dict[str, Any]] = {}

    def answer(self) -> bytes:
        challenge = parse_qs(urlsplit(self.path).query).get("challenge", [""])[0]
        return json.dumps(self.told | ({"proof": proof(self.token, challenge)} if challenge else {})).encode()


def serving(handler: type[Answering]) -> Iterator[int]:
    handler.heard.clear()
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def port() -> Iterator[int]:
    yield from serving(Answering)


@pytest.fixture
def own_port(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(Ours, "token", owner_token.ensure(load_settings().home))
    yield from serving(Ours)


OTHERS = proof("another home's token", "0" * 32)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"status": "ok", "proof": OTHERS}).encode(),
        b'{"status": "ok"}',
        b'{"proof": null}',
        '{"proof": "ä"}'.encode(),
        b"[1]",
        b"<html>hello</html>",
    ],
)
async def test_whoever_took_a_dead_instances_place_is_not_taken_for_it_and_told_nothing(
    run: Run, port: int, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answering, "body", body)
    settings = load_settings()
    owner_token.ensure(settings.home)
    left_behind = Instance(url=f"http://127.0.0.1:{port}", pid=os.getpid())
    with announced(settings, left_behind):
        assert await find_running(settings) is None
    assert Answering.heard == [""]


async def test_a_home_without_a_token_has_nothing_running(run: Run, port: int) -> None:
    with announced(load_settings(), Instance(url=f"http://127.0.0.1:{port}", pid=os.getpid())):
        assert await find_running(load_settings()) is None
    assert Answering.heard == []


async def test_the_instance_of_this_home_is_found_and_its_file_holds_nothing_secret(own_port: int) -> None:
    mine = Instance(url=f"http://127.0.0.1:{own_port}", pid=os.getpid())
    settings = load_settings()
    with announced(settings, mine):
        assert await find_running(settings) == mine
        assert json.loads((settings.home / FILE).read_bytes()) == {"url": mine.url, "pid": mine.pid}
    assert await find_running(settings) is None


LOADED = """
import sys
from steward.surfaces.cli.app import main
sys.argv = ["steward", "tools", "list", "--json"]
try:
    main()
except SystemExit as ended:
    heavy = ("fastapi", "fastmcp", "httpx", "mcp", "onnxruntime", "pydantic_ai", "steward.bootstrap")
    print(ended.code, [name for name in heavy if name in sys.modules])
"""


async def test_a_command_that_is_answered_loads_nothing_that_answers(
    own_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"items": []}
    monkeypatch.setattr(Ours, "told", told)
    with announced(load_settings(), Instance(f"http://127.0.0.1:{own_port}", pid=os.getpid())):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", LOADED, stdout=asyncio.subprocess.PIPE
        )
        said = (await process.communicate())[0].decode().splitlines()
    assert (json.loads(said[0]), said[1]) == (told, "0 []")
    assert Ours.heard == ["", f"Bearer {Ours.token}"]


@pytest.mark.parametrize("name", ["a?b=c", "a/b", "../keys", "a#b", "50%", "ä b"])
def test_a_name_never_becomes_another_address(run: Run, name: str) -> None:
    for command in (
        ("tools", "call", name, "--args", "{}"),
        ("tools", "remove", name),
        ("keys", "revoke", name),
    ):
        result = run(*command, "--json")
        told = json.loads(result.stdout)
        assert (result.exit_code, told["error_code"] in ("TOOL_NOT_FOUND", "NOT_FOUND")) == (2, True), command


def test_doctor_counts_the_keys_that_were_made(run: Run) -> None:
    def keys() -> str:
        findings = json.loads(run("doctor", "--port", "0", "--json").stdout)["findings"]
        return next(finding["detail"] for finding in findings if finding["what"] == "keys")

    assert "none" in keys()
    assert run("keys", "add", "laptop").exit_code == 0
    assert "1 made with" in keys()


def test_measuring_what_is_not_there_is_bad_usage_in_one_json_object(run: Run) -> None:
    result = run("eval", "risk", "--data", "nowhere.jsonl", "--json")
    assert (result.exit_code, json.loads(result.stdout)["status"]) == (2, "failed")


async def test_doctor_says_which_agents_do_not_run(
    run: Run, own_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agents(away: dict[str, str]) -> tuple[str, str]:
        monkeypatch.setattr(Ours, "told", {"agents": away})
        findings = json.loads(run("doctor", "--json").stdout)["findings"]
        found = next(finding for finding in findings if finding["what"] == "agents")
        return found["verdict"], found["detail"]

    mine = Instance(url=f"http://127.0.0.1:{own_port}", pid=os.getpid())
    with announced(load_settings(), mine):
        assert await asyncio.to_thread(agents, {}) == ("ok", "All of them run.")
        assert await asyncio.to_thread(agents, {"later": "stopped"}) == ("note", "later: stopped")
        failed = await asyncio.to_thread(agents, {"web": "'web' did not start within 30 s."})
        assert failed == ("problem", "web: 'web' did not start within 30 s.")
