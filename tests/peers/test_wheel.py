"""The package as a stranger gets it: a wheel in an environment of its own, without this clone."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from tests.peers.setup import PEERS, ROOT, installed, pypi

KEY = "stw_stranger_0123456789abcdefghijklmnopqrstuvwxyz"
SECONDS_TO_START = 120
# One for each Python of this machine; without any the first test says how to get them.
WHEELS = sorted(path.name for path in PEERS.glob("wheel*")) or ["wheel"]

CLASSIFIED = """
import sys
from importlib.metadata import metadata
print("%d.%d" % sys.version_info[:2])
for each in metadata("steward-agents").get_all("Classifier"):
    print(each.rpartition(" ")[2])
"""


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "STEWARD_HOME": str(home / "steward"),
        "STEWARD_API_KEY": KEY,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }


def said(
    home: Path, *arguments: str, wheel: str = "wheel", program: str = "steward", **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*pypi(wheel, program), *arguments],
        cwd=home, env=environment(home) | more, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@contextmanager
def up(home: Path, wheel: str) -> Iterator[str]:
    """The address of a `steward up` with its own database, as on a first day."""
    process = subprocess.Popen(
        [*pypi(wheel, "steward"), "up", "--port", "0"],
        cwd=home, env=environment(home), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    late = threading.Timer(SECONDS_TO_START, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        late.cancel()
        yield next(word for word in line.split() if word.startswith("http")).rstrip("/")
    finally:
        late.cancel()
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def weight(wheel: str) -> float:
    """Megabytes of what was installed; what Python compiles from it later is its own."""
    files = (path for path in (PEERS / wheel).rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 1e6


@pytest.mark.parametrize("wheel", WHEELS)
def test_it_weighs_less_than_350_megabytes(wheel: str) -> None:
    assert weight(wheel) < 350


@pytest.mark.parametrize("wheel", WHEELS)
def test_it_brings_no_extra_and_says_how_to_get_each(tmp_path: Path, wheel: str) -> None:
    findings = {
        each["what"]: each
        for each in json.loads(said(tmp_path, "doctor", "--json", wheel=wheel).stdout)["findings"]
    }
    assert findings["extras"]["fix"] == (
        'pip install "steward-agents[documents,search,openai,otlp,speed]" adds them.'
    )


@pytest.mark.parametrize(
    ("model", "key", "extra"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY", "openai"),
        ("ollama:qwen3", "OLLAMA_API_KEY", "openai"),
        ("anthropic:claude", "ANTHROPIC_API_KEY", "anthropic"),
        ("mistral:large", "MISTRAL_API_KEY", "mistral"),
    ],
)
def test_a_model_whose_client_is_missing_is_said_to_need_it(
    tmp_path: Path, model: str, key: str, extra: str
) -> None:
    asked = said(tmp_path, "ask", "hello", STEWARD_MODEL=model, STEWARD_DAEMON="off", **{key: "x"})
    assert (asked.returncode, "EXTRA_MISSING" in asked.stderr) == (1, True), asked.stderr
    assert f'pip install "steward-agents[{extra}]"' in asked.stderr


@pytest.mark.parametrize("wheel", WHEELS)
async def test_it_keeps_tasks_memories_and_plain_documents_and_names_what_it_cannot_read(
    tmp_path: Path, wheel: str
) -> None:
    (tmp_path / "handbook.md").write_text("# Handbook\n\nThe office opens at nine.\n", encoding="utf-8")
    (tmp_path / "lift.txt").write_text("The lift is broken until Friday.\n", encoding="utf-8")
    (tmp_path / "page.html").write_text("<p>Hello</p>", encoding="utf-8")
    with up(tmp_path, wheel) as url:
        async with httpx.AsyncClient(base_url=url, headers={"X-API-Key": KEY}, timeout=60) as http:

            async def call(tool: str, **arguments: object) -> dict[str, Any]:
                return (await http.post(f"/v1/tools/{tool}/call", json={"arguments": arguments})).json()

            async def ask(message: str) -> str:
                return (await http.post("/v1/chat", json={"message": message})).json()["answer"]

            await ask("add buy milk tomorrow to my tasks")
            tasks = (await http.get("/v1/tasks")).json()["items"]
            await ask("remember that my sister is called Ada")
            recalled = await ask("what is my sister called?")
            searched = await call("web_search", query="anything")
            await call("manage_collections", action="create", collection_name="office")
            read = {
                name: (
                    await http.put(
                        f"/v1/knowledge/collections/office/files/{name}",
                        content=(tmp_path / name).read_bytes(),
                    )
                ).json()
                for name in ("handbook.md", "lift.txt", "page.html")
            }
            found = await call("query_knowledge_base", query="when does the office open?")
    assert [task["title"] for task in tasks] == ["buy milk"]
    assert "Ada" in recalled
    assert (searched["error_code"], "[search]" in searched["error"]) == ("EXTRA_MISSING", True)
    assert [read[name].get("success") for name in read] == [True, True, False], read
    assert "steward-agents[documents]" in str(read["page.html"])
    assert "opens at nine" in str(found["data"])


def test_it_says_which_one_it_is_what_it_changes_and_completes_commands(tmp_path: Path) -> None:
    assert "changes nothing in the database" in said(tmp_path, "upgrade").stdout
    assert said(tmp_path, "--version").stdout.split()[0] == "steward"
    assert "complete" in said(tmp_path, "--show-completion", "bash").stdout


def test_it_runs_and_is_installed_as_a_tool_without_a_clone(tmp_path: Path) -> None:
    """`uvx` and `uv tool install`, from what `make peers` fetched; pipx does the same with pip."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    uv = [installed(ROOT / ".tools" / "bin" / "uv"), "tool"]
    locked = ["--offline", "--no-config", "--constraints", installed(ROOT / "requirements.lock")]
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}

    def ran(*command: str) -> str:
        return subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **places}, capture_output=True, text=True, check=True
        ).stdout  # fmt: skip

    once = ran(*uv, "run", *locked, "--from", str(wheel), "steward", "--version")
    ran(*uv, "install", *locked, str(wheel))
    assert once == ran(str(tmp_path / "bin" / "steward"), "--version")
    assert once.split()[0] == "steward"


def test_it_brings_its_manual_and_knows_nothing_of_this_clone() -> None:
    manual = (PEERS / "wheel" / "share" / "man" / "man1" / "steward.1").read_text(encoding="utf-8")
    package = subprocess.run(
        [*pypi("wheel", "python"), "-c", "import steward; print(steward.__path__[0])"],
        cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ("steward approve" in manual, str(PEERS / "wheel") in package.stdout) == (True, True)


@pytest.mark.parametrize("wheel", WHEELS)
def test_it_names_each_python_that_it_was_tried_with(wheel: str) -> None:
    said = subprocess.run(
        [*pypi(wheel, "python"), "-c", CLASSIFIED], cwd="/", capture_output=True, text=True, check=True
    ).stdout.split()
    assert said[0] in said[1:]


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("wheel", WHEELS)
async def test_it_answers_on_an_empty_machine_with_page_api_and_gateway(tmp_path: Path, wheel: str) -> None:
    with up(tmp_path, wheel) as url:
        async with httpx.AsyncClient(base_url=url, headers={"X-API-Key": KEY}, timeout=60) as http:
            page = await http.get("/", headers={"X-API-Key": ""})
            ready = await http.get("/readyz")
            asked = await http.post("/v1/chat", json={"message": "what time is it in Tokyo?"})
        transport = StreamableHttpTransport(f"{url}/mcp", headers={"X-API-Key": KEY})
        async with Client(transport) as mcp:
            tools = [tool.name for tool in await mcp.list_tools()]
    assert (page.status_code, ready.json()["status"]) == (200, "ready")
    assert ("Tokyo" in asked.json()["answer"], "add_task" in tools) == (True, True)
