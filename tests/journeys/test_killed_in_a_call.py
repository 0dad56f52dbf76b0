"""`steward up` killed while a call runs: what was about to happen is on record, and everybody is told."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.running import Running, command, steward_up
from tests.support.waiting import until

SLOW = """
import pathlib, time

def run(begun):
    pathlib.Path(begun).touch()
    time.sleep(600)
"""


async def begin(steward: Running, *, risk: str, begun: Path) -> str | None:
    """A call that never ends, begun; the id of its proposal where a person had to say yes."""
    async with httpx.AsyncClient(base_url=steward.url, timeout=60, headers=steward.owner) as client:
        entry = {"name": "slow", "description": "Slow.", "script": "slow.py", "risk": risk}
        added = await client.post("/v1/tools", json=entry | {"source": SLOW})
        assert added.status_code == 201, added.text
        path, body, proposal = "/v1/tools/slow/call", {"arguments": {"begun": str(begun)}}, None
        if risk == "irreversible":
            waiting = await client.post(path, json=body)
            proposal = waiting.json()["proposal_id"]
            path, body = f"/v1/proposals/{proposal}/approve", {}
        call = asyncio.create_task(client.post(path, json=body))
        await until(begun.exists)
        os.kill(steward.process.pid, signal.SIGKILL)
        with pytest.raises(httpx.TransportError):
            await call
    await steward.process.wait()
    return proposal


async def recorded(steward: Running, **filters: str) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(base_url=steward.url, timeout=60, headers=steward.owner) as client:
        found = await client.get("/v1/executions", params={"tool": "slow", **filters})
    return found.raise_for_status().json()["items"]


@pytest.mark.timeout(240)
async def test_a_reversible_call_that_was_killed_is_on_record(tmp_path: Path, database_url: str) -> None:
    async with steward_up(tmp_path, database_url) as steward:
        await begin(steward, risk="reversible", begun=tmp_path / "begun")
    async with steward_up(tmp_path, database_url) as again:
        (line,) = await recorded(again, status="interrupted")
    assert (line["arguments"], line["code"], line["outcome_unknown"]) == (
        {"begun": str(tmp_path / "begun")},
        "OUTCOME_UNKNOWN",
        True,
    )


@pytest.mark.timeout(240)
async def test_an_approved_call_that_was_killed_is_announced_everywhere(
    tmp_path: Path, database_url: str
) -> None:
    async with steward_up(tmp_path, database_url) as steward:
        proposal = await begin(steward, risk="irreversible", begun=tmp_path / "begun")
    async with steward_up(tmp_path, database_url) as again:
        assert "Sign in" in await again.next_line()
        told = (await again.next_line(), await command(again, database_url, "proposals"))
        checked = await command(again, database_url, "doctor")
        (line,) = await recorded(again, status="interrupted")
        async with httpx.AsyncClient(base_url=again.url, timeout=60, headers=again.owner) as client:
            state = (await client.get(f"/v1/proposals/{proposal}")).json()["state"]
            first, second = [
                (await client.post("/v1/chat", json={"message": "Show my tasks"})).json()["answer"]
                for _ in "ab"
            ]
    assert all("slow" in each and "interrupted" in each for each in (*told, checked, first))
    assert "interrupted" not in second  # a conversation tells it once
    assert (state, line["approved"]["by"]) == ("unknown", "local")
