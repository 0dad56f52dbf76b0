"""`steward up` told to stop while it works: what was begun is finished, and nothing new is taken."""

import asyncio
import signal
import sys
from pathlib import Path

import httpx
import pytest
from tests.support.running import SECONDS_TO_START, UP, steward_up, surroundings
from tests.support.waiting import until

IN_A_TERMINAL = Path(__file__).parents[1] / "programs" / "in_a_terminal.py"
SLOW = """
import pathlib, time

def run(begun, go_on):
    pathlib.Path(begun).touch()
    while not pathlib.Path(go_on).exists():
        time.sleep(0.05)
    return "finished"
"""


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "told", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow, id="terminal closed")]
)
async def test_a_call_in_flight_is_finished_before_the_program_ends(
    tmp_path: Path, database_url: str, told: signal.Signals
) -> None:
    begun, go_on = tmp_path / "begun", tmp_path / "go_on"
    async with steward_up(tmp_path, database_url) as steward:
        async with httpx.AsyncClient(base_url=steward.url, timeout=60, headers=steward.owner) as client:
            entry = {"name": "slow", "description": "Slow.", "script": "slow.py", "risk": "reversible"}
            added = await client.post("/v1/tools", json=entry | {"source": SLOW})
            assert added.status_code == 201, added.text
            arguments = {"begun": str(begun), "go_on": str(go_on)}
            call = asyncio.create_task(client.post("/v1/tools/slow/call", json={"arguments": arguments}))
            await until(begun.exists)

            steward.process.send_signal(told)
            await until(lambda: refuses(steward.url))
            assert not call.done()
            go_on.touch()
            answer = await call
        async with asyncio.timeout(60):
            code = await steward.process.wait()
    assert (answer.json()["status"], answer.json()["data"], code) == ("done", "finished", 0)
    assert not (tmp_path / "home" / "instance.json").exists()


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_it_ends_with_its_terminal_also_under_a_program_that_only_waits_for_it(
    tmp_path: Path, database_url: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(IN_A_TERMINAL), *UP),
        env=surroundings(tmp_path, database_url),
        cwd=tmp_path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b"http" in await asyncio.wait_for(process.stdout.readline(), SECONDS_TO_START)
    await process.communicate(b"close it\n")
    assert process.returncode == 0
    assert not (tmp_path / "home" / "instance.json").exists()


async def refuses(url: str) -> bool:
    try:
        async with httpx.AsyncClient(timeout=1) as client:
            await client.get(f"{url}/healthz")
    except httpx.TransportError:
        return True
    return False
