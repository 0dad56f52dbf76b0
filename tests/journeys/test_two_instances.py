"""Two Stewards on one PostgreSQL, the second behind pgbouncer: what is done at one holds at the other."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.journeys.test_work_survives import client_of
from tests.support.bouncing import bouncer
from tests.support.postgres import TestServer
from tests.support.running import Running, command, steward_up
from tests.support.waiting import until

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

SECONDS = 60  # ten are promised; a busy machine gets more
RING = """
import pathlib
def run(folder):
    with open(pathlib.Path(folder) / "rings", "a") as bell:
        bell.write("ring\\n")
    return "rung"
"""
ENTRY = {"name": "ring", "description": "Ring the bell.", "script": "ring.py", "risk": "irreversible"}


@dataclass
class Pair:
    one: httpx.AsyncClient
    other: httpx.AsyncClient
    homes: tuple[Path, Path]
    first: Running
    database_url: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    async with postgres.database_url() as url:
        with bouncer(url) as bounced:
            async with (
                steward_up(folders[0], url, "--no-page") as first,
                steward_up(folders[1], bounced, "--no-page") as second,
                client_of(first) as one,
                client_of(second) as other,
            ):
                yield Pair(one, other, (first.home, second.home), first, url)


async def until_answered(
    client: httpx.AsyncClient, path: str, *, status: int, key: str | None = None
) -> None:
    headers = {} if key is None else {"X-API-Key": key}

    async def answered() -> bool:
        return (await client.get(path, headers=headers)).status_code == status

    await until(answered, seconds=SECONDS)


async def rules(client: httpx.AsyncClient) -> list[tuple[str, Any]]:
    return [(rule["tool"], rule["trust"]) for rule in (await client.get("/v1/policy")).json()["rules"]]


async def test_a_tool_of_the_first_is_approved_at_the_second_and_runs_once(
    pair: Pair, tmp_path: Path
) -> None:
    """Its script came along: the second never had it."""
    made = await pair.one.post("/v1/tools", json=ENTRY | {"source": RING})
    assert made.status_code == 201, made.text
    asked = await pair.one.post("/v1/tools/ring/call", json={"arguments": {"folder": str(tmp_path)}})
    assert asked.status_code == 202, asked.text
    await until_answered(pair.other, "/v1/tools/ring", status=200)
    proposal = asked.json()["proposal_id"]
    answers = await asyncio.gather(
        pair.other.post(f"/v1/proposals/{proposal}/approve", json={}),
        pair.one.post(f"/v1/proposals/{proposal}/approve", json={}),
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert (tmp_path / "rings").read_text() == "ring\n"
    assert (pair.homes[1] / "tools" / "ring.py").read_text() == RING
    await pair.other.delete("/v1/tools/ring")
    await until_answered(pair.one, "/v1/tools/ring", status=404)


async def test_a_conversation_hops_in_the_middle_of_a_pending_yes(pair: Pair) -> None:
    await pair.one.post("/v1/tools/add_task/call", json={"arguments": {"title": "Water the roses"}})
    said = {"message": "Delete the task water the roses", "agent": "tasks"}
    asked = (await pair.one.post("/v1/chat", json=said)).json()
    while asked["status"] == "question":  # it asks which one, or whether it is sure
        said = {"message": "yes", "agent": "tasks", "conversation": asked["conversation"]}
        asked = (await pair.one.post("/v1/chat", json=said)).json()
    assert asked["status"] == "pending_approval", asked
    said = {"message": "yes", "agent": "tasks", "conversation": asked["conversation"]}
    done = (await pair.other.post("/v1/chat", json=said)).json()
    assert done["status"] == "done", done
    assert (await pair.one.get("/v1/tasks")).json()["items"] == []


async def test_a_changed_policy_holds_at_the_other(pair: Pair) -> None:
    before = (await pair.one.get("/v1/policy")).json()["text"]
    put = await pair.one.put("/v1/policy", json={"text": 'trust = ["notes__append"]\n', "before": before})
    assert put.status_code == 200, put.text

    async def at(client: httpx.AsyncClient, trusted: str) -> bool:
        return (trusted, True) in await rules(client)

    await until(lambda: at(pair.other, "notes__append"), seconds=SECONDS)
    (pair.homes[1] / "policy.toml").write_text('trust = ["notes__read"]\n')  # as a person edits it
    await until(lambda: at(pair.one, "notes__read"), seconds=SECONDS)


async def test_a_server_of_mcp_json_and_a_skill_reach_the_other(pair: Pair) -> None:
    server = {"command": "steward-no-such-program", "autoStart": False}
    (pair.homes[0] / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": server}}))
    skill = pair.homes[1] / "skills" / "brew" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("---\nname: brew\ndescription: Brew tea the right way.\n---\nBoil water.\n")

    async def known(client: httpx.AsyncClient) -> bool:
        agents = (await client.get("/v1/agents")).json()["items"]
        skills = (await client.get("/v1/skills")).json()["items"]
        return "weather" in {item["id"] for item in agents} and "brew" in {item["name"] for item in skills}

    await until(lambda: known(pair.one), seconds=SECONDS)
    await until(lambda: known(pair.other), seconds=SECONDS)


async def test_a_revoked_key_opens_nothing_at_the_other(pair: Pair) -> None:
    made = await pair.one.post("/v1/keys", json={"name": "lent", "role": "read"})
    key = made.json()["token"]
    await until_answered(pair.other, "/v1/tools", status=200, key=key)
    await pair.one.delete("/v1/keys/lent")
    await until_answered(pair.other, "/v1/tools", status=401, key=key)


async def test_an_mcp_session_of_the_handshake_era_is_refused_at_the_other_with_a_clear_error(
    pair: Pair,
) -> None:
    headers = {"accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    opened = await pair.one.post("/mcp", json=hello, headers=headers)
    session = headers | {"mcp-session-id": opened.headers["mcp-session-id"]}
    moved = await pair.other.post(
        "/mcp", json={**hello, "method": "tools/list", "params": {}}, headers=session
    )
    assert moved.status_code == 404
    assert moved.json()["error"]["data"]["code"] == "SESSION_UNKNOWN"
    assert (await pair.other.post("/mcp", json=hello, headers=headers)).status_code == 200


async def test_a_document_is_the_same_at_whichever_instance_it_arrives(pair: Pair) -> None:
    made = {"arguments": {"action": "create", "collection_name": "papers"}}
    await pair.one.post("/v1/tools/manage_collections/call", json=made)
    path = "/v1/knowledge/collections/papers/files/bees.md"
    first = await pair.one.put(path, content=b"# Bees\n\nThey dance.\n")
    second = await pair.other.put(path, content=b"# Bees\n\nThey sing.\n")
    assert (first.json()["data"]["added"], second.json()["data"]["updated"]) == (1, 1)
    assert len((await pair.one.get("/v1/knowledge/collections/papers/documents")).json()["items"]) == 1


async def test_a_home_that_starts_out_different_is_settled_by_a_person(pair: Pair, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "policy.toml").write_text('trust = ["own__tool"]\n')
    third = Running(pair.first.process, pair.first.url, home)
    refused = await command(third, pair.database_url, "proposals")
    assert "steward config diff" in refused
    shown = json.loads(await command(third, pair.database_url, "config", "diff", "--json"))["items"]
    assert [item["file"] for item in shown if item["state"] == "differs"] == ["policy.toml"]
    assert "policy.toml is taken over" in await command(
        third, pair.database_url, "config", "pull", "policy.toml"
    )
    assert "what the registry has" in await command(third, pair.database_url, "config", "diff")
    assert (home / "policy.toml").read_text() == (pair.homes[0] / "policy.toml").read_text()
    assert (home / "replaced" / "policy.toml").read_text() == 'trust = ["own__tool"]\n'
