"""Work that outlives its request: what is known of a job, and where that is kept.

Owns the words: states, a job as people see it, the port to its record. Does not own the engine that runs jobs
(work) nor what each kind of job does (bootstrap).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class JobState(StrEnum):
    WAITING = "waiting"  # for a worker, or for its time
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # and given up: it stays until somebody retries it or it is swept
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
    id: int
    kind: str
    queue: str
    title: str
    user: str | None  # None: Steward's own housekeeping
    state: JobState
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    attempts: int = 0  # how often it was begun and ended or was interrupted
    failures: int = 0
    stopping: bool = False  # somebody wants it cancelled, and it runs still
    due_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    done: int = 0
    total: int | None = None
    note: str = ""
    error: str | None = None
    error_code: str | None = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class JobPage:
    """The newest first."""

    items: Sequence[StoredJob]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class JobTry:
    """One worker's try of a job. What it notes counts only while the job is still its own."""

    job: int
    worker: int | None
    attempt: int  # 0 the first time


class JobStore(Protocol):
    """What people see of jobs. `user=None` sees everybody's and Steward's own."""

    async def list(
        self,
        *,
        user: str | None,
        states: Collection[JobState] = (),
        kind: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> JobPage: ...

    async def get(self, job_id: int, *, user: str | None) -> StoredJob:
        """`NotFoundError` when there is none that this user may see."""
        ...

    async def cancel(self, job_id: int, *, user: str | None) -> StoredJob:
        """One that waits is cancelled; one that runs is asked to stop. `ConflictError` when it has ended."""
        ...

    async def retry(self, job_id: int, *, user: str | None) -> StoredJob:
        """One that failed or was cancelled waits again. `ConflictError` for any other."""
        ...

    async def note(self, job_id: int, *, done: int, total: int | None, note: str) -> None: ...

    async def note_result(self, of: JobTry, result: Any) -> bool:
        """Whether it was kept. Said twice, it is kept once."""
        ...

    async def note_failure(self, of: JobTry, error: str, *, code: str, failures: int) -> bool:
        """The same; `failures`: how often the job has failed, with this time."""
        ...

    async def holds(self, of: JobTry) -> bool:
        """Whether this worker still has this job. One that was away too long has lost it to another."""
        ...
