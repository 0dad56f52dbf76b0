"""What a job is made of: its kind, how often it is tried, and what it may do while it runs.

    async def send(run: JobRun) -> None:
        await run.check()  # before anything that must not happen twice
        await deliver(run.given["to"])

    queue.add(JobKind(name="send", run=send, retries=Retries(most=3)))

Owns no engine: see queue.py and engine.py.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from steward.contract.errors import ConflictError, StorageError
from steward.contract.jobs import JobStore, JobTry


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often a job is tried again, and when. After that it is failed, and stays for people to see."""

    most: int = 5  # failures, counted without interruptions
    first_wait: float = 2.0  # seconds; each wait is twice the one before
    longest_wait: float = 300.0
    most_interruptions: int = 20  # a job whose workers die again and again may be what kills them

    def wait(self, failures: int) -> float:
        return min(self.longest_wait, self.first_wait * 2 ** max(0, min(failures, 30) - 1))


class JobLostError(ConflictError):
    """Another worker has this job now: this one was away too long. What it did not do yet, it must not do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One try of one job."""

    id: int
    kind: str
    user: str | None
    given: Mapping[str, Any]
    attempt: int  # 0 the first time
    failures: int  # of the tries before this one
    worker: int | None
    store: JobStore = field(repr=False)
    cancelled: Callable[[], bool] = field(default=lambda: False, repr=False)
    """Of a CancelledError: whether a person wants the job ended, and not only this worker stops."""

    async def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """How far it is, for people who look; nothing fails because it cannot be told."""
        with suppress(StorageError):
            await self.store.note(self.id, done=done, total=total, note=note)

    @property
    def interrupted(self) -> bool:
        """Whether a try before this one came to no end. One that failed was noted, and is none."""
        return self.attempt > self.failures

    @property
    def held(self) -> JobTry:
        return JobTry(self.id, self.worker, self.attempt)

    async def check(self) -> None:
        """`JobLostError` when another worker has this job by now. Ask before what must not happen twice."""
        if not await self.store.holds(self.held):
            raise JobLostError(f"Another worker goes on with job {self.id}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    name: str
    run: Callable[[JobRun], Awaitable[Any]]  # what it returns is kept as the job's result (JSON)
    queue: str = "work"
    retries: Retries = Retries()
    every: str | None = (
        None  # a cron line ("*/5 * * * *"; a sixth field is seconds): the engine defers it itself
    )
    kept: bool = True  # False: a success leaves nothing behind (housekeeping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookout:
    """Something every worker looks for, again and again, and puts jobs in for."""

    name: str
    look: Callable[[], Awaitable[object]]
    every: float = 2.0  # seconds
