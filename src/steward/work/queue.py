"""The queue of jobs: which kinds there are, putting one in, and a worker that takes them out.

Owns what the rest of Steward sees of work. Does not own the engine, which is procrastinate on the same
PostgreSQL (engine.py, loaded when first needed), nor what the jobs do: bootstrap adds the kinds.

    queue.add(JobKind(name="ingest_file", run=ingest_file))
    job = await queue.defer("ingest_file", {"path": "/a.md"}, user="local", title="Read a.md")
    async with queue.worker():
        ...
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from steward.contract.errors import NotFoundError, StewardError
from steward.contract.jobs import JobState, JobStore
from steward.work.kinds import JobKind, Lookout

if TYPE_CHECKING:
    from steward.work.engine import Engine

logger = logging.getLogger(__name__)

CONCURRENCY = 4
STOP_SECONDS = 4.0
SECONDS_BETWEEN_TRIES = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """Seconds. Injectable, so that tests need not wait."""

    look: float = 1.0  # between looks for jobs whose time has come; new ones are heard of at once
    heartbeat: float = 2.0
    lost: float = 10.0  # without a heartbeat, a worker's jobs go to others
    finish: float = 2.0  # for jobs to end by themselves when the worker stops; then they go back


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    given: Mapping[str, Any]
    title: str
    once: str | None = None  # nothing is put in while another job with this word waits
    alone: str | None = None  # jobs with this word run one after another, in order
    at: datetime | None = None  # not before
    priority: int = 0  # higher ones first


class WorkQueue:
    def __init__(
        self,
        *,
        address: Callable[[], str],
        store: JobStore,
        revive: Callable[[], Awaitable[object]],
        listens: Callable[[], bool] = lambda: True,
        tempo: Tempo | None = None,
    ) -> None:
        """`address` is the database's; `revive` returns when it answers, and starts it where it can;
        `listens`: whether notifications come through, else jobs are looked for (`Tempo.look`)."""
        self._address = address
        self._listens = listens
        self._store = store
        self._revive = revive
        self._tempo = tempo or Tempo()
        self._kinds: dict[str, JobKind] = {}
        self._lookouts: list[Lookout] = []
        self._workers = 0
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()

    @property
    def store(self) -> JobStore:
        return self._store

    @property
    def kinds(self) -> Mapping[str, JobKind]:
        return self._kinds

    def add(self, kind: JobKind) -> None:
        """Before the first job is put in or taken out."""
        if kind.name in self._kinds:
            raise ValueError(f"There are two kinds of job called '{kind.name}'.")
        if self._engine is not None:
            raise RuntimeError("The engine has its kinds already.")
        self._kinds[kind.name] = kind

    def watch(self, lookout: Lookout) -> None:
        """Looked for while a worker runs here."""
        self._lookouts.append(lookout)

    @property
    def working(self) -> bool:
        """Whether a worker runs here."""
        return self._workers > 0

    async def busy(self) -> bool:
        """Whether a job runs, here or in another program."""
        return bool((await self._store.list(user=None, states=(JobState.RUNNING,), limit=1)).items)

    async def defer(
        self,
        kind: str,
        given: Mapping[str, Any],
        *,
        user: str | None,
        title: str,
        once: str | None = None,
        alone: str | None = None,
        at: datetime | None = None,
        priority: int = 0,
    ) -> int | None:
        """Put one job in; its id, or None while one with the same `once` waits."""
        job = NewJob(given=given, title=title, once=once, alone=alone, at=at, priority=priority)
        return await (await self._opened()).defer(self._known(kind), job, user=user)

    async def defer_many(self, kind: str, jobs: Sequence[NewJob], *, user: str | None) -> list[int]:
        """All of them or none, in one statement. No two may wait with the same `once`."""
        return await (await self._opened()).defer_many(self._known(kind), jobs, user=user)

    @asynccontextmanager
    async def worker(
        self, queues: Collection[str] = (), *, concurrency: int = CONCURRENCY
    ) -> AsyncGenerator[None]:
        """Take jobs out while this lasts, of these queues or of all of them. Begins in the background."""
        stopping = asyncio.Event()
        task = asyncio.create_task(self._work(tuple(queues) or None, concurrency, stopping), name="worker")
        looking = [asyncio.create_task(_look(each), name=each.name) for each in self._lookouts]
        self._workers += 1
        try:
            yield
        finally:
            self._workers -= 1
            stopping.set()
            for each in looking:
                each.cancel()
            await _ended(task)
            await asyncio.gather(*looking, return_exceptions=True)

    async def _work(self, queues: Sequence[str] | None, concurrency: int, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            try:
                engine = await self._opened()
            except StewardError as error:
                logger.warning("worker_waits", extra={"problem": error.explain()})
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), SECONDS_BETWEEN_TRIES)
                continue
            await engine.work(queues, concurrency=concurrency, stopping=stopping)

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    def _known(self, kind: str) -> JobKind:
        if kind not in self._kinds:
            raise NotFoundError(f"There is no kind of job called '{kind[:80]}'.")
        return self._kinds[kind]

    async def _opened(self) -> "Engine":
        if self._engine is not None:
            return self._engine
        async with self._opening:
            if self._engine is None:
                # In a thread, and only where there is work: loading it takes a fifth of a second.
                engine = await asyncio.to_thread(_load)
                self._engine = await engine.open(
                    self._address(),
                    kinds=tuple(self._kinds.values()),
                    store=self._store,
                    revive=self._revive,
                    listens=self._listens(),
                    tempo=self._tempo,
                )
            return self._engine


def _load() -> "type[Engine]":
    from steward.work.engine import Engine  # noqa: PLC0415

    return Engine


async def _look(lookout: Lookout) -> None:
    while True:
        try:
            await lookout.look()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next look may find better
            logger.warning("lookout_failed", extra={"lookout": lookout.name, "problem": str(error)})
        await asyncio.sleep(lookout.every)


async def _ended(task: "asyncio.Task[None]") -> None:
    """Wait for the worker to stop, and no longer than people wait for a shutdown."""
    await asyncio.wait({task}, timeout=STOP_SECONDS)
    for _ in range(3):  # each layer of the engine takes a cancellation as a wish to stop first
        if task.done():
            break
        task.cancel()
        await asyncio.wait({task}, timeout=0.2)
    if task.done() and not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("worker_ended", extra={"problem": f"{type(error).__name__}: {error}"})
