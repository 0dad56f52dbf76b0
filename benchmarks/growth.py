"""What one more passage and one more request cost, for planning (docs/deploy.md).

Bytes on the disk by part, and processor time (Steward's and PostgreSQL's together, so that a busy machine
changes little) for a vector query and a whole question, at growing sizes; then processor time for each kind
of request to a running `steward up`.

    python benchmarks/growth.py [SIZE ...]
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import psutil
import uvloop
from knowledge import EMBEDDER, Clock, load
from passages import Corpus, made_up

from steward.contract.places import Places
from steward.documents.pool import DocumentReaders
from steward.knowledge.model import CollectionKind
from steward.knowledge.service import KnowledgeBase
from steward.storage.database.postgres import Database, Embedded
from steward.storage.library.documents import PostgresKnowledgeStore

SIZES = (5_000, 20_000, 40_000, 80_000)
QUERIES = 60
REQUESTS = 100
KEY = "stw_growth_0123456789abcdefghijklmnopqrstuvwxyz"
PARTS = """
    SELECT relname, pg_table_size(oid) AS bytes FROM pg_class
    WHERE relkind IN ('r', 'i') AND relname LIKE 'kb\\_%' ORDER BY 2 DESC"""


async def passages(corpus: Corpus) -> None:
    size = len(corpus.texts)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "database"
        async with Database(Embedded(place)) as database, DocumentReaders() as readers:
            store = PostgresKnowledgeStore(database)
            collection = await store.create_collection("bench", CollectionKind.FUNDAMENTAL)
            clock = Clock(place)
            with clock.running():
                await load(store, collection.id, corpus)
                await store.settle(collection.id)
            stored = clock.processor / size * 1e6
            parts = {row["relname"]: row["bytes"] / size for row in await database.fetch(PARTS)}
            base = KnowledgeBase(store, embedder=EMBEDDER, reranker=None, readers=readers, places=Places(()))
            vector = await _spent(
                place,
                lambda n: store.nearest(corpus.near[n], [collection.id], embedder=EMBEDDER.name, limit=10),
            )
            question = await _spent(place, lambda n: base.query(corpus.questions[n]))
    print(f"{size:,} passages: {sum(parts.values()):,.0f} bytes each, stored in {stored:.0f} us;", end=" ")
    print(f"a vector query {vector:.1f} ms, a question {question:.1f} ms of a processor")
    print("   ", ", ".join(f"{name} {each:,.0f}" for name, each in list(parts.items())[:6]))


async def _spent(place: Path, ask: Callable[[int], Awaitable[object]]) -> float:
    for number in range(10):
        await ask(number)
    clock = Clock(place)
    with clock.running():
        for number in range(QUERIES):
            await ask(number)
    return clock.processor / QUERIES * 1e3


async def requests() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        process = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, "-m", "steward", "up", "--no-page", "--port", "0"],
            env=os.environ | {"STEWARD_HOME": str(home), "STEWARD_API_KEY": KEY, "STEWARD_RATE_LIMIT": "0",
                              "DATABASE_URL": "", "OTEL_EXPORTER_OTLP_ENDPOINT": "none"},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            line = await asyncio.to_thread(process.stdout.readline)
            url = next(word for word in line.split() if word.startswith("http"))
            await _requests(process.pid, home / "database", url)
        finally:
            process.terminate()
            process.wait(30)


async def _requests(pid: int, place: Path, url: str) -> None:
    headers = {"X-API-Key": KEY}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120) as client:
        numbers = iter(range(10**6))
        kinds: dict[str, Callable[[], Awaitable[httpx.Response]]] = {
            "list tasks": lambda: client.get("/v1/tasks?limit=20"),
            "add a task": lambda: client.post("/v1/tasks", json={"title": f"task {next(numbers)}"}),
            "a tool call": lambda: client.post("/v1/tools/get_current_time/call", json={"arguments": {}}),
            "a turn of the planner": lambda: client.post(
                "/v1/chat", json={"message": "Show my tasks", "agent": "tasks"}
            ),
        }
        for name, ask in kinds.items():
            times = REQUESTS if "turn" not in name else REQUESTS // 5
            for _ in range(5):
                (await ask()).raise_for_status()
            clock, program = Clock(place), psutil.Process(pid)
            before, begun = program.cpu_times(), time.process_time()
            with clock.running():
                for _ in range(times):
                    (await ask()).raise_for_status()
            after = program.cpu_times()
            own = (after.user + after.system) - (before.user + before.system)
            server = clock.processor - (time.process_time() - begun)  # the clock counts this program as well
            print(f"{name}: {own / times * 1e3:.1f} ms of Steward, {server / times * 1e3:.1f} of PostgreSQL")
        size = program.memory_info().rss / 2**20
        print(f"memory of the instance: {size:.0f} MiB")


async def main() -> None:
    for size in [int(argument) for argument in sys.argv[1:]] or SIZES:
        await passages(made_up(size, QUERIES))
    await requests()


if __name__ == "__main__":
    uvloop.run(main())
