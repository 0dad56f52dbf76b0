"""Turns of the task conversation on the planner against a running `steward up`, beside a plain tool call.

Budget: each turn of `steward ask` under 1 s warm, the first one after the start included.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

STEWARD = (sys.executable, "-m", "steward")
ROUNDS = 10
BUDGET_SECONDS = 1.0
TURNS = (
    "Add buy milk tomorrow, it's important",
    "Show my tasks",
    "I bought the milk",
    "Delete buy milk",
    "yes",
)


@asynccontextmanager
async def up(environment: dict[str, str]) -> AsyncGenerator[str]:
    process = await asyncio.create_subprocess_exec(
        *STEWARD, "up", "--port", "0", env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        yield next(word for word in line.split() if word.startswith("http"))
    finally:
        process.terminate()
        await process.wait()


async def lifecycle(client: httpx.AsyncClient) -> list[float]:
    """Seconds of each turn over HTTP."""
    times: list[float] = []
    conversation = None
    for text in TURNS:
        began = time.perf_counter()
        body = {"message": text, "agent": "tasks", "conversation": conversation}
        answer = await client.post("/v1/chat", json=body)
        times.append(time.perf_counter() - began)
        conversation = answer.json()["conversation"]
    return times


async def plain_call(client: httpx.AsyncClient) -> float:
    began = time.perf_counter()
    await client.post("/v1/tools/list_tasks/call", json={"arguments": {}})
    return time.perf_counter() - began


async def command(environment: dict[str, str], *arguments: str) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *STEWARD,
        *arguments,
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    await process.wait()
    return time.perf_counter() - began


def owner(home: str) -> dict[str, str]:
    """What the owner's own programs send along."""
    return {"X-API-Key": Path(home, "token").read_text(encoding="ascii").strip()}


async def measure(folder: str) -> dict[str, float]:
    environment = {**os.environ, "STEWARD_HOME": folder, "STEWARD_MODEL": "planner"}
    environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "none", "DATABASE_URL": ""}
    async with up(environment) as url, httpx.AsyncClient(base_url=url, timeout=120) as client:
        client.headers.update(owner(folder))
        await asyncio.sleep(8)  # the time it takes to warm up in the background
        first = (await lifecycle(client))[0]
        rounds: list[list[float]] = [await lifecycle(client) for _ in range(ROUNDS)]
        plain = [await plain_call(client) for _ in range(ROUNDS)]
        asks = [await command(environment, "ask", "Show my tasks", "--agent", "tasks") for _ in range(ROUNDS)]
        helps = [await command(environment, "--help") for _ in range(ROUNDS)]
    turns = [turn for each in rounds for turn in each]
    return {
        "first turn": first,
        "turn, median": statistics.median(turns),
        "turn, slowest": max(turns),
        "a plain call of list_tasks": statistics.median(plain),
        "steward ask, whole command": statistics.median(asks),
        "steward --help": statistics.median(helps),
    }


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        found: dict[str, Any] = asyncio.run(measure(folder))
    plain = found["a plain call of list_tasks"]
    for name, seconds in found.items():
        print(f"{name:30} {seconds * 1000:9.1f} ms  {seconds / plain:7.1f} plain calls")
    kept = max(found["first turn"], found["steward ask, whole command"]) < BUDGET_SECONDS
    print(f"budget {BUDGET_SECONDS} s a turn: {'kept' if kept else 'MISSED'}")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
