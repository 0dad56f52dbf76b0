"""The queue on a real PostgreSQL: what is put in is run, once, whatever happens to its worker."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from procrastinate.schema import SchemaManager
from tests.support.waiting import until

from steward.contract.errors import ConflictError, ErrorCode, InputError, NotFoundError, UnavailableError
from steward.contract.jobs import JobState, JobStore, JobTry
from steward.storage.database.migrate import read_migrations
from steward.storage.database.postgres import Database
from steward.storage.jobs import PostgresJobStore, count_jobs
from steward.storage.tasks import PostgresUserStore
from steward.tasks.model import User
from steward.work import engine, fencing
from steward.work.kinds import JobKind, JobLostError, JobRun, Lookout, Retries
from steward.work.queue import NewJob, Tempo, WorkQueue

QUICK = Tempo(look=0.05, heartbeat=0.1, lost=1.0, finish=0.2)


@asynccontextmanager
async def queue_on(database: Database, *kinds: JobKind, tempo: Tempo = QUICK) -> AsyncIterator[WorkQueue]:
    queue = WorkQueue(
        address=lambda: database.url,
        store=PostgresJobStore(database),
        revive=lambda: database.fetchval("SELECT 1"),
        tempo=tempo,
    )
    for kind in kinds:
        queue.add(kind)
    try:
        yield queue
    finally:
        await queue.close()


async def ended(queue: WorkQueue, job: int | None, state: JobState = JobState.DONE) -> Any:
    assert job is not None

    async def is_so() -> bool:
        return (await queue.store.get(job, user=None)).state is state

    await until(is_so)
    return await queue.store.get(job, user=None)


def counting(seen: list[Any], result: Any = None) -> Callable[[JobRun], Any]:
    async def run(job: JobRun) -> Any:
        seen.append(job.given)
        return result

    return run


async def test_a_job_runs_and_keeps_its_result(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen, {"said": "hello"}))) as queue:
        job = await queue.defer("greet", {"to": "Ana"}, user="local", title="Greet Ana")
        async with queue.worker():
            stored = await ended(queue, job)
    assert seen == [{"to": "Ana"}]
    assert (stored.title, stored.user, stored.result) == ("Greet Ana", "local", {"said": "hello"})


async def test_jobs_are_counted_by_state_and_by_how_long_the_first_waits(database: Database) -> None:
    async with queue_on(database, JobKind(name="greet", run=counting([]))) as queue:
        hour = timedelta(hours=1)
        for at in (None, datetime.now(UTC) - hour, datetime.now(UTC) + hour):
            await queue.defer("greet", {}, user="local", title="Greet", at=at)
    counted, late = await count_jobs(database)
    assert counted == {"waiting": 3, "running": 0, "failed": 0}
    assert 3_600 <= late < 7_200


async def test_a_job_waits_for_its_time(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue, queue.worker():
        due = datetime.now(UTC) + timedelta(seconds=0.5)
        job = await queue.defer("greet", {}, user="local", title="Later", at=due)
        await ended(queue, job)
        assert datetime.now(UTC) >= due


async def test_one_word_waits_once(database: Database) -> None:
    async with queue_on(database, JobKind(name="greet", run=counting([]))) as queue:
        first = await queue.defer("greet", {}, user="local", title="One", once="same")
        second = await queue.defer("greet", {}, user="local", title="Two", once="same")
    assert first is not None
    assert second is None


async def test_many_jobs_go_in_at_once(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue, queue.worker():
        jobs = [NewJob(given={"n": n}, title=f"Job {n}") for n in range(20)]
        made = await queue.defer_many("greet", jobs, user="local")
        for job in made:
            await ended(queue, job)
    assert sorted(given["n"] for given in seen) == list(range(20))


async def refuse_notes(database: Database, times: int) -> None:
    """The disk is full for so many writes."""
    await database.execute("CREATE SEQUENCE refusals")
    await database.execute(
        f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('refusals') <= {times} THEN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END IF;
        RETURN NEW; END $$"""
    )
    await database.execute(
        "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON steward_work.job_notes "
        "FOR EACH ROW EXECUTE FUNCTION refuse()"
    )


async def test_a_job_whose_result_cannot_be_stored_at_first_is_not_done_again(database: Database) -> None:
    seen: list[Any] = []
    await refuse_notes(database, 3)
    kind = JobKind(name="greet", run=counting(seen, "hello"), retries=Retries(first_wait=0.01))
    async with queue_on(database, kind) as queue, queue.worker():
        stored = await ended(queue, await queue.defer("greet", {}, user="local", title="Greet"))
    assert seen == [{}]
    assert (stored.result, stored.attempts, stored.failures) == ("hello", 1, 0)


async def test_a_failure_that_cannot_be_stored_at_first_is_one_all_the_same(database: Database) -> None:
    interrupted: list[bool] = []

    async def unsure(job: JobRun) -> None:
        interrupted.append(job.interrupted)
        raise ConflictError("Perhaps it ran.")

    await refuse_notes(database, 3)
    async with queue_on(database, JobKind(name="unsure", run=unsure)) as queue, queue.worker():
        job = await queue.defer("unsure", {}, user="local", title="Unsure")
        stored = await ended(queue, job, JobState.FAILED)
    assert interrupted == [False]
    assert (stored.error, stored.failures) == ("Perhaps it ran.", 1)


async def refuse_endings(database: Database, times: int) -> None:
    """No job comes to an end, nor is given back, for so many tries."""
    await database.execute("CREATE SEQUENCE public.refusals")
    await database.execute(
        f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('public.refusals') <= {times} THEN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END IF;
        RETURN coalesce(NEW, OLD); END $$"""
    )
    await database.execute(
        "CREATE TRIGGER full_disk BEFORE UPDATE OR DELETE ON steward_work.procrastinate_jobs FOR EACH ROW "
        "WHEN (OLD.status = 'doing') EXECUTE FUNCTION refuse()"
    )


async def test_a_job_whose_end_cannot_be_stored_at_first_ends(database: Database) -> None:
    seen: list[Any] = []
    await refuse_endings(database, 3)
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue, queue.worker():
        await ended(queue, await queue.defer("greet", {}, user="local", title="Greet"))
    assert seen == [{}]


async def test_housekeeping_whose_end_cannot_be_stored_at_first_is_no_failure(database: Database) -> None:
    await refuse_endings(database, 3)
    seen: list[Any] = []
    kind = JobKind(name="tidy", run=counting(seen), kept=False)
    async with queue_on(database, kind) as queue, queue.worker():
        await queue.defer("tidy", {}, user=None, title="Tidy")

        async def is_gone() -> bool:
            return bool(seen) and not (await queue.store.list(user=None, kind="tidy")).items

        await until(is_gone)
    assert seen == [{}]


async def test_a_job_that_cannot_be_given_back_at_first_is_tried_again(database: Database) -> None:
    tries: list[int] = []

    async def flaky(job: JobRun) -> None:
        tries.append(job.attempt)
        if job.attempt == 0:
            raise UnavailableError("Not yet.")

    await refuse_endings(database, 3)
    kind = JobKind(name="flaky", run=flaky, retries=Retries(first_wait=0.01))
    async with queue_on(database, kind) as queue, queue.worker():
        await ended(queue, await queue.defer("flaky", {}, user="local", title="Flaky"))
    assert tries == [0, 1]


async def test_a_worker_stops_though_the_end_of_its_job_cannot_be_stored(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue:
        async with queue.worker():
            await refuse_endings(database, 1_000_000)
            job = await queue.defer("greet", {}, user="local", title="Greet")
            await until(lambda: bool(seen))
        await database.execute("DROP TRIGGER full_disk ON steward_work.procrastinate_jobs")
        async with queue.worker():
            await ended(queue, job)


async def test_a_job_whose_result_is_kept_is_done_though_its_worker_died(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue:
        job = await queue.defer("greet", {}, user="local", title="Greet")
        assert job is not None
        await database.execute(
            "UPDATE steward_work.procrastinate_jobs SET status = 'doing' WHERE id = $1", job
        )
        assert await queue.store.note_result(JobTry(job, worker=None, attempt=0), "hello")
        async with queue.worker():
            stored = await ended(queue, job)
    assert (seen, stored.result) == ([], "hello")


async def test_what_a_worker_notes_of_a_job_that_it_lost_is_not_kept(database: Database) -> None:
    async with queue_on(database, JobKind(name="greet", run=counting([], "hello"))) as queue:
        job = await queue.defer("greet", {}, user="local", title="Greet")
        async with queue.worker():
            await ended(queue, job)
        late = JobTry(job or 0, worker=None, attempt=0)
        assert not await queue.store.note_failure(late, "Too late.", code=ErrorCode.INTERNAL, failures=1)
        assert (await queue.store.get(late.job, user=None)).error is None


async def test_a_failure_worth_it_is_tried_again(database: Database) -> None:
    tries: list[int] = []

    async def flaky(job: JobRun) -> str:
        tries.append(job.attempt)
        if len(tries) < 3:
            raise UnavailableError("Not now.")
        return "at last"

    kind = JobKind(name="flaky", run=flaky, retries=Retries(most=5, first_wait=0.01))
    async with queue_on(database, kind) as queue, queue.worker():
        stored = await ended(queue, await queue.defer("flaky", {}, user="local", title="Flaky"))
    assert (tries, stored.result, stored.failures) == ([0, 1, 2], "at last", 2)


async def test_a_job_is_tried_again_in_time_though_this_machines_clock_is_ahead(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database decides when a job begins: a wrong clock here must not put it off for weeks."""
    ahead = datetime.now(UTC) + timedelta(days=40)
    for module in (engine, fencing):
        monkeypatch.setattr(module, "utcnow", lambda: ahead)
    tries: list[int] = []

    async def flaky(job: JobRun) -> None:
        tries.append(job.attempt)
        if len(tries) < 3:
            raise UnavailableError("Not now.")

    kind = JobKind(name="flaky", run=flaky, retries=Retries(most=5, first_wait=0.01))
    async with queue_on(database, kind) as queue, queue.worker():
        await ended(queue, await queue.defer("flaky", {}, user="local", title="Flaky"))
    assert tries == [0, 1, 2]


@pytest.mark.parametrize(
    ("error", "code", "tries"),
    [
        (UnavailableError("Not now."), ErrorCode.SERVICE_UNAVAILABLE, 3),
        (InputError("Never."), ErrorCode.INVALID_INPUT, 1),
        (RuntimeError("a secret of the inside"), ErrorCode.INTERNAL, 3),
    ],
)
async def test_what_keeps_failing_is_given_up_and_says_why(
    database: Database, error: Exception, code: str, tries: int
) -> None:
    async def broken(_: JobRun) -> None:
        raise error

    kind = JobKind(name="broken", run=broken, retries=Retries(most=3, first_wait=0.01))
    async with queue_on(database, kind) as queue, queue.worker():
        job = await queue.defer("broken", {}, user="local", title="Broken")
        stored = await ended(queue, job, JobState.FAILED)
    assert (stored.error_code, stored.failures) == (code, tries)
    assert "secret" not in stored.error


async def test_a_dead_letter_is_retried_by_hand(database: Database) -> None:
    mended: list[bool] = []

    async def broken(_: JobRun) -> None:
        if not mended:
            raise InputError("Broken.")

    async with queue_on(database, JobKind(name="broken", run=broken)) as queue, queue.worker():
        job = await queue.defer("broken", {}, user="local", title="Broken")
        await ended(queue, job, JobState.FAILED)
        mended.append(True)
        await queue.store.retry(job or 0, user="local")
        stored = await ended(queue, job)
        with pytest.raises(ConflictError):
            await queue.store.retry(stored.id, user="local")
    assert (stored.failures, stored.error) == (0, None)


async def test_one_that_waits_is_cancelled_and_never_runs(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue:
        job = await queue.defer("greet", {}, user="local", title="Never")
        cancelled = await queue.store.cancel(job or 0, user="local")
        async with queue.worker():
            await ended(queue, await queue.defer("greet", {"n": 2}, user="local", title="Other"))
    assert cancelled.state is JobState.CANCELLED
    assert seen == [{"n": 2}]


async def test_one_that_runs_is_stopped(database: Database) -> None:
    begun = asyncio.Event()

    async def long(job: JobRun) -> None:
        await job.progress(3, 10, "reading")
        begun.set()
        await asyncio.Event().wait()

    async with queue_on(database, JobKind(name="long", run=long)) as queue, queue.worker():
        job = await queue.defer("long", {}, user="local", title="Long")
        await begun.wait()
        await queue.store.cancel(job or 0, user="local")
        stored = await ended(queue, job, JobState.CANCELLED)
        with pytest.raises(ConflictError):
            await queue.store.cancel(stored.id, user="local")
    assert (stored.done, stored.total, stored.note) == (3, 10, "reading")


async def test_a_worker_that_stops_gives_its_job_back(database: Database) -> None:
    begun = asyncio.Event()
    tries: list[int] = []

    async def long(job: JobRun) -> None:
        tries.append(job.attempt)
        begun.set()
        if len(tries) == 1:
            await asyncio.Event().wait()

    async with queue_on(database, JobKind(name="long", run=long)) as queue:
        job = await queue.defer("long", {}, user="local", title="Long")
        async with queue.worker():
            await begun.wait()
        assert (await queue.store.get(job or 0, user=None)).state is JobState.WAITING
        async with queue.worker():
            await ended(queue, job)
    assert tries == [0, 1]


async def test_a_dead_workers_job_goes_to_another_and_its_own_ending_counts_no_more(
    database: Database,
) -> None:
    """A worker whose heart stops (a machine asleep) comes back and must change nothing."""
    begun, go_on = asyncio.Event(), asyncio.Event()
    refused: list[bool] = []

    async def long(job: JobRun) -> str:
        if job.attempt:
            return "by the second"
        begun.set()
        await go_on.wait()
        with pytest.raises(JobLostError):
            await job.check()
        refused.append(True)
        return "by the first"

    kind = JobKind(name="long", run=long)
    asleep = Tempo(look=0.05, heartbeat=60, lost=60, finish=5)
    async with queue_on(database, kind, tempo=asleep) as first, queue_on(database, kind) as second:
        async with first.worker():
            job = await first.defer("long", {}, user="local", title="Long")
            await begun.wait()
            async with second.worker():
                assert (await ended(second, job)).result == "by the second"
            go_on.set()
            await until(lambda: bool(refused))
        assert (await second.store.get(job or 0, user=None)).state is JobState.DONE


async def test_a_job_that_kills_its_workers_is_given_up(database: Database) -> None:
    async with queue_on(
        database, JobKind(name="deadly", run=counting([]), retries=Retries(most_interruptions=2))
    ) as queue:
        job = await queue.defer("deadly", {}, user="local", title="Deadly")
        await database.execute(
            "UPDATE steward_work.procrastinate_jobs SET status = 'doing', attempts = 2 WHERE id = $1", job
        )
        async with queue.worker():
            await ended(queue, job, JobState.FAILED)
            said = "Its workers ended 3 times while it ran."
            await until(lambda: _failed_with(queue, job, said))


async def _failed_with(queue: WorkQueue, job: int | None, error: str) -> bool:
    return job is not None and (await queue.store.get(job, user=None)).error == error


async def test_a_periodic_job_comes_by_itself_and_leaves_nothing(database: Database) -> None:
    seen: list[Any] = []
    kind = JobKind(name="tick", run=counting(seen), every="* * * * * *", kept=False)
    async with queue_on(database, kind) as queue, queue.worker():
        await until(lambda: len(seen) >= 2)
        await until(lambda: _no_jobs(queue))
    assert all("timestamp" in given for given in seen)


async def _no_jobs(queue: WorkQueue) -> bool:
    return not (await queue.store.list(user=None, states=[JobState.DONE])).items


async def test_jobs_that_must_not_meet_run_one_after_another(database: Database) -> None:
    inside: list[int] = []
    most: list[int] = []

    async def careful(job: JobRun) -> None:
        inside.append(job.id)
        most.append(len(inside))
        await asyncio.sleep(0)
        inside.remove(job.id)

    async with queue_on(database, JobKind(name="careful", run=careful)) as queue, queue.worker():
        jobs = [NewJob(given={}, title="Careful", alone="same") for _ in range(5)]
        for job in await queue.defer_many("careful", jobs, user="local"):
            await ended(queue, job)
    assert max(most) == 1


async def test_a_worker_of_one_queue_leaves_the_others_alone(database: Database) -> None:
    seen: list[Any] = []
    kinds = [
        JobKind(name="here", run=counting(seen), queue="here"),
        JobKind(name="there", run=counting(seen), queue="there"),
    ]
    async with queue_on(database, *kinds) as queue, queue.worker(["here"]):
        there = await queue.defer("there", {"n": 1}, user="local", title="There")
        await ended(queue, await queue.defer("here", {"n": 2}, user="local", title="Here"))
        assert (await queue.store.get(there or 0, user=None)).state is JobState.WAITING
    assert seen == [{"n": 2}]


async def test_a_worker_survives_its_connections(database: Database) -> None:
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="greet", run=counting(seen))) as queue, queue.worker():
        await ended(queue, await queue.defer("greet", {"n": 1}, user="local", title="Before"))
        await database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'steward work' AND datname = current_database()"
        )
        await ended(queue, await queue.defer("greet", {"n": 2}, user="local", title="After"))
    assert [given["n"] for given in seen] == [1, 2]


async def test_people_see_their_own_jobs_page_by_page(database: Database) -> None:
    async with queue_on(database, JobKind(name="greet", run=counting([]))) as queue:
        for n in range(3):
            await queue.defer("greet", {}, user="ana", title=f"Ana's {n}")
        other = await queue.defer("greet", {}, user="ben", title="Ben's")
        first = await queue.store.list(user="ana", limit=2)
        rest = await queue.store.list(user="ana", limit=2, after=first.next)
        with pytest.raises(NotFoundError):
            await queue.store.get(other or 0, user="ana")
        with pytest.raises(InputError):
            await queue.store.list(user="ana", after="no cursor")
    assert [job.title for job in (*first.items, *rest.items)] == ["Ana's 2", "Ana's 1", "Ana's 0"]
    assert rest.next is None


async def test_a_users_jobs_go_with_the_user(database: Database) -> None:
    people = PostgresUserStore(database)
    for name in ("ana", "ben"):
        await people.add(User(id=name, name=name, time_zone="UTC"))
    async with queue_on(database, JobKind(name="greet", run=counting([]))) as queue:
        await queue.defer("greet", {}, user="ana", title="a secret of Ana's")
        await queue.defer("greet", {}, user="ben", title="Ben's")
        await people.erase("ana")
        left = await queue.store.list(user=None)
    assert [job.title for job in left.items] == ["Ben's"]


async def test_a_job_given_back_while_another_waits_to_do_the_same_leaves_it_to_that_one(
    database: Database,
) -> None:
    begun = asyncio.Event()
    tries: list[int] = []

    async def long(job: JobRun) -> None:
        tries.append(job.id)
        begun.set()
        if len(tries) == 1:
            await asyncio.Event().wait()

    async with queue_on(database, JobKind(name="long", run=long)) as queue:
        first = await queue.defer("long", {}, user="local", title="Long", once="same")
        async with queue.worker(concurrency=1):
            await begun.wait()
            second = await queue.defer("long", {}, user="local", title="Long", once="same")
        assert (await queue.store.get(first or 0, user=None)).state is JobState.CANCELLED
        async with queue.worker():
            await ended(queue, second)
    assert tries == [first, second]


async def test_a_lookout_looks_while_a_worker_runs_and_outlives_its_failures(database: Database) -> None:
    looks: list[bool] = []

    async def look() -> None:
        looks.append(queue.working)
        raise RuntimeError("not now")

    async with queue_on(database) as queue:
        queue.watch(Lookout(name="look", look=look, every=0.01))
        async with queue.worker():
            await until(lambda: len(looks) >= 3)
        seen = len(looks)
        assert not queue.working
    assert (all(looks), len(looks)) == (True, seen)


def test_kinds_are_known_once_and_before_the_work_begins() -> None:
    queue = WorkQueue(address=str, store=cast("JobStore", None), revive=cast("Any", None))
    kind = JobKind(name="greet", run=counting([]))
    queue.add(kind)
    with pytest.raises(ValueError, match="two kinds"):
        queue.add(kind)
    assert list(queue.kinds) == ["greet"]


async def test_an_unknown_kind_is_refused(database: Database) -> None:
    async with queue_on(database) as queue:
        with pytest.raises(NotFoundError):
            await queue.defer("dance", {}, user="local", title="Dance")


def test_the_engines_tables_are_those_of_the_installed_version() -> None:
    """A newer procrastinate with migrations of its own needs a numbered file of ours beside 0065."""
    [ours] = [each.sql for each in read_migrations() if each.number == 65]
    assert SchemaManager.get_schema() in ours


async def test_a_job_of_a_newer_program_waits_for_one_that_knows_its_kind(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fencing, "BETWEEN_STRANGERS", timedelta(seconds=0.1))
    seen: list[Any] = []
    async with queue_on(database, JobKind(name="brew", run=counting(seen))) as newer:
        async with queue_on(database) as older, older.worker():
            job = await newer.defer("brew", {"cups": 2}, user=None, title="Brew")

            async def went_back() -> bool:
                return (await newer.store.get(cast("int", job), user=None)).attempts > 0

            await until(went_back, seconds=60)
        async with newer.worker():
            await ended(newer, job)
    assert seen == [{"cups": 2}]
