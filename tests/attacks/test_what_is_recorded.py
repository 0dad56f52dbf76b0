"""Attempts to make something happen without a trace, or a trace of something that did not."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attacks.clients import over_http
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.support.postgres import TestServer

pytestmark = pytest.mark.slow

WAITS = """
import pathlib, time

def run(begun, go_on):
    pathlib.Path(begun).touch()
    while not pathlib.Path(go_on).exists():
        time.sleep(0.05)
    return "finished"
"""
DIES = "import os\n\ndef run():\n    os._exit(3)\n"


@pytest.fixture(scope="module")
def embedded(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    """One with a database of its own, which can be stopped under it."""
    with running_victim(postgres, tmp_path_factory.mktemp("embedded"), DATABASE_URL="") as running:
        yield running


def add(client: httpx.Client, name: str, source: str, risk: str) -> None:
    entry = {"name": name, "description": "Does it.", "script": f"{name}.py", "risk": risk, "source": source}
    client.post("/v1/tools", json=entry).raise_for_status()


def until(condition: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_running_call_is_not_declared_unknown_because_the_database_restarted(embedded: Victim) -> None:
    admin = embedded.acting("admin")
    add(admin, "waits", WAITS, "irreversible")
    begun, go_on = embedded.folder / "begun", embedded.folder / "go_on"
    body = {"arguments": {"begun": str(begun), "go_on": str(go_on)}}
    proposal = admin.post("/v1/tools/waits/call", json=body).json()["proposal_id"]
    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(admin.post, f"/v1/proposals/{proposal}/approve", json={})
        until(begun.exists)
        server = int((embedded.home / "database/data/postmaster.pid").read_text().split()[0])
        os.kill(server, signal.SIGINT)
        until(lambda: not Path(f"/proc/{server}").exists())

        looking = embedded.client(embedded.key("admin"))
        until(lambda: looking.get(f"/v1/proposals/{proposal}").status_code == 200)
        meanwhile = looking.get(f"/v1/proposals/{proposal}").json()["state"]
        go_on.touch()
        answer = result.result(60).json()
    assert (meanwhile, answer["status"]) == ("running", "done")
    assert looking.get(f"/v1/proposals/{proposal}").json()["state"] == "finished"


def test_a_call_of_a_tool_rated_reversible_is_on_record_while_it_runs(victim: Victim) -> None:
    admin = victim.acting("admin")
    add(admin, "waits", WAITS, "reversible")
    begun, go_on = victim.folder / "begun", victim.folder / "go_on"
    body = {"arguments": {"begun": str(begun), "go_on": str(go_on)}}
    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(admin.post, "/v1/tools/waits/call", json=body)
        until(begun.exists)
        (line,) = victim.acting("read").get("/v1/executions", params={"tool": "waits"}).json()["items"]
        go_on.touch()
        result.result(60)
    assert (line["status"], line["arguments"]["begun"]) == ("running", str(begun))


def test_nobody_reads_what_another_users_calls_said(victim: Victim) -> None:
    victim.client(ADMIN).post("/v1/users", json={"id": "eve"})
    secret = victim.acting("use").post(
        "/v1/tools/add_task/call", json={"arguments": {"title": "see Dr. Ito"}}
    )
    assert secret.json()["success"]
    lines = victim.acting("read", "eve").get("/v1/executions", params={"tool": "add_task"}).json()["items"]
    assert lines == []


def test_a_program_is_told_over_http_that_a_call_may_have_taken_effect(victim: Victim) -> None:
    admin = victim.acting("admin")
    add(admin, "dies", DIES, "reversible")
    told = admin.post("/v1/tools/dies/call", json={"arguments": {}}).json()
    assert (told["success"], told["outcome_unknown"]) == (False, True)
    assert "may have taken effect" in told["error"]


async def test_a_program_is_told_over_mcp_that_a_call_may_have_taken_effect(victim: Victim) -> None:
    add(victim.acting("admin"), "dies_too", DIES, "reversible")
    async with over_http(victim.url, victim.key("use")) as robot:
        told = await robot.call_tool("dies_too", {}, raise_on_error=False)
    assert (told.is_error, (told.meta or {})["steward/result"]["outcome_unknown"]) == (True, True)


def test_a_line_changed_behind_the_scenes_is_named_by_the_command(victim: Victim) -> None:
    victim.acting("admin").post("/v1/tools/get_current_time/call", json={"arguments": {}})
    whole = victim.cli("log", "verify")
    path = next((victim.home / "logs").glob("executions-*.jsonl"))
    with path.open("r+b") as file:
        said = file.read()
        file.seek(0)
        file.write(said.replace(b'"tool":"get_current_time"', b'"tool":"get_current_tim_"'))
    changed = victim.cli("log", "verify")
    assert (whole.returncode, changed.returncode) == (0, 1)
    assert "its file and the database differ" in changed.stdout
