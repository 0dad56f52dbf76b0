"""What a task is, who owns it, and what happened to it.

Owns the records and the limits that people count by. Does not own where they are kept (storage).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal
from zoneinfo import ZoneInfo

import regex

MAX_TITLE = 500
MAX_DESCRIPTION = 2000
MAX_LISTED = 100
MAX_OFFSET = 100_000
# What people count as one character may be many code points; this bounds the many.
CODE_POINTS_PER_CHARACTER = 20

# No vowels and no look-alikes, so that an id is never a word and never misread.
_ALPHABET = "23456789bcdfghjkmnpqrstvwxyz"
_GRAPHEME = regex.compile(r"\X")


def new_task_id() -> str:
    """96 random bits and more: cannot be guessed, and is not mistaken for another kind of id."""
    number = int.from_bytes(os.urandom(16))  # more bits than are used, so that every letter is as likely
    letters: list[str] = []
    for _ in range(20):
        number, at = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[at])
    return "task_" + "".join(letters)


def characters(text: str, *, limit: int) -> int:
    """How many characters a person sees; any number over the limit where there are more."""
    if len(text) > limit * CODE_POINTS_PER_CHARACTER:
        return limit + 1
    if text.isascii() and "\r\n" not in text:  # the only characters of ASCII that are seen as one
        return len(text)
    count = 0
    for _ in _GRAPHEME.finditer(text):
        count += 1
        if count > limit:
            break
    return count


class Priority(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    id: str
    name: str
    time_zone: str = "UTC"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)


@dataclass(frozen=True, slots=True)
class Due:
    """When something is due: a moment, or a whole day in its owner's zone."""

    on: date
    at: datetime  # the day's start where no time was given
    has_time: bool

    @classmethod
    def day(cls, on: date, zone: ZoneInfo) -> "Due":
        return cls(on=on, at=datetime(on.year, on.month, on.day, tzinfo=zone), has_time=False)

    @classmethod
    def moment(cls, at: datetime, zone: ZoneInfo) -> "Due":
        local = at.astimezone(zone)
        return cls(on=local.date(), at=local, has_time=True)

    def text(self, zone: ZoneInfo) -> str:
        """ISO 8601: a date, or a date and time in the reader's zone."""
        return self.at.astimezone(zone).isoformat() if self.has_time else self.on.isoformat()


@dataclass(frozen=True, slots=True)
class Notify:
    """That the owner is told of a task: when it is due, or at another moment (a reminder put off)."""

    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: str
    user_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    description: str | None = None
    due: Due | None = None
    priority: Priority = Priority.MEDIUM
    recurrence: str | None = None
    notify: Notify | None = None
    tell_at: datetime | None = None  # when the owner is told next; None where nothing is left to tell
    completed_at: datetime | None = None
    idempotency_key: str | None = None
    time_zone: str = "UTC"  # the owner's: it comes with the task, so that showing one asks nothing more

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def completed(self) -> bool:
        return self.completed_at is not None


Action = Literal["added", "updated", "completed", "reopened", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent:
    """One change: the fields that changed, before and after."""

    id: int
    task_id: str
    at: datetime
    action: Action
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]
    undone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    completed: bool | None = None
    priority: Priority | None = None
    due_before: Due | None = None
    due_after: Due | None = None
    search: str | None = None
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a decision makes of a task, and the task that follows a recurring one."""

    task: Task
    action: Action
    follow_up: Task | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    before: Task
    after: Task
    follow_up: Task | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    task: Task


@dataclass(frozen=True, slots=True)
class UserMissing:
    pass


@dataclass(frozen=True, slots=True)
class TaskMissing:
    pass


@dataclass(frozen=True, slots=True)
class NotYours:
    pass


Refused = UserMissing | TaskMissing | NotYours

CHANGEABLE = ("title", "description", "due_date", "priority", "recurrence", "notify", "completed")


def differences(before: Task, after: Task) -> tuple[str, ...]:
    """The names of the fields that differ, as the tools call them."""
    pairs: dict[str, tuple[object, object]] = {
        "title": (before.title, after.title),
        "description": (before.description, after.description),
        "due_date": (before.due, after.due),
        "priority": (before.priority, after.priority),
        "recurrence": (before.recurrence, after.recurrence),
        "notify": (before.notify, after.notify),
        "completed": (before.completed, after.completed),
    }
    return tuple(name for name in CHANGEABLE if pairs[name][0] != pairs[name][1])


def reopened(task: Task, *, at: datetime) -> Task:
    return replace(task, completed_at=None, updated_at=at)
