"""Clients of other makers at a real `steward up`: each does all that its row in docs/clients.md says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.attacks.conftest import ADMIN, Victim
from tests.peers.clients import CLIENTS, MCP, OPENAI, PAGE, TALKERS, Client, page
from tests.peers.setup import FIXTURES, PEERS, installed, npm, pypi
from tests.support.waiting import until

QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
}  # they would tell their makers

TIME = "what time is it in tokyo?"


def command(client: Client) -> list[str]:
    script = FIXTURES / client.script
    if script.suffix == ".mjs":
        node = npm(client.package, "package.json", place=client.place)[0]
        place = PEERS / client.place / client.script  # from where its packages are found
        place.write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
        return [node, installed(place)]
    python = pypi(client.environment, "python") if client.environment else [sys.executable]
    return [*python, str(script)]


def pasted(house: Victim, name: str) -> str:
    """What `steward connect` prints for a client, to be put where it says."""
    printed = house.cli("connect", name)
    assert printed.returncode == 0, printed.stderr
    return printed.stdout.strip()


def seen(house: Victim, client: Client, *arguments: str, **variables: str) -> dict[str, Any]:
    """What a client printed of its visit."""
    process = subprocess.run(
        [*command(client), *arguments],
        cwd=house.folder, env={**os.environ, **QUIET, **variables},
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-2000:] + process.stdout[-2000:]
    return json.loads(process.stdout.splitlines()[-1])


def proposals(house: Victim) -> list[dict[str, Any]]:
    return house.client(ADMIN).get("/v1/proposals", params={"limit": 100}).raise_for_status().json()["items"]


def given_up(house: Victim) -> int:
    lines = [line for line in house.lines_logged() if line["tool"] == "slow__wait"]
    return sum(line["error"] == "The caller gave up." for line in lines)


@pytest.mark.req("RES-ART-I.B", "RES-ART-II.B")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.script)
async def test_a_client_of_the_gateway_does_all_that_its_row_says(house: Victim, client: Client) -> None:
    before = given_up(house)
    told = dict(line.split(": ", 1) for line in pasted(house, "mcp").splitlines())
    key = told["Header"].removeprefix("Authorization: Bearer ")
    said = seen(house, client, told["URL"], key, str(house.folder))
    waiting = [item["id"] for item in proposals(house)]
    assert {"add_task", "read_file"} <= set(said["tools"])
    assert said["wants_user"] == []
    assert (said["read"]["failed"], "hello from the note" in said["read"]["text"]) == (False, True)
    assert [each for each in waiting if f"steward approve {each}" in said["approval"]["text"]]
    assert said["again"] == said["approval"]  # sent twice, asked once
    assert "STEWARD_ALLOWED_ROOTS" in said["refused"]["text"]
    assert (said["failed"]["failed"], "nothing.txt" in said["failed"]["text"]) == (client.results, True)
    assert (said["wrong"]["failed"], "query" in said["wrong"]["text"]) == (True, True)
    assert (said["after"]["failed"], "UTC" in said["after"]["text"]) == (False, True)
    assert {name for name in ("cancelled", "resources", "prompts") if name in said} == {
        "cancelled" if name == "cancel" else name for name in MCP[4:] if name not in client.lacks
    }
    if "resources" in said:
        assert any(uri.startswith("knowledge://") for uri in said["resources"]["listed"])
        assert "[]" in said["resources"]["read"]  # no collection yet
    if "prompts" in said:
        assert "refine_query" in said["prompts"]["listed"]
        assert "bees" in said["prompts"]["got"]
    if "cancelled" in said:
        assert "thrown" in said["cancelled"]
        await until(lambda: given_up(house) == before + 1)


@pytest.mark.parametrize("client", TALKERS, ids=lambda client: client.script)
def test_a_client_of_openais_protocol_does_all_that_its_row_says(
    house: Victim, client: Client, tmp_path: Path
) -> None:
    mine = house.acting("use")
    title = f"buy {client.script.split('.')[0].replace('_', ' ')} rope"
    mine.post("/v1/tasks", json={"title": title}).raise_for_status()
    text = pasted(house, client.connect)
    (tmp_path / "pasted").write_text(text)
    exported = dict(
        line.removeprefix("export ").split("=", 1) for line in text.splitlines() if line.startswith("export ")
    )
    said = seen(house, client, title, PASTED=str(tmp_path / "pasted"), **exported)
    assert set(said) >= set(OPENAI) - set(client.lacks)
    assert {"assistant", "tasks", "researcher"} == set(
        said.get("models", ("assistant", "tasks", "researcher"))
    )
    assert all("Tokyo" in said[way] for way in ("chat", "stream", "responses") if way in said)
    asked, yes = said["approval"]
    assert (title in asked, "Only somebody who may approve" in yes) == (True, True)
    assert title in [task["title"] for task in mine.get("/v1/tasks").json()["items"]]
    assert said["refusal"] == "n"
    assert (said["tools"][0], json.loads(said["tools"][1])) == ("get_weather", {"city": "Paris"})
    assert json.loads(said.get("form", '{"name": "Ana"}')) == {"name": "Ana"}
    assert said.get("embeddings", 384) == 384
    # What only some of them show: a chat's title, what is done meanwhile, what their own tool found.
    assert said.get("title", TIME).lower() == TIME
    assert "get_current_time" in said.get("progress", "get_current_time")
    assert "rains" in said.get("found", "rains")


def test_the_page_says_what_the_visits_do() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "Run 'python -m tests.peers.clients'."
