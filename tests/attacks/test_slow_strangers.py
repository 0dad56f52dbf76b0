"""What strangers wrote is slow to read: a page, a server's description, a folder that came from elsewhere."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.attacks.test_slow_input import SOON, others_are_served
from tests.support.postgres import TestServer

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(180, func_only=True)]

SERVER = Path(__file__).parents[1] / "servers" / "shifting.py"
LINES = 20_000
FILES = 20_000


class Pages(BaseHTTPRequestHandler):
    """A site whose page is made of parts that say nothing."""

    def do_GET(self) -> None:
        body = b"<p>hello</p>" + b"<nav></nav>" * 50_000
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def victim(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory, site: str) -> Iterator[Victim]:
    folder = tmp_path_factory.mktemp("strangers")
    (folder / "shifting").mkdir()
    offer(folder, "It helps.")
    servers = {"shifting": {"command": sys.executable, "args": [str(SERVER), str(folder / "shifting")]}}
    with running_victim(
        postgres, folder, files={"mcp.json": {"mcpServers": servers}}, STEWARD_FETCH_HOSTS=site
    ) as running:
        yield running


def offer(folder: Path, description: str) -> None:
    tool = {"name": "help", "description": description, "inputSchema": {"type": "object"}}
    (folder / "shifting" / "offers.json").write_text(json.dumps([tool]))


def call(victim: Victim, tool: str, **arguments: object) -> dict[str, Any]:
    answer = victim.acting("use").post(f"/v1/tools/{tool}/call", json={"arguments": arguments}, timeout=90)
    return answer.json()


def test_a_page_made_of_nothing_but_furniture_is_read_soon(victim: Victim, site: str) -> None:
    """Within the deadline of its tool, after which a thread would go on with it for hours."""
    answer = call(victim, "fetch_page", url=f"http://{site}/")
    assert answer["success"], answer


def test_a_servers_description_that_is_slow_to_compare_holds_nobody_up(victim: Victim) -> None:
    """Lines that come again, each just rarely enough to be compared with all of its kind."""
    said = ["\n".join(f"step {(line * step) % 101}" for line in range(LINES)) for step in (7, 11)]
    shown_first(victim, said[0])
    started = time.monotonic()
    with others_are_served(victim):
        offer(victim.folder, said[1])
        again(victim, "wordy")
    assert time.monotonic() - started < 2 * SOON
    assert call(victim, "wordy__help")["error_code"] == "TOOL_QUARANTINED"


def shown_first(victim: Victim, description: str) -> None:
    """A server that is new says this: it is kept as it is."""
    offer(victim.folder, description)
    servers = json.loads((victim.home / "mcp.json").read_text())
    servers["mcpServers"]["wordy"] = servers["mcpServers"]["shifting"]
    (victim.home / "mcp.json").write_text(json.dumps(servers))
    victim.client(ADMIN).post("/v1/agents/reload", timeout=90).raise_for_status()
    assert call(victim, "wordy__help")["status"] == "pending_approval"


def again(victim: Victim, server: str) -> None:
    admin = victim.client(ADMIN)
    for step in ("stop", "start"):
        admin.post(f"/v1/agents/{server}/{step}", timeout=90).raise_for_status()


def test_a_folder_full_of_what_is_not_read_holds_nobody_up(victim: Victim) -> None:
    pictures = victim.folder / "pictures"
    pictures.mkdir()
    for number in range(FILES):
        (pictures / f"{number}.jpg").touch()
    made = {"action": "create", "collection_name": "pictures"}
    assert call(victim, "manage_collections", **made)["success"]
    with others_are_served(victim, within=1.0):
        call(victim, "ingest_documents", path=str(pictures), collection="pictures")


@pytest.mark.parametrize("text", ["[" * 2_000_000, "*a\n" * 500_000], ids=["brackets", "many"])
def test_a_list_of_what_to_ignore_is_bounded(victim: Victim, text: str) -> None:
    folder = victim.folder / f"ignored-{len(text)}"
    folder.mkdir()
    (folder / ".stewardignore").write_text(text)
    for number in range(50):
        (folder / f"{number}.md").write_text("hello\n")
    call(victim, "manage_collections", action="create", collection_name="ignoring")
    started = time.monotonic()
    answer = call(victim, "ingest_documents", path=str(folder), collection="ignoring")
    assert (answer["success"], time.monotonic() - started < SOON) == (False, True), answer


def test_a_pattern_of_names_is_bounded(victim: Victim) -> None:
    started = time.monotonic()
    with others_are_served(victim), pytest.raises(httpx.HTTPStatusError):
        victim.acting("use").post(
            "/v1/tools/search_files/call", json={"arguments": {"pattern": "[" * 2_000_000}}, timeout=90
        ).raise_for_status()
    assert time.monotonic() - started < SOON
