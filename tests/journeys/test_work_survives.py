"""Work that outlives its request and its program: real programs, killed without a warning."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from tests.support.running import Running, steward_up
from tests.support.scripted_model import CallTools, Hang, Say, ScriptedModel
from tests.support.talking import wire
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(300)  # three programs one after another, on a machine that others use

TRUST = 'trust = ["strike"]\n'
# Strikes the bell once each time it is called, and then does not come back.
STRIKE = """
import pathlib, time
def run(folder):
    with open(pathlib.Path(folder) / "strikes", "a") as bell:
        bell.write("dong\\n")
    while not (pathlib.Path(folder) / "go").exists():
        time.sleep(0.01)
    return "struck"
"""
ENTRY = {"name": "strike", "description": "Strike the bell.", "script": "strike.py", "risk": "reversible"}


def client_of(steward: Running) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=steward.url, timeout=60, headers=steward.owner)


@pytest.fixture
async def bell(tmp_path: Path) -> AsyncIterator[Path]:
    folder = tmp_path / "bell"
    folder.mkdir()
    yield folder
    (folder / "go").touch()


def three_calls(bell: Path) -> list[Any]:
    return [
        CallTools(("add_task", {"title": "one"})),
        CallTools(("strike", {"folder": str(bell)})),
        CallTools(("add_task", {"title": "three"})),
        Say("One and three are on your list."),
    ]


async def titles(client: httpx.AsyncClient) -> list[str]:
    return sorted(item["title"] for item in (await client.get("/v1/tasks")).json()["items"])


async def turns(client: httpx.AsyncClient, conversation: str) -> list[dict[str, Any]]:
    return (await client.get(f"/v1/conversations/{conversation}")).json()["turns"]


async def until_told(client: httpx.AsyncClient, conversation: str) -> list[dict[str, Any]]:
    async def told() -> bool:
        return bool(await turns(client, conversation))

    await until(told, seconds=90)
    return await turns(client, conversation)


@pytest.mark.parametrize("others", [0, 1])
async def test_killed_in_the_second_of_three_calls_another_goes_on_and_repeats_nothing(
    tmp_path: Path, database_url: str, model: ScriptedModel, bell: Path, others: int
) -> None:
    """By the same home started again, and by another instance that was there all the time."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    settings = wire(model)
    async with steward_up(first, database_url, "--no-page", **settings) as steward:
        (steward.home / "policy.toml").write_text(TRUST)
        async with client_of(steward) as client:
            assert (await client.post("/v1/tools", json=ENTRY | {"source": STRIKE})).status_code == 201
            model.script[:] = three_calls(bell)
            said = {"message": "Add one, strike the bell and add three", "agent": "assistant"}
            turn = asyncio.create_task(client.post("/v1/chat", json=said))
            await until(lambda: (bell / "strikes").exists() or turn.done(), seconds=60)
            assert not turn.done(), turn.result().text
            [here] = (await client.get("/v1/conversations")).json()["items"]
            steward.process.kill()
            await steward.process.wait()
            turn.cancel()
    model.script[:] = three_calls(bell)
    home = second if others else first
    async with (
        steward_up(home, database_url, "--no-page", **settings) as steward,
        client_of(steward) as client,
    ):
        assert (await client.get("/v1/tools/strike")).status_code == 200  # also where it was not registered
        [told] = await until_told(client, here["id"])
        calls = [
            (call["tool"], call["status"], call["outcome_unknown"]) for call in told["answer"]["tool_calls"]
        ]
        assert told["said"] == said["message"]
        assert calls[:2] == [("add_task", "done", False), ("strike", "failed", True)]
        assert (bell / "strikes").read_text() == "dong\n"
        assert (await titles(client)).count("one") == 1


async def test_a_turn_in_the_background_is_finished_by_another_instance(
    tmp_path: Path, database_url: str, model: ScriptedModel
) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    async with (
        steward_up(folders[0], database_url, "--no-page", **wire(model)) as doomed,
        client_of(doomed) as client,
    ):
        model.script[:] = [CallTools(("add_task", {"title": "one"})), Hang()]
        said = {"message": "Add one", "agent": "assistant", "background": True}
        queued = await client.post("/v1/chat", json=said)
        assert queued.status_code == 202, queued.text
        await asyncio.wait_for(model.hanging.wait(), 60)
        doomed.process.kill()
        await doomed.process.wait()
    model.script[:] = [CallTools(("add_task", {"title": "one"})), Say("It is on your list.")]
    async with (
        steward_up(folders[1], database_url, "--no-page", **wire(model)) as steward,
        client_of(steward) as client,
    ):

        async def finished() -> bool:
            return (await client.get(f"/v1/jobs/{queued.json()['job']}")).json()["state"] == "done"

        await until(finished, seconds=90)
        [told] = await turns(client, queued.json()["conversation"])
        job = (await client.get(f"/v1/jobs/{queued.json()['job']}")).json()
        assert told["answer"]["answer"].startswith("It is on your list.")
        assert job["result"]["answer"] == told["answer"]["answer"]
        assert await titles(client) == ["one"]


async def test_an_ingest_killed_three_times_ends_complete_and_repeats_no_file(
    tmp_path: Path, database_url: str
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for number in range(300):
        (library / f"{number:03}.md").write_text(f"# Note {number}\n\nThe number of this note is {number}.\n")
    job, seen = "", dict[str, Any]()
    for _ in range(3):
        async with _library_up(tmp_path, database_url) as (steward, client):
            job = job or await _begin_ingest(client, library)
            wanted = len(seen) + 50

            async def further(wanted: int = wanted) -> bool:
                return len(await _stored(database_url)) >= wanted

            await until(further, seconds=100)
            steward.process.kill()
            await steward.process.wait()
            seen |= await _stored(database_url)
    assert len(seen) < 300  # the third kill was in the middle as well
    async with _library_up(tmp_path, database_url) as (_, client):

        async def done() -> bool:
            return (await client.get(f"/v1/jobs/{job}")).json()["state"] == "done"

        await until(done, seconds=100)
        result = (await client.get(f"/v1/jobs/{job}")).json()["result"]["data"]
    now = await _stored(database_url)
    assert len(now) == 300
    assert {source: now[source] for source in seen} == seen  # nobody stored a finished one again
    assert (result["added"], result["unchanged"]) == (300 - len(seen), len(seen))


@asynccontextmanager
async def _library_up(folder: Path, database_url: str) -> AsyncIterator[tuple[Running, httpx.AsyncClient]]:
    up = steward_up(folder, database_url, "--no-page", STEWARD_ALLOWED_ROOTS=str(folder))
    async with up as steward, client_of(steward) as client:
        yield steward, client


async def _begin_ingest(client: httpx.AsyncClient, library: Path) -> str:
    made = {"arguments": {"action": "create", "collection_name": "notes"}}
    await client.post("/v1/tools/manage_collections/call", json=made)
    body = {"arguments": {"path": str(library), "collection": "notes"}, "background": True}
    queued = await client.post("/v1/tools/ingest_documents/call", json=body)
    assert queued.status_code == 202, queued.text
    return queued.json()["job"]


async def _stored(database_url: str) -> dict[str, Any]:
    """Each document with the number and the time of its row: both change when it is stored again."""
    database = await asyncpg.connect(database_url)
    try:
        rows = await database.fetch("SELECT source, id, ingested_at FROM kb_documents")
    finally:
        await database.close()
    return {row["source"]: (row["id"], row["ingested_at"]) for row in rows}
