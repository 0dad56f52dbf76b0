"""What `Database` costs over the raw driver: the same statements on one asyncpg connection and through it.

Each round measures all ways in turn, so that a busy machine slows them alike; the best round counts.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import asyncpg

from steward.knowledge.facts import Fact
from steward.storage.database.postgres import Database, Embedded
from steward.storage.library.facts import SQL, PostgresFactStore

ROUNDS, CALLS = 30, 50
INSERT = "INSERT INTO raw_facts VALUES ($1, $2, $3, $4, $5, $6)"
SELECT = "SELECT * FROM raw_facts WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1"


async def microseconds(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        await work()
    return (time.perf_counter() - started) / CALLS * 1e6


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        async with Database(Embedded(Path(folder) / "database")) as database:
            print(f"first start {time.perf_counter() - started:.2f} s")
            await compare(database)
        started = time.perf_counter()
        async with Database(Embedded(Path(folder) / "database")):
            print(f"later start {time.perf_counter() - started:.2f} s")


async def compare(database: Database) -> None:
    raw = await asyncpg.connect(database.url)
    await raw.execute("CREATE TABLE raw_facts (LIKE facts INCLUDING ALL)")
    pool = await asyncpg.create_pool(database.url, min_size=1)
    store = PostgresFactStore(database)
    numbers = iter(range(10**9))

    async def raw_add_get() -> None:
        name = f"raw {next(numbers)}"
        await raw.execute(INSERT, name, "local", name, name, "person", datetime.now(UTC))
        await raw.fetchrow(SELECT, "local")

    async def our_add_get() -> None:
        await store.add(Fact(user="local", text=f"fact {next(numbers)}"))
        await database.fetch(SQL.list_facts, "local", None, "", 1)

    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "SELECT 1, raw connection": lambda: raw.fetchval("SELECT 1"),
        "SELECT 1, asyncpg's own pool": lambda: pool.fetchval("SELECT 1"),
        "SELECT 1, Database": lambda: database.fetchval("SELECT 1"),
        "add + get, raw connection": raw_add_get,
        "add + get, fact store": our_add_get,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, work in ways.items():
            times[name].append(await microseconds(work))
    best = {name: min(values) for name, values in times.items()}
    for name, value in best.items():
        base = next(v for other, v in best.items() if other.split(",")[0] == name.split(",")[0])
        print(f"{name:32} {value:8.0f} us  {value / base:.2f}")
    await pool.close()
    await raw.close()


if __name__ == "__main__":
    asyncio.run(main())
