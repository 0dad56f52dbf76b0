"""Somebody with a key of role `use` or `read` who wants files that are not theirs to have."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp_types import PromptReference
from tests.attacks.clients import over_pipe
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.support.gateway_setup import ACCEPT, open_session
from tests.support.postgres import TestServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # a busy machine starts it slowly

SERVER = Path(__file__).parents[1] / "servers" / "shelf.py"
MARK = "zebra-quartz-4711"  # stands in every file that must not be had
POLICY = """
[[rule]]
tool = "shelf__*"
risk = "reversible"
trust = true
"""


@pytest.fixture(scope="module")
def victim(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    """Started in the folder that holds its home, as `steward up` in a projects folder is."""
    folder = tmp_path_factory.mktemp("files")
    library = folder / "library"
    library.mkdir()
    for name in ("passwords.txt", "credentials.json", "prod.secrets.yaml", "notes.md"):
        (library / name).write_text(f"{name} says {MARK if name != 'notes.md' else 'hello'}\n")
    (folder / "id_rsa").write_text(f"PRIVATE {MARK}\n")
    (library / "harmless.txt").symlink_to(library / "passwords.txt")
    offered = [
        (folder / "id_rsa").as_uri(),
        (library / "notes.md").as_uri(),
        (folder / "home" / "note.txt").as_uri(),
        f"file://{folder}/library/..%2Fhome/note.txt",
    ]
    arguments = [str(SERVER), str(folder / "sent.txt"), *offered]
    servers = {"mcpServers": {"shelf": {"command": sys.executable, "args": arguments}}}
    files = {
        "mcp.json": servers,
        "policy.toml": f"{POLICY}# {MARK}\n",
        "logs/old.log": MARK,
        "note.txt": MARK,
    }
    with running_victim(postgres, folder, files=files) as running:
        running.acting("use").post(
            "/v1/tools/manage_collections/call", json={"arguments": NEW}
        ).raise_for_status()
        yield running


NEW = {"action": "create", "collection_name": "papers"}


@pytest.fixture(scope="module")
def user(victim: Victim) -> httpx.Client:
    return victim.acting("use")


def call(user: httpx.Client, tool: str, **arguments: object) -> dict[str, Any]:
    return user.post(f"/v1/tools/{tool}/call", json={"arguments": arguments}).json()


def refused(user: httpx.Client, tool: str, **arguments: object) -> bool:
    """Not done, nothing waits for a yes either, and nothing of it was said."""
    answer = call(user, tool, **arguments)
    return answer["status"] == "failed" and MARK not in json.dumps(answer)


def spellings(victim: Victim) -> dict[str, str]:
    note = victim.home / "note.txt"
    (victim.folder / "second.txt").unlink(missing_ok=True)
    (victim.folder / "second.txt").hardlink_to(note)
    link = victim.folder / "way"
    if not link.is_symlink():
        link.symlink_to(victim.home)
    return {
        "plain": str(note),
        "dots": f"{victim.folder}/library/../home/./note.txt",
        "link": f"{link}/note.txt",
        "relative": "home/note.txt",
        "process": f"/proc/self/root{note}",
        "doubled": f"//{str(note).lstrip('/')}",
        "hard link": str(victim.folder / "second.txt"),
    }


def test_no_spelling_of_a_path_reads_a_file_of_the_home(victim: Victim, user: httpx.Client) -> None:
    got = [name for name, path in spellings(victim).items() if not refused(user, "read_file", path=path)]
    assert got == []


@pytest.mark.parametrize(
    "name", ["instance.json", "policy.toml", "mcp.json", "tools/tools.json", "logs/old.log"]
)
def test_no_file_of_the_home_is_read_and_nobody_is_asked_for_it(
    victim: Victim, user: httpx.Client, name: str
) -> None:
    assert refused(user, "read_file", path=str(victim.home / name))


def test_no_spelling_of_a_path_ingests_a_file_of_the_home(victim: Victim, user: httpx.Client) -> None:
    got = [
        name
        for name, path in spellings(victim).items()
        if not refused(user, "ingest_documents", path=path, collection="papers")
    ]
    assert got == []


def test_a_folder_that_holds_the_home_is_ingested_without_it(victim: Victim, user: httpx.Client) -> None:
    call(user, "ingest_documents", path=str(victim.folder), collection="papers", recursive=True)
    documents = user.get("/v1/knowledge/collections/papers/documents").json()["items"]
    assert [item["source"] for item in documents if item["source"].startswith(str(victim.home))] == []


def test_the_home_is_neither_listed_nor_searched(victim: Victim, user: httpx.Client) -> None:
    listed = call(user, "list_directory", path=str(victim.home))
    found = call(user, "search_files", pattern="*", path=str(victim.folder))
    inside = [path for path in found["data"]["paths"] if path.startswith(f"{victim.home}{os.sep}")]
    assert (listed["status"], inside) == ("failed", [])


def test_private_files_of_a_folder_are_left_out_and_named(victim: Victim, user: httpx.Client) -> None:
    answer = call(user, "ingest_documents", path=str(victim.folder / "library"), collection="papers")
    left_out = sorted(Path(item["path"]).name for item in answer["data"]["withheld"])
    assert left_out == ["credentials.json", "harmless.txt", "passwords.txt", "prod.secrets.yaml"]


def test_what_private_files_say_cannot_be_found_after_their_folder_was_ingested(
    victim: Victim, user: httpx.Client
) -> None:
    call(user, "ingest_documents", path=str(victim.folder / "library"), collection="papers")
    assert MARK not in json.dumps(call(user, "query_knowledge_base", query=f"who says {MARK}"))


def test_a_servers_tool_that_a_person_trusts_gets_no_path_into_the_home(
    victim: Victim, user: httpx.Client
) -> None:
    ways = {**spellings(victim), "uri": (victim.home / "note.txt").as_uri()}
    got = [name for name, path in ways.items() if not refused(user, "shelf__fetch", path=path)]
    assert got == []


def test_started_in_the_home_folder_of_the_account_nothing_of_it_is_read(
    postgres: TestServer, tmp_path: Path
) -> None:
    (tmp_path / "diary.md").write_text(MARK)
    with running_victim(postgres, tmp_path, HOME=str(tmp_path)) as running:
        answer = call(running.acting("use"), "read_file", path=str(tmp_path / "diary.md"))
    assert (answer["error_code"], "STEWARD_ALLOWED_ROOTS" in answer["error"]) == ("FORBIDDEN", True)


# --- resources and prompts over MCP ---


def over_mcp(victim: Victim, role: str, method: str, *arguments: Any) -> str:
    """What a client gets from `read_resource` or `get_prompt`, or the words it is refused with."""

    async def ask() -> str:
        transport = StreamableHttpTransport(f"{victim.url}/mcp", headers={"X-API-Key": victim.key(role)})
        async with Client(transport) as client:
            return str(await getattr(client, method)(*arguments))

    try:
        return asyncio.run(ask())
    except Exception as error:  # noqa: BLE001 - a client wraps what ended its session
        return f"refused: {type(error).__name__} {error}"


def test_a_key_that_may_only_look_reads_no_resource_of_a_server(victim: Victim) -> None:
    got = over_mcp(victim, "read", "read_resource", (victim.folder / "library" / "notes.md").as_uri())
    assert got.startswith("refused")


NEWER = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
WRITTEN = {
    "as others write it": lambda text: text.encode(),
    "no number": lambda text: text.replace('"jsonrpc"', '"x": NaN, "jsonrpc"').encode(),
    "half a character": lambda text: text.replace('"jsonrpc"', '"x": "\\ud800", "jsonrpc"').encode(),
    "two bytes each": lambda text: text.encode("utf-16"),
    "a mark in front": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "in a list": lambda text: f"[{text}]".encode(),
}


@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("written", WRITTEN)
async def test_a_key_that_may_only_look_reads_no_resource_however_it_writes_its_request(
    victim: Victim, era: str, written: str
) -> None:
    uri = (victim.folder / "library" / "notes.md").as_uri()
    key, url = {"x-api-key": victim.key("read")}, f"{victim.url}/mcp"
    async with httpx.AsyncClient(timeout=30) as http:
        if era == "2025-11-25":
            headers, meta = await open_session(http, url, **key), {}
        else:
            named = {"mcp-protocol-version": era, "mcp-method": "resources/read", "mcp-name": uri}
            headers, meta = {**ACCEPT, **named, **key}, {"_meta": NEWER}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri, **meta}}
        body = WRITTEN[written](json.dumps(asked))
        headers = {**headers, "content-type": "application/json"}
        answer = await http.post(url, content=body, headers=headers)
    assert "says hello" not in answer.text


async def test_a_pipe_that_may_only_look_reads_no_resource_of_a_server(victim: Victim) -> None:
    async with over_pipe(victim, ["gateway", "--role", "read"]) as client:
        with pytest.raises(Exception, match="may look but not call"):
            await client.read_resource((victim.folder / "library" / "notes.md").as_uri())


async def completed(victim: Victim, role: str, start: str, *, era: str = "auto") -> str:
    """What a client is told of how the argument of the shelf's prompt may go on."""
    transport = StreamableHttpTransport(f"{victim.url}/mcp", headers={"X-API-Key": victim.key(role)})
    async with Client(transport, mode=era) as client:
        try:
            reference = PromptReference(name="shelf__summary")
            return str(await client.complete(reference, {"name": "path", "value": start}))
        except Exception as error:  # noqa: BLE001 - a client wraps what it is refused with
            return f"refused: {error}"


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_completion_lists_no_folder_of_the_home(victim: Victim, era: str) -> None:
    assert "policy.toml" not in await completed(victim, "use", f"{victim.home}/pol", era=era)


async def test_a_completion_tells_a_server_no_private_path_unasked(victim: Victim) -> None:
    before = len(victim.client(ADMIN).get("/v1/proposals").json()["items"])
    said = await completed(victim, "use", f"{victim.folder}/.ssh/id_rsa")
    sent = victim.folder / "sent.txt"
    assert ".ssh" not in (sent.read_text() if sent.exists() else "")
    after = len(victim.client(ADMIN).get("/v1/proposals").json()["items"])
    assert (said.startswith("refused"), after - before) == (True, 0)


async def test_a_completion_leaves_a_line_in_the_log_and_goes_on_working(victim: Victim) -> None:
    assert "notes.md" in await completed(victim, "use", f"{victim.folder}/library/no")
    assert f"{victim.folder}/library/no" in json.dumps(victim.lines_logged())


def test_a_private_key_is_no_resource_that_is_read_unasked(victim: Victim) -> None:
    assert MARK not in over_mcp(victim, "use", "read_resource", (victim.folder / "id_rsa").as_uri())


def test_no_resource_leads_into_the_home(victim: Victim) -> None:
    uris = ((victim.home / "note.txt").as_uri(), f"file://{victim.folder}/library/..%2Fhome/note.txt")
    assert [uri for uri in uris if MARK in over_mcp(victim, "use", "read_resource", uri)] == []


def test_a_prompt_fills_in_no_private_file_unasked(victim: Victim) -> None:
    arguments = {"path": str(victim.folder / "id_rsa")}
    assert MARK not in over_mcp(victim, "use", "get_prompt", "shelf__summary", arguments)


def test_reading_a_resource_and_a_prompt_leaves_lines_in_the_log(victim: Victim) -> None:
    over_mcp(victim, "use", "read_resource", "shelf://rules")
    over_mcp(
        victim, "use", "get_prompt", "shelf__summary", {"path": str(victim.folder / "library" / "notes.md")}
    )
    logged = json.dumps(victim.lines_logged())
    assert ("shelf://rules" in logged, "summary" in logged) == (True, True)
