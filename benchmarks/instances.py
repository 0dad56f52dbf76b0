"""Two Stewards on one PostgreSQL: how soon the other knows, how late reminders are, many programs at once.

Prints, for a tool, a policy and a revoked key, the seconds until the other instance goes by it (ten are
promised); the seconds between a reminder's time and its arrival, with its instance alive and killed (two are
promised); and how many of 500 approved programs, 24 at a time, were said to have failed. Exit 1 when one of
these does not hold.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from tests.support.receivers import web_receiver
from tests.support.running import Running, steward_up

from steward.storage.database.embedded import EmbeddedServer

ROUNDS = 5
RUNS, AT_ONCE = 500, 24
KNOWN_WITHIN, TOLD_WITHIN = 10.0, 2.0
ENTRY = {"name": "ring", "description": "Ring the bell.", "script": "ring.py", "risk": "irreversible"}
SOURCE = "def run():\n    return 'rung'\n"


async def main() -> int:
    async with AsyncExitStack() as stack:
        folder = _folder(stack.enter_context(TemporaryDirectory(prefix="steward-")))
        server = EmbeddedServer(folder / "database", settings={"max_connections": "200"})
        await asyncio.to_thread(server.join)
        stack.push_async_callback(asyncio.to_thread, server.leave)
        hook = await stack.enter_async_context(web_receiver())
        running: list[Running] = []
        for name in ("one", "other"):
            (folder / name).mkdir()
            up = steward_up(
                folder / name,
                server.url,
                "--no-page",
                STEWARD_NOTIFY_WEBHOOK=hook.url,
                STEWARD_RATE_LIMIT="0",
            )
            running.append(await stack.enter_async_context(up))
        one, other = [await stack.enter_async_context(_client(each)) for each in running]
        known = await _known(one, other)
        failed = await _programs(one)
        late = await _reminders(one, hook, running[0])
    return 0 if known <= KNOWN_WITHIN and not failed and late <= TOLD_WITHIN else 1


def _folder(name: str) -> Path:
    """Root's PostgreSQL is somebody else, and so is contained code."""
    folder = Path(name)
    folder.chmod(0o755)
    return folder


def _client(steward: Running) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=steward.url, timeout=120, headers=steward.owner)


async def _seconds_until(holds: Callable[[], Awaitable[bool]]) -> float:
    begun = time.perf_counter()
    while not await holds():
        await asyncio.sleep(0.02)
        if time.perf_counter() - begun > 60:
            break
    return time.perf_counter() - begun


async def _known(one: httpx.AsyncClient, other: httpx.AsyncClient) -> float:
    """The longest of all."""
    seconds: dict[str, list[float]] = {"a tool": [], "a policy": [], "a revoked key": []}
    for number in range(ROUNDS):
        (await one.post("/v1/tools", json=ENTRY | {"source": SOURCE})).raise_for_status()
        seconds["a tool"].append(await _seconds_until(lambda: _is(other, "/v1/tools/ring", 200)))
        (await one.delete("/v1/tools/ring")).raise_for_status()
        await _seconds_until(lambda: _is(other, "/v1/tools/ring", 404))
        seconds["a policy"].append(await _policy(one, other, f"notes__append{number}"))
        made = (await one.post("/v1/keys", json={"name": f"lent{number}", "role": "read"})).json()
        key = {"X-API-Key": made["token"]}
        await _seconds_until(lambda key=key: _is(other, "/v1/tools", 200, key))
        (await one.delete(f"/v1/keys/lent{number}")).raise_for_status()
        seconds["a revoked key"].append(
            await _seconds_until(lambda key=key: _is(other, "/v1/tools", 401, key))
        )
    for what, each in seconds.items():
        middle = sorted(each)[ROUNDS // 2]
        print(f"{what} holds at the other instance: {middle:.2f} s, at most {max(each):.2f} s")
    return max(max(each) for each in seconds.values())


async def _is(client: httpx.AsyncClient, path: str, status: int, headers: Any = None) -> bool:
    return (await client.get(path, headers=headers)).status_code == status


async def _policy(one: httpx.AsyncClient, other: httpx.AsyncClient, tool: str) -> float:
    before = (await one.get("/v1/policy")).json()["text"]
    told = {"text": f'trust = ["{tool}"]\n', "before": before}
    (await one.put("/v1/policy", json=told)).raise_for_status()

    async def holds() -> bool:
        return tool in (await other.get("/v1/policy")).json()["text"]

    return await _seconds_until(holds)


async def _programs(one: httpx.AsyncClient) -> int:
    turn = asyncio.Semaphore(AT_ONCE)

    async def run(number: int) -> Any:
        async with turn:
            said = {"arguments": {"code": f"print({number} * 2)", "language": "python"}}
            asked = (await one.post("/v1/tools/code_execution/call", json=said)).json()
            answer = (await one.post(f"/v1/proposals/{asked['proposal_id']}/approve", json={})).json()
            return answer if answer.get("success") is not True or str(number * 2) not in str(answer) else None

    begun = time.perf_counter()
    wrong = [each for each in await asyncio.gather(*map(run, range(RUNS))) if each is not None]
    print(f"{RUNS} approved programs, {AT_ONCE} at a time: {len(wrong)} said to have failed, "
          f"{time.perf_counter() - begun:.0f} s in all")  # fmt: skip
    for each in wrong[:3]:
        print(f"  {each}")
    return len(wrong)


async def _reminders(one: httpx.AsyncClient, hook: Any, first: Running) -> float:
    alive = [await _late(one, hook, first=None) for _ in range(ROUNDS)]
    print(f"a reminder comes {sorted(alive)[ROUNDS // 2]:.2f} s after its time, at most {max(alive):.2f} s")
    dead = await _late(one, hook, first=first)
    print(f"with its instance killed: {dead:.2f} s")
    return max(*alive, dead)


async def _late(one: httpx.AsyncClient, hook: Any, *, first: Running | None) -> float:
    before = len(hook.posted)
    due = datetime.now(UTC) + timedelta(seconds=4)
    said = {"title": "stretch", "due_date": due.isoformat(), "notify": True}
    (await one.post("/v1/tasks", json=said)).raise_for_status()
    if first is not None:
        first.process.kill()
        await first.process.wait()

    async def told() -> bool:
        return len(hook.posted) > before

    await _seconds_until(told)
    return (datetime.now(UTC) - due).total_seconds()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
