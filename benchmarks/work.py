"""Work through Steward's queue beside procrastinate alone, on one PostgreSQL, side by side.

Prints jobs put in and taken out a second, and the ratio: what fencing, results and progress notes cost. The
two take turns in short batches, each pair in the other order, and the ratio is the median of the pairs: what
slows the machine for a while slows both. (One long batch of each, the best of two, gave ratios that
contradicted each other.) `nice -n -10` in front keeps other programs away.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.worker import Worker

from steward.storage.database.postgres import Database, Embedded
from steward.storage.jobs import PostgresJobStore
from steward.work.kinds import JobKind, JobRun
from steward.work.queue import NewJob, WorkQueue

Batch = Callable[[], Awaitable[dict[str, float]]]
JOBS = 100  # in a batch
CONCURRENCY = 4
PAIRS = 15


async def main() -> None:
    with TemporaryDirectory(prefix="steward-") as folder:
        async with Database(Embedded(Path(folder) / "database")) as database:
            await database.execute("CREATE SCHEMA alone")
            async with _alone(database) as alone, _ours(database) as ours:
                await alone(), await ours()  # the first of each plans its statements
                alones, ourses = [], []
                for pair in range(PAIRS):
                    for batch, measured in _in_turn(pair, (alone, alones), (ours, ourses)):
                        measured.append(await batch())
    for what in ("in", "out"):
        theirs, mine = ([batch[what] for batch in each] for each in (alones, ourses))
        ratios = sorted(m / t for m, t in zip(mine, theirs, strict=True))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        print(
            f"jobs {what} a second: procrastinate alone {statistics.median(theirs):,.0f}, "
            f"Steward {statistics.median(mine):,.0f}, ratio {statistics.median(ratios):.2f} "
            f"(half of the pairs between {low:.2f} and {high:.2f})"
        )
    one = await _latency()
    print(f"one job, from putting it in to its end: {one * 1e3:.1f} ms at the median")


def _in_turn(pair: int, *two: Any) -> Sequence[Any]:
    return two if pair % 2 else two[::-1]


@asynccontextmanager
async def _alone(database: Database) -> AsyncIterator[Batch]:
    app = App(connector=PsycopgConnector(conninfo=database.url, kwargs={"options": "-c search_path=alone"}))
    counted = _Count()

    @app.task(name="count", pass_context=False)
    async def count(n: int) -> None:
        counted.one()

    async def batch() -> dict[str, float]:
        counted.expect(JOBS)
        begun = time.perf_counter()
        await count.batch_defer_async(*({"n": n} for n in range(JOBS)))
        put_in = time.perf_counter() - begun
        await database.execute("ANALYZE alone.procrastinate_jobs")  # both: the planner knows what it has
        worker = Worker(app=app, concurrency=CONCURRENCY, install_signal_handlers=False)
        return {"in": JOBS / put_in, "out": JOBS / await _timed(counted, worker.run)}

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        yield batch


@asynccontextmanager
async def _ours(database: Database) -> AsyncIterator[Batch]:
    counted = _Count()

    async def count(_: JobRun) -> None:
        counted.one()

    queue = _queue(database)
    queue.add(JobKind(name="count", run=count))

    async def work() -> None:
        async with queue.worker(concurrency=CONCURRENCY):
            await asyncio.Event().wait()

    async def batch() -> dict[str, float]:
        counted.expect(JOBS)
        jobs = [NewJob(given={"n": n}, title="count") for n in range(JOBS)]
        begun = time.perf_counter()
        await queue.defer_many("count", jobs, user=None)
        put_in = time.perf_counter() - begun
        await database.execute("ANALYZE steward_work.procrastinate_jobs")
        return {"in": JOBS / put_in, "out": JOBS / await _timed(counted, work)}

    try:
        yield batch
    finally:
        await queue.close()


async def _latency() -> float:
    with TemporaryDirectory(prefix="steward-") as folder:
        async with Database(Embedded(Path(folder) / "database")) as database:
            ended = asyncio.Event()

            async def signal(_: JobRun) -> None:
                ended.set()

            queue = _queue(database)
            queue.add(JobKind(name="signal", run=signal))
            took: list[float] = []
            async with queue.worker():
                for _ in range(30):
                    ended.clear()
                    begun = time.perf_counter()
                    await queue.defer("signal", {}, user=None, title="signal")
                    await ended.wait()
                    took.append(time.perf_counter() - begun)
            await queue.close()
            return sorted(took)[len(took) // 2]


def _queue(database: Database) -> WorkQueue:
    return WorkQueue(
        address=lambda: database.url,
        store=PostgresJobStore(database),
        revive=lambda: database.fetchval("SELECT 1"),
    )


class _Count:
    def __init__(self) -> None:
        self._left = 0
        self.done = asyncio.Event()

    def expect(self, wanted: int) -> None:
        self._left = wanted
        self.done.clear()

    def one(self) -> None:
        self._left -= 1
        if not self._left:
            self.done.set()


async def _timed(counted: _Count, work: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    working = asyncio.ensure_future(work())
    await counted.done.wait()
    took = time.perf_counter() - begun
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    return took


if __name__ == "__main__":
    asyncio.run(main())
