"""What a person at the terminal or the page needs beside the five tools.

Owns finding a task by the words used for it, reading a new task out of a sentence, and history. None of it
is offered to a model. Raises errors of the error tree with the tools' own codes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from steward.contract.errors import ForbiddenError, InputError, NotFoundError, StewardError
from steward.language.dates.mention import DateMention
from steward.language.telling import asks_to_be_told
from steward.tasks.envelopes import LISTED, Envelope, TaskCode, refusal, shape
from steward.tasks.matching import matching
from steward.tasks.model import (
    MAX_TITLE,
    Due,
    Refused,
    Task,
    TaskEvent,
    TaskFilter,
    User,
    UserMissing,
)
from steward.tasks.new_tasks import read_new_tasks
from steward.tasks.ports import TaskStore
from steward.tasks.repeats import first_due
from steward.tasks.users import Users

ID_PREFIX = "task_"
SHORTEST_PREFIX = 3
MAX_SEARCHED = 10_000
WHOLE = (*LISTED, "updated_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSentence:
    """A new task as a sentence describes it, in the words of `add_task`."""

    title: str
    due_date: str | None = None
    priority: str | None = None
    description: str | None = None
    recurrence: str | None = None
    notify: bool | None = None


class Desk:
    def __init__(
        self,
        *,
        tasks: TaskStore,
        users: Users,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._tasks = tasks
        self._users = users
        self._now = now

    async def get(self, user_id: str, task_id: str) -> Envelope:
        found = await self._tasks.get(user_id, _clean(task_id))
        if not isinstance(found, Task):
            raise _error(found)
        return shape(found, *WHOLE)

    async def find(self, user_id: str, reference: str) -> list[Envelope]:
        """The tasks a person may mean: by id, by the start of an id, else by words of the title.

        Open tasks come first: a finished one is meant only where no open one fits.
        """
        found = await self._tasks.list(user_id, TaskFilter(limit=MAX_SEARCHED))
        if isinstance(found, UserMissing):
            raise _error(found)
        meant = _by_id(reference.strip(), found)
        for done in (False, True):
            meant = meant or _by_words(reference, [task for task in found if task.completed is done])
        return [shape(task, *WHOLE) for task in meant]

    async def read(self, user_id: str, text: str) -> list[TaskSentence]:
        """The tasks in a sentence such as "buy milk tomorrow 5pm"; what is not date or priority is title."""
        if not text.strip() or "\0" in text or len(text) > 20 * MAX_TITLE:
            raise InputError("There is no task in this text.", fix='Say it like "buy milk tomorrow 5pm".')
        user = await self._users.get(user_id)
        now, told = self._now(), asks_to_be_told(text)
        read = read_new_tasks(text, now.astimezone(user.zone))
        # A title that fills its limit was cut: the tool must see, and refuse, the whole of it.
        if not read or any(len(task.title) >= MAX_TITLE for task in read):
            return [TaskSentence(title=" ".join(text.split()))]
        found = [
            TaskSentence(
                title=task.title,
                due_date=_due_text(task.due, task.recurrence, user=user, now=now),
                priority=None if task.priority is None else task.priority.value,
                description=task.description,
                recurrence=task.recurrence,
            )
            for task in read
        ]
        return [replace(each, notify=True) if told and each.due_date else each for each in found]

    async def history(self, user_id: str, task_id: str) -> list[Envelope]:
        events = await self._tasks.history(user_id, _clean(task_id))
        if not isinstance(events, Sequence):
            raise _error(events)
        return [_event(event) for event in events]


def _clean(task_id: str) -> str:
    """An id that PostgreSQL can look up; one that cannot exist stays one that does not."""
    return task_id.replace("\0", "").encode(errors="replace").decode()


def _by_id(reference: str, tasks: Sequence[Task]) -> list[Task]:
    start = reference.lower().removeprefix(ID_PREFIX)
    if len(start) < SHORTEST_PREFIX or not start.isalnum():
        return []
    return [task for task in tasks if task.id.removeprefix(ID_PREFIX).startswith(start)]


def _by_words(reference: str, tasks: Sequence[Task]) -> list[Task]:
    return matching(reference[:MAX_TITLE], tasks, title=lambda task: task.title)


def _due_text(due: DateMention | None, recurrence: str | None, *, user: User, now: datetime) -> str | None:
    if due is not None:
        at = Due.moment(due.start, user.zone) if due.has_time else Due.day(due.start.date(), user.zone)
        return at.text(user.zone)
    first = None if recurrence is None else first_due(recurrence, now=now, zone=user.zone)
    return None if first is None else first.text(user.zone)


def _error(refused: Refused) -> StewardError:
    why = refusal(refused)
    kind = ForbiddenError if why.code is TaskCode.UNAUTHORIZED else NotFoundError
    return kind(f"{why.message}.", code=why.code)


def _event(event: TaskEvent) -> Envelope:
    before: dict[str, Any] | None = None if event.before is None else dict(event.before)
    return {
        "at": event.at.isoformat(),
        "action": event.action,
        "before": before,
        "after": dict(event.after),
        "undone": event.undone,
    }
