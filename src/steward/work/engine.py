"""procrastinate, as Steward uses it: kinds as its tasks, and workers that outlive bad days.

Owns retries, cancellation, what becomes of a dead worker's jobs, and that a stopped worker gives its own
back. Does not own what people see of jobs (the JobStore) nor the tables (storage/migrations).

The engine's own log would hold each job's arguments: it is silent, and what matters is logged here.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from procrastinate import App, JobContext, exceptions
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, Status
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.utils import utcnow
from procrastinate.worker import Worker
from psycopg_pool import PoolTimeout

from steward.contract.errors import ErrorCode, InputError, StewardError, StorageError
from steward.contract.jobs import JobStore, JobTry
from steward.work.fencing import FencedJobManager, SchemaConnector
from steward.work.kinds import JobKind, JobLostError, JobRun
from steward.work.queue import NewJob, Tempo

logger = logging.getLogger(__name__)
T = TypeVar("T")

CONNECTIONS = 4
CONNECT_SECONDS = 10
CLOSE_SECONDS = 1.0
SECONDS_BEFORE_ANOTHER_WORKER = 1.0
SWEPT_AFTER_HOURS = 24 * 7
TRIES_TO_STORE = 60  # what a job came to, while the database is away or its disk is full


class _AgainError(Exception):
    """Try the job again after so long."""

    def __init__(self, wait: timedelta = timedelta()) -> None:
        super().__init__()
        self.wait = wait


class _GivenUpError(Exception):
    """The job has failed for good; its note says why."""


class _AsTold(BaseRetryStrategy):
    """The job's own wrapper has decided already."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:  # noqa: ARG002
        return (
            RetryDecision(retry_at=utcnow() + exception.wait) if isinstance(exception, _AgainError) else None
        )


class Engine:
    def __init__(
        self,
        app: App,
        manager: FencedJobManager,
        *,
        kinds: Sequence[JobKind],
        store: JobStore,
        revive: Callable[[], Awaitable[object]],
        listens: bool,
        tempo: Tempo,
    ) -> None:
        self._app = app
        self._manager = manager
        self._kinds = {kind.name: kind for kind in kinds}
        self._store = store
        self._revive = revive
        self._listens = listens
        self._tempo = tempo

    @classmethod
    async def open(
        cls,
        address: str,
        *,
        kinds: Sequence[JobKind],
        store: JobStore,
        revive: Callable[[], Awaitable[object]],
        listens: bool,
        tempo: Tempo,
    ) -> "Engine":
        for name in ("procrastinate", "psycopg.pool"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        connector = SchemaConnector(
            conninfo=address,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=CONNECT_SECONDS,
            # No prepared statements: pgbouncer in transaction mode does not keep them.
            kwargs={
                "application_name": "steward work",
                "connect_timeout": CONNECT_SECONDS,
                "prepare_threshold": None,
            },
        )
        app = App(connector=connector)
        app.job_manager = manager = FencedJobManager(connector)
        manager.seconds_between_tries = tempo.look
        engine = cls(app, manager, kinds=kinds, store=store, revive=revive, listens=listens, tempo=tempo)
        engine._register()
        with _explained():
            await app.open_async()
        return engine

    async def close(self) -> None:
        with suppress(Exception):  # a database that is gone has no connections to give back
            await asyncio.wait_for(self._app.close_async(), timeout=CLOSE_SECONDS)

    # --- in ---

    async def defer(self, kind: JobKind, job: NewJob, *, user: str | None) -> int | None:
        try:
            return (await self.defer_many(kind, [job], user=user))[0]
        except exceptions.AlreadyEnqueued:
            return None

    async def defer_many(self, kind: JobKind, jobs: Sequence[NewJob], *, user: str | None) -> list[int]:
        if not jobs:
            return []
        made = [
            Job(
                queue=kind.queue,
                priority=job.priority,
                lock=job.alone,
                queueing_lock=job.once,
                task_name=kind.name,
                task_kwargs={"user": user, "title": job.title, "given": dict(job.given)},
                scheduled_at=job.at,
            )
            for job in jobs
        ]
        with _explained(changing=True):
            stored = await self._manager.batch_defer_jobs_async(jobs=made)
        return [job.id for job in stored if job.id is not None]

    # --- out ---

    async def work(self, queues: Sequence[str] | None, *, concurrency: int, stopping: asyncio.Event) -> None:
        """A worker, and another one when it dies: of a database that was away, or of its own absence."""
        while not stopping.is_set():
            try:
                await self._revive()
                await self._one_worker(queues, concurrency, stopping)
            except Exception as error:  # noqa: BLE001 - whatever ends a worker, the next one gets its chance
                logger.warning("worker_ended", extra={"problem": f"{type(error).__name__}: {error}"})
            if not stopping.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), SECONDS_BEFORE_ANOTHER_WORKER)

    async def _one_worker(
        self, queues: Sequence[str] | None, concurrency: int, stopping: asyncio.Event
    ) -> None:
        tempo = self._tempo
        worker = Worker(
            app=self._app,
            queues=None if queues is None else list(queues),  # a tuple would be a row to the driver
            concurrency=concurrency,
            fetch_job_polling_interval=tempo.look,
            abort_job_polling_interval=tempo.look,
            update_heartbeat_interval=tempo.heartbeat,
            stalled_worker_timeout=tempo.lost,
            shutdown_graceful_timeout=tempo.finish,
            listen_notify=self._listens,
            install_signal_handlers=False,
        )
        self._manager.stopping = ending = asyncio.Event()
        running = asyncio.create_task(worker.run(), name="jobs")
        rescuing = asyncio.create_task(self._rescue(), name="jobs of dead workers")
        asked = asyncio.create_task(stopping.wait(), name="worker's end")
        try:
            await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
            ending.set()
            worker.stop()
            await running
        finally:
            ending.set()
            for task in (rescuing, asked, running):
                task.cancel()
            await asyncio.gather(rescuing, asked, running, return_exceptions=True)

    async def _rescue(self) -> None:
        """Give the jobs of workers without a heartbeat to others, as often as their kind allows."""
        while True:
            try:
                for job in await self._manager.get_stalled_jobs(seconds_since_heartbeat=self._tempo.lost):
                    await self._take_from_the_dead(job)
            except exceptions.ConnectorException as error:
                logger.warning("rescue_failed", extra={"problem": str(error)})
            await asyncio.sleep(self._tempo.heartbeat)

    async def _take_from_the_dead(self, job: Job) -> None:
        kind = self._kinds.get(job.task_name)
        if kind is None:
            return  # a newer program's, which looks after its own
        noted = await self._store.get(job.id or 0, user=None)
        if noted.result is not None:
            await self._manager.ended(job, Status.SUCCEEDED)  # it was done, and only its end is missing
        elif noted.failures > job.attempts:
            await self._manager.ended(job, Status.FAILED)  # it had failed already, and its note says why
        elif job.attempts < kind.retries.most_interruptions:
            if await self._manager.given_back(job):
                logger.warning("job_taken_from_dead_worker", extra={"job": job.id, "kind": job.task_name})
        else:
            why = f"Its workers ended {job.attempts + 1} times while it ran."
            dead = JobTry(noted.id, job.worker_id, job.attempts)
            code, failures = ErrorCode.SERVICE_UNAVAILABLE, noted.failures + 1
            if await self._store.note_failure(dead, why, code=code, failures=failures):
                await self._manager.ended(job, Status.FAILED)
                logger.error("job_given_up", extra={"job": job.id, "kind": job.task_name})

    # --- one job ---

    def _register(self) -> None:
        housekeeping = JobKind(name="sweep_jobs", run=self._sweep, every="17 * * * *", kept=False)
        # At least one periodic kind, always: without one the engine stops watching its own heartbeat.
        self._kinds[housekeeping.name] = housekeeping
        self._manager.knows = self._kinds.__contains__
        for kind in self._kinds.values():
            task = self._app.task(name=kind.name, queue=kind.queue, retry=_AsTold(), pass_context=True)(
                self._runner(kind)
            )
            if kind.every is not None:
                self._app.periodic(cron=kind.every)(task)

    def _runner(self, kind: JobKind) -> Callable[..., Awaitable[None]]:
        async def run(context: JobContext, **told: Any) -> None:
            await self._run(kind, context, told)

        return run

    async def _run(self, kind: JobKind, context: JobContext, told: Mapping[str, Any]) -> None:
        job = context.job
        given = told.get("given") or {key: told[key] for key in ("timestamp",) if key in told}
        run = JobRun(
            id=job.id or 0,
            kind=kind.name,
            user=told.get("user"),
            given=given,
            attempt=job.attempts,
            failures=await self._failures_before(job),
            worker=job.worker_id,
            store=self._store,
            cancelled=lambda: context.abort_reason() is AbortReason.USER_REQUEST,
        )
        try:
            result = await kind.run(run)
        except asyncio.CancelledError:
            if run.cancelled():
                raise exceptions.JobAborted from None
            raise _AgainError from None  # the worker stops: another one begins it again
        except JobLostError:
            logger.warning("job_lost", extra={"job": run.id, "kind": run.kind})
            raise _GivenUpError from None  # ends nothing: it is not this worker's any more
        except Exception as error:  # noqa: BLE001 - a job that fails is an outcome
            raise await self._failed(kind, run, error) from None
        if not kind.kept:
            await self._manager.finish_job(job, Status.SUCCEEDED, delete_job=True)
        elif result is not None or run.attempt:  # it may clear what a first try left
            await self._stored(lambda: self._store.note_result(run.held, result))

    async def _failures_before(self, job: Job) -> int:
        if job.attempts == 0:
            return 0
        return (await self._stored(lambda: self._store.get(job.id or 0, user=None))).failures

    async def _stored(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Asked of the store until it answers: what a job did is no less done while the database is away,
        and must not be done again because it could not be written down."""
        try:
            for _ in range(TRIES_TO_STORE):
                with suppress(StorageError):
                    return await ask()
                await asyncio.sleep(self._tempo.look)
        except asyncio.CancelledError:  # the worker stops
            pass
        raise _AgainError  # as after a kill: whoever takes it finds a try that came to no end

    async def _failed(self, kind: JobKind, run: JobRun, error: Exception) -> Exception:
        if isinstance(error, StewardError):
            code, words, worth_it = error.code, error.explain(), error.retryable
            logger.warning("job_failed", extra={"job": run.id, "kind": run.kind, "code": code})
        else:
            code, words, worth_it = ErrorCode.INTERNAL, "Something went wrong inside Steward.", True
            logger.error("job_failed_unexpectedly", exc_info=error, extra={"job": run.id, "kind": run.kind})
        failures = run.failures + 1
        await self._stored(lambda: self._store.note_failure(run.held, words, code=code, failures=failures))
        if worth_it and failures < kind.retries.most:
            return _AgainError(timedelta(seconds=kind.retries.wait(failures)))
        return _GivenUpError()

    async def _sweep(self, _: JobRun) -> None:
        """What was done or cancelled is forgotten after a week; what failed stays four times as long."""
        sweep = self._manager.delete_old_jobs
        await sweep(nb_hours=SWEPT_AFTER_HOURS, include_cancelled=True, include_aborted=True)
        await sweep(nb_hours=4 * SWEPT_AFTER_HOURS, include_failed=True)


@contextmanager
def _explained(*, changing: bool = False) -> Generator[None]:
    try:
        yield
    except exceptions.AlreadyEnqueued:
        raise
    except exceptions.ConnectorException as error:
        if isinstance(error.__cause__, psycopg.DataError):
            raise InputError(
                "The text holds a NUL character, which PostgreSQL cannot store.",
                fix="Remove it and send the text again.",
            ) from error
        if changing and _in_doubt(error.__cause__):
            raise StorageError(
                "The connection to the database was lost while a job was put in. "
                "Whether it is there is unknown.",
                fix="See 'steward jobs list' before you try again.",
                in_doubt=True,
            ) from error
        raise StorageError("The database does not take the job now.", fix="Try again soon.") from error


def _in_doubt(cause: BaseException | None) -> bool:
    """Whether the server may have done what it did not answer; one that is ending says so (class 57)."""
    if not isinstance(cause, psycopg.OperationalError) or isinstance(cause, PoolTimeout):
        return False
    return cause.sqlstate is None or cause.sqlstate.startswith("57")
