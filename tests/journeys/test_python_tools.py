"""A developer adds a tool to a running Steward, uses it from another program, and stops Steward mid-call."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest
from tests.support.running import Running, steward_up
from tests.support.waiting import until

SLOW = """
import pathlib, subprocess, time
def run(folder):
    folder = pathlib.Path(folder)
    child = subprocess.Popen(["sleep", "600"])
    (folder / "child").write_text(str(child.pid))
    (folder / "inside").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return "finished"
"""


@pytest.fixture
async def steward(tmp_path: Path, database_url: str) -> AsyncIterator[Running]:
    async with steward_up(tmp_path, database_url) as running:
        yield running


@pytest.mark.req("SKL-SC-002", "SKL-US3.1")
async def test_a_tool_registered_over_http_is_used_with_a_key_and_survives_a_stop_mid_call(
    steward: Running, tmp_path: Path
) -> None:
    signals = tmp_path / "signals"
    signals.mkdir()
    async with httpx.AsyncClient(base_url=steward.url, timeout=60, headers=steward.owner) as client:
        entry = {"name": "slow", "description": "Wait.", "script": "slow.py", "risk": "reversible"}
        assert (await client.post("/v1/tools", json=entry | {"source": SLOW})).status_code == 201
        key = (await client.post("/v1/keys", json={"name": "program", "role": "use"})).json()["token"]

        headers = {"Authorization": f"Bearer {key}"}
        body = {"arguments": {"folder": str(signals)}}
        call = asyncio.create_task(client.post("/v1/tools/slow/call", json=body, headers=headers))
        await until((signals / "inside").exists)
        family = [process.pid for process in psutil.Process(steward.process.pid).children(recursive=True)]
        steward.process.send_signal(signal.SIGINT)
        (signals / "go").touch()
        assert (await call).json()["data"] == "finished"
    assert await asyncio.wait_for(steward.process.wait(), 60) == 0
    assert not any(map(psutil.pid_exists, family))  # by their numbers out here: inside they have others


@pytest.mark.req("SKL-EDGE-01")
async def test_a_kill_9_of_steward_leaves_no_process_of_its_tools(steward: Running, tmp_path: Path) -> None:
    signals = tmp_path / "signals"
    signals.mkdir()
    async with httpx.AsyncClient(base_url=steward.url, timeout=60, headers=steward.owner) as client:
        entry = {"name": "slow", "description": "Wait.", "script": "slow.py", "risk": "reversible"}
        await client.post("/v1/tools", json=entry | {"source": SLOW})
        body = {"arguments": {"folder": str(signals)}}
        call = asyncio.create_task(client.post("/v1/tools/slow/call", json=body))
        await until((signals / "inside").exists)
        family = [process.pid for process in psutil.Process(steward.process.pid).children(recursive=True)]
        assert len(family) > 1  # the worker and the program that it started
        steward.process.kill()
        with pytest.raises(httpx.HTTPError):
            await call
    await until(lambda: not any(map(psutil.pid_exists, family)))
