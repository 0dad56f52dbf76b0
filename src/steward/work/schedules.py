"""Schedules as jobs: an agent's turn at its time, by the same door as any other, and its owner is told.

Owns what the owner is told of a run. A run is taken once, by whichever instance. One that was cut off is gone
on with where its turn stands; where that is not known it is not begun again, because what it did stays done:
its owner hears of it instead.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from steward.contract.call import new_id
from steward.contract.errors import StewardError
from steward.conversations.model import Answer, AnswerStatus
from steward.tasks.notices import LATE, Notice, NoticeKind, late_words
from steward.tasks.schedules import Claimed, Schedule, ScheduleStore
from steward.work.delivery import Postman
from steward.work.kinds import JobKind, JobRun, Lookout, Retries
from steward.work.queue import WorkQueue
from steward.work.reminders import AHEAD, SECONDS_BETWEEN_LOOKS

logger = logging.getLogger(__name__)

RUN = "run_schedule"
MOST_TOLD = 4000  # characters of an answer
CUT_OFF = (
    "This run was cut off before it ended, and it is not begun again: what it did until then stays done. "
    "See 'steward log'."
)

# Another worker may have the turn still: then the job waits until it is free or done.
RETRIES = Retries(most=30, first_wait=2.0, longest_wait=15.0)


class TakeTurn(Protocol):
    async def __call__(
        self,
        schedule: Schedule,
        *,
        conversation: str | None,
        begun: Callable[[str], Awaitable[None]],
        leaving: Callable[[], bool],
    ) -> Answer:
        """A turn with the schedule's request, or what is left of the one in this conversation.

        `begun` hears of a new conversation; `leaving`: whether another worker goes on after a cut.
        """
        ...


class DueSchedules(ScheduleStore, Protocol):
    async def due_runs(self, until: datetime, *, limit: int = 1000) -> Sequence[tuple[str, datetime]]: ...


class ScheduledWork:
    def __init__(
        self,
        queue: WorkQueue,
        store: DueSchedules,
        postman: Postman,
        *,
        turn: TakeTurn,
        now: Callable[[], datetime],
    ) -> None:
        self._queue = queue
        self._store = store
        self._postman = postman
        self._turn = turn
        self._now = now
        queue.add(JobKind(name=RUN, run=self._run, queue="schedules", retries=RETRIES))
        queue.watch(Lookout(name="schedules that are due", look=self.look, every=SECONDS_BETWEEN_LOOKS))

    async def set(self, schedule: Schedule) -> None:
        """Its next run becomes a job once it is near; what is not put in now is found by the next look."""
        if schedule.next_at is None or schedule.next_at > self._now() + AHEAD:
            return
        try:
            await self._put_in(schedule.id, schedule.next_at)
        except StewardError as error:
            logger.warning("schedule_not_set", extra={"schedule": schedule.id, "problem": error.message})

    async def look(self) -> None:
        for schedule_id, at in await self._store.due_runs(self._now() + AHEAD):
            await self._put_in(schedule_id, at)

    async def _put_in(self, schedule_id: str, at: datetime) -> None:
        due = at.astimezone(UTC).isoformat()  # one word for one time, whatever zone it was said in
        await self._queue.defer(
            RUN,
            {"schedule": schedule_id, "due": due},
            user=None,
            title="Run a schedule",
            once=f"{RUN}:{schedule_id}:{due}",
            alone=f"{RUN}:{schedule_id}",
            at=at,
        )

    async def _run(self, run: JobRun) -> dict[str, str] | None:
        schedule_id, due = str(run.given["schedule"]), datetime.fromisoformat(run.given["due"])
        await run.check()
        claimed = await self._store.claim(schedule_id, due, now=self._now())
        if claimed is None:
            return None
        await self.set(claimed.schedule)
        notice = claimed.notice or await self._told(claimed, due, run)
        return None if notice is None else await self._postman.deliver(notice)

    async def _told(self, claimed: Claimed, due: datetime, run: JobRun) -> Notice | None:
        schedule = claimed.schedule
        late = f"{late_words(due, self._now(), schedule.zone)}\n" if self._now() - due > LATE else ""
        if claimed.again and claimed.conversation is None:
            return await self._finish(schedule, due, text=late + CUT_OFF, status="interrupted")
        try:
            answer = await self._turn(
                schedule,
                conversation=claimed.conversation,
                begun=lambda made: self._store.note_conversation(schedule.id, due, made),
                leaving=lambda: not run.cancelled(),
            )
        except StewardError as error:
            if error.retryable and claimed.conversation is not None:
                raise  # its turn is somewhere: look again later
            return await self._finish(schedule, due, text=late + error.explain(), status="failed")
        return await self._finish(
            schedule, due, text=late + told(answer), status=answer.status.value, answer=answer
        )

    async def _finish(
        self, schedule: Schedule, due: datetime, *, text: str, status: str, answer: Answer | None = None
    ) -> Notice | None:
        now = self._now()
        notice = Notice(
            id=new_id(),
            user_id=schedule.user_id,
            kind=NoticeKind.SCHEDULE,
            source=schedule.id,
            due=due,
            title=schedule.request,
            text=text,
            made_at=now,
            conversation=None if answer is None else answer.conversation,
            proposal_id=None if answer is None else answer.proposal_id,
        )
        return await self._store.finish(schedule.id, due, notice=notice, status=status, now=now)


def told(answer: Answer) -> str:
    said = answer.answer if len(answer.answer) <= MOST_TOLD else f"{answer.answer[:MOST_TOLD]} …"
    match answer.status:
        case AnswerStatus.PENDING_APPROVAL:
            more = (
                f"This waits for your yes: 'steward approve {answer.proposal_id}', or on the page. "
                "Until then it is not done."
            )
        case AnswerStatus.QUESTION:
            more = f'Answer with: steward ask "..." --conversation {answer.conversation}'
        case AnswerStatus.DONE | AnswerStatus.GAP | AnswerStatus.FAILED:
            return said
    return f"{said}\n\n{more}"
