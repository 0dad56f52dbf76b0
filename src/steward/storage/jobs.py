"""What people see of jobs, from the engine's own tables and the notes beside them."""

from collections.abc import Collection
from typing import Any

import asyncpg

from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.contract.jobs import JobPage, JobState, JobTry, StoredJob
from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("jobs")
# The engine's words for our states; 'aborting' is one of its past.
_WORDS = {
    JobState.WAITING: ("todo",),
    JobState.RUNNING: ("doing", "aborting"),
    JobState.DONE: ("succeeded",),
    JobState.FAILED: ("failed",),
    JobState.CANCELLED: ("cancelled", "aborted"),
}
_STATES = {word: state for state, words in _WORDS.items() for word in words}
_LARGEST = 2**63 - 1


async def count_jobs(database: Database) -> tuple[dict[str, int], float]:
    """How many wait, run and were given up, and for how many seconds the first that is due waits."""
    counted: dict[str, int] = {
        state.value: 0 for state in (JobState.WAITING, JobState.RUNNING, JobState.FAILED)
    }
    late = 0.0
    for row in await database.fetch(SQL.count_jobs):
        counted[_STATES[row["status"]].value] += row["jobs"]
        late = max(late, row["late"] or 0.0)
    return counted, late


class PostgresJobStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self,
        *,
        user: str | None,
        states: Collection[JobState] = (),
        kind: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> JobPage:
        words = [word for state in states for word in _WORDS[state]]
        rows = await self._database.fetch(SQL.list_jobs, user, words, kind, _cursor(after), limit + 1, None)
        items = [_job(row) for row in rows[:limit]]
        return JobPage(items, str(items[-1].id) if len(rows) > limit else None)

    async def get(self, job_id: int, *, user: str | None) -> StoredJob:
        row = None
        if 0 < job_id <= _LARGEST:
            row = await self._database.fetchrow(SQL.list_jobs, user, [], None, None, 1, job_id)
        if row is None:
            raise NotFoundError(f"There is no job {job_id}.", fix="See 'steward jobs list'.")
        return _job(row)

    async def cancel(self, job_id: int, *, user: str | None) -> StoredJob:
        job = await self.get(job_id, user=user)
        if await self._database.fetchval(SQL.cancel_job, job.id) is None:
            raise ConflictError(f"Job {job.id} has ended already.", fix=f"See 'steward jobs show {job.id}'.")
        return await self.get(job_id, user=user)

    async def retry(self, job_id: int, *, user: str | None) -> StoredJob:
        job = await self.get(job_id, user=user)
        if await self._database.fetchval(SQL.retry_job, job.id) is None:
            raise ConflictError(
                f"Job {job.id} is {job.state.value}.", fix="Only one that failed or was cancelled is retried."
            )
        return await self.get(job_id, user=user)

    async def note(self, job_id: int, *, done: int, total: int | None, note: str) -> None:
        await self._database.execute(SQL.note_job, job_id, done, total, note)

    async def note_result(self, of: JobTry, result: Any) -> bool:
        query = SQL.note_job_result
        return bool(await self._database.fetchval(query, of.job, of.worker, of.attempt, result))

    async def note_failure(self, of: JobTry, error: str, *, code: str, failures: int) -> bool:
        told = (of.job, of.worker, of.attempt, error, code, failures)
        return bool(await self._database.fetchval(SQL.note_job_failure, *told))

    async def holds(self, of: JobTry) -> bool:
        return bool(await self._database.fetchval(SQL.holds_job, of.job, of.worker, of.attempt))


def _cursor(after: str | None) -> int | None:
    if after is None:
        return None
    if not after.isascii() or not after.isdigit() or int(after) > _LARGEST:
        raise InputError(
            "This is not the 'next' of a page.", fix="Start without it, or use the page's own word."
        )
    return int(after)


def _job(row: asyncpg.Record) -> StoredJob:
    args: dict[str, Any] = row["args"]
    return StoredJob(
        id=row["id"],
        kind=row["task_name"],
        queue=row["queue_name"],
        title=args.get("title", ""),
        user=args.get("user"),
        state=_STATES[row["status"]],
        given=args.get("given", {}),
        attempts=row["attempts"],
        failures=row["failures"] or 0,
        stopping=row["abort_requested"] and row["status"] == "doing",
        due_at=row["scheduled_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        done=row["done"] or 0,
        total=row["total"],
        note=row["note"] or "",
        error=row["error"],
        error_code=row["error_code"],
        result=row["result"],
    )
