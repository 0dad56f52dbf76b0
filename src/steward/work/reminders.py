"""Reminders as jobs: each rings at its time, on whichever instance is there, and once.

Owns when a job is put in. The truth is the task's own time to tell, in the database: a job only asks for it,
so that one too many tells nothing twice and one too few is found by the next look of any worker. A
reminder whose time passed while nothing ran is told at the next start.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from steward.contract.errors import StewardError
from steward.tasks.notices import Notice
from steward.work.delivery import Postman
from steward.work.kinds import JobKind, JobRun, Lookout, Retries
from steward.work.queue import WorkQueue

logger = logging.getLogger(__name__)

REMIND = "remind"
QUEUE = "notify"
SECONDS_BETWEEN_LOOKS = 15.0
AHEAD = timedelta(minutes=1)  # what is due sooner is a job already
FIRST = 10  # before other work that waits
RETRIES = Retries(most=8, first_wait=2.0)  # some ten minutes


class DueReminders(Protocol):
    async def remind(
        self, task_id: str, due: datetime, *, now: datetime
    ) -> tuple[Notice | None, datetime | None]:
        """The notice of a task for this time, made once, and the time of the next one."""
        ...

    async def due_reminders(
        self, until: datetime, *, limit: int = 1000
    ) -> Sequence[tuple[str, datetime]]: ...


class Reminders:
    """Implements the tasks' `Alarm`."""

    def __init__(
        self, queue: WorkQueue, due: DueReminders, postman: Postman, *, now: Callable[[], datetime]
    ) -> None:
        self._queue = queue
        self._due = due
        self._postman = postman
        self._now = now
        queue.add(JobKind(name=REMIND, run=self._remind, queue=QUEUE, retries=RETRIES, kept=False))
        queue.watch(Lookout(name="reminders that are due", look=self.look, every=SECONDS_BETWEEN_LOOKS))

    async def set(self, task_id: str, at: datetime) -> None:
        if at > self._now() + AHEAD:
            return
        try:
            await self._put_in(task_id, at)
        except StewardError as error:  # the task is kept, and the next look finds it
            logger.warning("reminder_not_set", extra={"task": task_id, "problem": error.message})

    async def look(self) -> None:
        """Put in a job for everything that is due or will be soon."""
        for task_id, at in await self._due.due_reminders(self._now() + AHEAD):
            await self._put_in(task_id, at)

    async def _put_in(self, task_id: str, at: datetime) -> None:
        due = at.astimezone(UTC).isoformat()  # one word for one time, whatever zone it was said in
        await self._queue.defer(
            REMIND,
            {"task": task_id, "due": due},
            user=None,
            title="Remind of a task",
            once=f"{REMIND}:{task_id}:{due}",
            # A look may put in another one while the first runs: it waits, and finds what was delivered.
            alone=f"{REMIND}:{task_id}:{due}",
            at=at,
            priority=FIRST,
        )

    async def _remind(self, run: JobRun) -> dict[str, str] | None:
        task_id, due = str(run.given["task"]), datetime.fromisoformat(run.given["due"])
        notice, following = await self._due.remind(task_id, due, now=self._now())
        if following is not None:
            await self.set(task_id, following)
        if notice is None:
            return None
        await run.check()
        return await self._postman.deliver(notice)
