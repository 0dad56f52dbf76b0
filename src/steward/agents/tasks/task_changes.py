"""What somebody wants changed about a task, as arguments of the tool that updates it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from steward.agents.tasks import task_words as words
from steward.contract import linear_re as re
from steward.language.dates.calendar import Grain, floor
from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.models.planner.readers import ReaderQuestion, Record
from steward.tasks.changes import Changes
from steward.tasks.repeats import first_due


def due_text(mention: DateMention) -> str:
    return mention.start.isoformat() if mention.has_time else mention.start.date().isoformat()


def finisher(changes: Changes, now: datetime) -> Callable[[Record], Mapping[str, Any] | ReaderQuestion]:
    def finish(task: Record) -> Mapping[str, Any] | ReaderQuestion:
        arguments: dict[str, Any] = {
            name: value
            for name, value in (
                ("title", changes.title),
                ("priority", changes.priority.value if changes.priority else None),
                ("completed", changes.completed),
                ("description", changes.description),
                ("recurrence", changes.recurrence),
                ("notify", changes.tell_at and changes.tell_at.isoformat()),
            )
            if value is not None
        }
        if changes.recurrence and not task.get("due_date"):
            first = first_due(changes.recurrence, now=now.replace(tzinfo=UTC), zone=ZoneInfo("UTC"))
            arguments |= {"due_date": first.on.isoformat()} if first else {}
        if changes.clear_due:
            arguments["due_date"] = None
        if changes.due is not None:
            arguments |= _moved(task, changes.due, now)
        if changes.delay is not None:
            due = _current_due(task, now)
            if due is None:
                return _what_change(
                    task, f"'{task.get('title', '')}' has no due date yet. When should it be due?"
                )
            arguments["due_date"] = _text(due[0] + changes.delay, has_time=due[1] or _finer(changes.delay))
        return arguments or _what_change(
            task, f"What would you like to change about '{task.get('title', '')}'?"
        )

    return finish


@dataclass(frozen=True, slots=True)
class _Clock:
    """A time of day in a title: "meeting at 3pm"."""

    start: int
    end: int


def _moved(task: Record, due: DateMention, now: datetime) -> dict[str, Any]:
    """The new date. A time alone keeps the day, and a time in the title does not stay behind."""
    if not due.time_only:
        return {"due_date": due_text(due)}
    value = due.value
    current = _current_due(task, now)
    if current is not None:
        day = current[0]
        value = value.replace(year=day.year, month=day.month, day=day.day)
    arguments: dict[str, Any] = {"due_date": value.isoformat()}
    title = str(task.get("title", ""))
    clock = _clock_in(title, now)
    if clock is not None:
        arguments["title"] = f"{title[: clock.start]}{words.clock_words(value)}{title[clock.end :]}"
    return arguments


def _clock_in(title: str, now: datetime) -> _Clock | None:
    for mention in find_dates(title, now):
        if mention.time_only and mention.end is None:
            start, end = mention.span
            lead = re.match(r"(?:at|by|@)\s+", title[start:end], re.IGNORECASE)
            return _Clock(start + (lead.end() if lead else 0), end)
    return None


def _current_due(task: Record, now: datetime) -> tuple[datetime, bool] | None:
    due = task.get("due_date")
    if not isinstance(due, str):
        return None
    if "T" in due:
        return datetime.fromisoformat(due), True
    return datetime.fromisoformat(due).replace(tzinfo=now.tzinfo), False


def _finer(delay: timedelta) -> bool:
    return delay.total_seconds() % 86_400 != 0


def _text(value: datetime, *, has_time: bool) -> str:
    return value.isoformat() if has_time else floor(value, Grain.DAY).date().isoformat()


def _what_change(task: Record, question: str) -> ReaderQuestion:
    known = {name: task[name] for name in ("title", "due_date") if task.get(name) is not None}
    return ReaderQuestion(question, {"waits_for": "change", "task_id": task.get("id"), "task": known})
