"""The engine's own access to PostgreSQL: its schema, and that nobody ends another's job.

procrastinate marks a job as ended by its id alone. A worker that was away (stopped, cut off) would so end a
job that another one has begun again. Here each ending names worker and attempt, and matches nothing then.

procrastinate says an ending once. Where the database is away or its disk is full, the job would be held for
ever by a worker that lives and has forgotten it. Here it is said again until it is stored.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from typing import Any, LiteralString, cast

from procrastinate import PsycopgConnector, exceptions
from procrastinate.connector import BaseConnector
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.utils import utcnow

SCHEMA = "steward_work"
_NAME = re.compile(r"\bprocrastinate_(?=[a-z])")  # the engine's own statements, no text from outside

_FINISH = """
    WITH held AS MATERIALIZED (
        SELECT id FROM procrastinate_jobs
        WHERE id = %(job_id)s AND status = 'doing' AND attempts = %(attempts)s
            AND worker_id IS NOT DISTINCT FROM %(worker_id)s
        FOR UPDATE
    )
    SELECT held.id, procrastinate_finish_job_v1(held.id, %(status)s, %(delete_job)s) FROM held"""
_RETRY = """
    WITH held AS MATERIALIZED (
        SELECT id FROM procrastinate_jobs
        WHERE id = %(job_id)s AND status = 'doing' AND attempts = %(attempts)s
            AND worker_id IS NOT DISTINCT FROM %(worker_id)s
        FOR UPDATE
    )
    SELECT held.id, procrastinate_retry_job_v2(
        held.id, now() + %(wait)s::interval, %(new_priority)s, %(new_queue_name)s, %(new_lock)s
    ) FROM held"""
_BEAT = "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = %(worker_id)s RETURNING id"


@cache
def qualified(query: LiteralString) -> LiteralString:
    """The engine's statement with its tables, types and functions where they are."""
    return cast("LiteralString", _NAME.sub(f"{SCHEMA}.procrastinate_", query))


class SchemaConnector(PsycopgConnector):
    """Names the schema in each statement: a pooled connection (pgbouncer) keeps no search_path."""

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        await super().execute_query_async(qualified(query), **arguments)

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        return await super().execute_query_one_async(qualified(query), **arguments)

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        return await super().execute_query_all_async(qualified(query), **arguments)


BETWEEN_STRANGERS = timedelta(seconds=5)
MOST_STRANGERS = 2_000


class LostWorkerError(Exception):
    """This worker is gone for the others: they took its jobs."""


class FencedJobManager(JobManager):
    """Ends a job only for the worker and the attempt that has it.

    A kind of job that this program does not know is a newer program's, while instances are upgraded: it goes
    back for one that does, and has failed only when none came for hours.
    """

    def __init__(self, connector: BaseConnector) -> None:
        super().__init__(connector)
        self.knows: Callable[[str], bool] = lambda _: True
        self.seconds_between_tries = 1.0
        self.stopping = asyncio.Event()  # of this worker: what is not stored by then, others find

    async def ended(self, job: Job, status: Status, *, delete: bool = False) -> bool:
        """Whether the job was this worker's to end."""
        return await self._held(_FINISH, job, status=status.value, delete_job=delete)

    async def given_back(self, job: Job, *, wait: timedelta | None = None) -> bool:
        """Whether the job was this worker's to give back. It waits by the database's clock, or not at all:
        this machine's may be wrong by weeks at the moment, and the job would wait as long."""
        try:
            return await self._held(
                _RETRY, job, wait=wait, new_priority=None, new_queue_name=None, new_lock=None
            )
        except exceptions.UniqueViolation:  # another one waits to do the same: that one does it
            return await self.ended(job, Status.ABORTED)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        if status is Status.FAILED and not self.knows(job.task_name) and job.attempts < MOST_STRANGERS:
            await self._until_stored(lambda: self.given_back(job, wait=BETWEEN_STRANGERS))
            return
        await self._until_stored(lambda: self.ended(job, status, delete=delete_job))

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        del priority, queue, lock  # no job of ours is tried again in another place
        wait = None if retry_at is None else retry_at - utcnow()
        later = wait if wait and wait > timedelta() else None
        await self._until_stored(lambda: self.given_back(job, wait=later))

    async def update_heartbeat(self, worker_id: int) -> None:
        try:
            await self.connector.execute_query_one_async(query=_BEAT, worker_id=worker_id)
        except exceptions.NoResult:
            raise LostWorkerError(f"Worker {worker_id} was away too long.") from None

    async def _until_stored(self, ask: Callable[[], Awaitable[bool]]) -> None:
        while True:
            try:
                await ask()
                return
            except exceptions.ConnectorException:
                if self.stopping.is_set():
                    raise
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), self.seconds_between_tries)

    async def _held(self, query: LiteralString, job: Job, **arguments: Any) -> bool:
        try:
            await self.connector.execute_query_one_async(
                query=query, job_id=job.id, attempts=job.attempts, worker_id=job.worker_id, **arguments
            )
        except exceptions.NoResult:
            return False
        return True
