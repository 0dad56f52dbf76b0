"""When the owner of a task is told of it: at its due time, at a moment said instead, and again if it repeats.

Pure. A day without a time is told in the morning of its owner's zone. Reckoned in wall-clock time, so that
"every day at 9" stays at 9 when the clocks change: an hour that is left out is told when the clocks have
moved on, one that comes twice is told the first time.
"""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from steward.tasks.envelopes import TaskCode, TaskRefusal
from steward.tasks.model import Due, Notify, Task
from steward.tasks.repeats import next_due
from steward.tasks.rhythm import MORNING

NO_TIME = "A reminder needs a due date, or a time in notify"


def arranged(task: Task) -> Task:
    """A task that somebody has just set: told at the time it names, at once where that has gone by."""
    if task.notify is not None and task.due is None and task.notify.at is None:
        raise TaskRefusal(TaskCode.INVALID_NOTIFY, NO_TIME)
    return replace(task, tell_at=_time_to_tell(task))


def rearranged(before: Task, after: Task, *, now: datetime, asked: bool = True) -> Task:
    """A changed task: what was told stays told, unless its time was set anew (`asked`, not by an undo)."""
    after = _without_a_time(before, after)
    anew = (before.due, before.notify) != (after.due, after.notify)
    if anew and asked:
        return arranged(after)
    same = before.completed == after.completed and before.recurrence == after.recurrence
    if same and not anew:
        return after
    when = _time_to_tell(after)
    return replace(after, tell_at=when) if when is None or when > now else told(after, now=now)


def told(task: Task, *, now: datetime) -> Task:
    """After its owner was told: a task that repeats is told of again, done or not; another one is not."""
    notify = None if task.notify is None else Notify()
    again = None
    # The clock of this machine may be a little behind: what was told now is not told again.
    if notify is not None and not task.completed and task.due is not None and task.recurrence is not None:
        again = next_due(task.due, task.recurrence, now=max(now, task.tell_at or now), zone=task.zone)
    return replace(task, notify=notify, tell_at=None if again is None else telling(again[0], task.zone))


def follows(task: Task) -> Task:
    """The next task of one that repeats: told at its own time, whatever was put off before."""
    return arranged(replace(task, notify=None if task.notify is None else Notify()))


def _without_a_time(before: Task, after: Task) -> Task:
    """A due date that was cleared takes the reminder at it along."""
    if before.due is not None and after.due is None and after.notify == before.notify == Notify():
        return replace(after, notify=None)
    return after


def _time_to_tell(task: Task) -> datetime | None:
    if task.notify is None or task.completed:
        return None
    if task.notify.at is not None:
        return task.notify.at
    return None if task.due is None else telling(task.due, task.zone)


def telling(due: Due, zone: ZoneInfo) -> datetime:
    if due.has_time:
        return due.at.astimezone(UTC)
    return datetime.combine(due.on, MORNING, tzinfo=zone).astimezone(UTC)
