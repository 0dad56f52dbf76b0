"""The package as a stranger gets it: a wheel in an environment of its own, without this clone."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from tests.peers.setup import PEERS, pypi

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


def said(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*pypi("wheel", "steward"), *arguments],
        cwd=home, env=environment(home), capture_output=True, text=True, timeout=60, check=False,
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


def test_it_says_which_one_it_is_what_it_changes_and_completes_commands(tmp_path: Path) -> None:
    assert "changes nothing in the database" in said(tmp_path, "upgrade").stdout
    assert said(tmp_path, "--version").stdout.split()[0] == "steward"
    assert "complete" in said(tmp_path, "--show-completion", "bash").stdout


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
