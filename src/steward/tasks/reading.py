"""Reading what a tool was given: titles, dates, priorities, filters, recurrence.

Pure. Raises `TaskRefusal` with the contract's own code. Lets no value through that the store cannot keep.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from steward.contract import linear_re as re
from steward.language.dates.find import DateNotUnderstoodError, parse_due
from steward.tasks.envelopes import TaskCode, TaskRefusal
from steward.tasks.model import (
    MAX_DESCRIPTION,
    MAX_LISTED,
    MAX_OFFSET,
    MAX_TITLE,
    Due,
    Notify,
    Priority,
    TaskFilter,
    characters,
)
from steward.tasks.reminding import telling
from steward.tasks.repeats import read_rule

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_id(value: Any, otherwise: TaskCode) -> str:
    """An id that may exist; for one that cannot, the same answer as for one that does not."""
    return _text(value, otherwise)


def read_title(value: Any) -> str:
    title = _text(value, TaskCode.INVALID_TITLE).strip()
    if not 1 <= characters(title, limit=MAX_TITLE) <= MAX_TITLE:
        raise TaskRefusal.of(TaskCode.INVALID_TITLE)
    return title


def read_description(value: Any) -> str | None:
    if value is None:
        return None
    description = _text(value, TaskCode.INVALID_DESCRIPTION)
    if characters(description, limit=MAX_DESCRIPTION) > MAX_DESCRIPTION:
        raise TaskRefusal.of(TaskCode.INVALID_DESCRIPTION)
    return description or None


def read_priority(value: Any) -> Priority:
    try:
        return Priority(value.strip().lower()) if isinstance(value, str) else Priority(value)
    except ValueError:
        raise TaskRefusal.of(TaskCode.INVALID_PRIORITY) from None


def read_completed(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TaskRefusal.of(TaskCode.INVALID_COMPLETED)
    return value


def read_due(value: Any, *, now: datetime, zone: ZoneInfo) -> Due | None:
    """ISO 8601 or everyday words; a date without a time is a whole day in the owner's zone."""
    if value is None:
        return None
    text = _text(value, TaskCode.INVALID_DATE).strip()
    try:
        if _DAY.fullmatch(text):
            return Due.day(date.fromisoformat(text), zone)
        if (moment := _iso_moment(text)) is not None:
            return Due.moment(moment if moment.tzinfo else moment.replace(tzinfo=zone), zone)
        mention = parse_due(text, now.astimezone(zone))
        return Due.moment(mention.start, zone) if mention.has_time else Due.day(mention.start.date(), zone)
    except (ValueError, OverflowError, DateNotUnderstoodError):
        raise TaskRefusal.of(TaskCode.INVALID_DATE) from None


def read_notify(value: Any, *, now: datetime, zone: ZoneInfo) -> Notify | None:
    """True: when it is due. A time, in the forms of a due date: then. False or null: not at all."""
    if value is None or value is False:
        return None
    if value is True:
        return Notify()
    try:
        due = read_due(value, now=now, zone=zone)
    except TaskRefusal:
        raise TaskRefusal.of(TaskCode.INVALID_NOTIFY) from None
    assert due is not None
    return Notify(telling(due, zone))


def _iso_moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if re.match(r"\d{4}-\d{2}-\d{2}[T ]", text) else None
    except ValueError:
        return None


def read_recurrence(value: Any) -> str | None:
    return None if value is None else read_rule(_text(value, TaskCode.INVALID_RECURRENCE))


def read_key(value: Any) -> str | None:
    if value is None:
        return None
    key = _text(value, TaskCode.INVALID_KEY)
    if not 1 <= len(key) <= 200:
        raise TaskRefusal.of(TaskCode.INVALID_KEY)
    return key


def read_filter(given: Mapping[str, Any], *, now: datetime, zone: ZoneInfo) -> TaskFilter:
    reading = _FilterReading(given, now, zone)
    return TaskFilter(
        completed=reading.flag("completed"),
        priority=reading.priority(),
        due_before=reading.due("due_before"),
        due_after=reading.due("due_after"),
        search=reading.search(),
        limit=reading.limit(),
        offset=reading.offset(),
    )


@dataclass(frozen=True, slots=True)
class _FilterReading:
    given: Mapping[str, Any]
    now: datetime
    zone: ZoneInfo

    def flag(self, name: str) -> bool | None:
        value = self.given.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise _invalid(f"{name} must be true or false")

    def priority(self) -> Priority | None:
        value = self.given.get("priority")
        try:
            return None if value is None else read_priority(value)
        except TaskRefusal:
            raise _invalid("priority must be low, medium, or high") from None

    def due(self, name: str) -> Due | None:
        try:
            return read_due(self.given.get(name), now=self.now, zone=self.zone)
        except TaskRefusal:
            raise _invalid(f"{name} is not a date") from None

    def search(self) -> str | None:
        value = self.given.get("search")
        if value is None:
            return None
        if not isinstance(value, str) or "\0" in value or len(value) > MAX_TITLE:
            raise _invalid(f"search must be text of at most {MAX_TITLE} characters")
        return value.strip() or None

    def limit(self) -> int:
        value = self.given.get("limit")
        if value is None:
            return TaskFilter().limit
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_LISTED:
            raise _invalid(f"limit must be 1-{MAX_LISTED}")
        return value

    def offset(self) -> int:
        value = self.given.get("offset")
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_OFFSET:
            raise _invalid(f"offset must be 0-{MAX_OFFSET}")
        return value


def _invalid(detail: str) -> TaskRefusal:
    return TaskRefusal(TaskCode.INVALID_FILTER, f"Invalid filter: {detail}")


def _text(value: Any, code: TaskCode) -> str:
    """Text that PostgreSQL can keep: no NUL, no half of a surrogate pair."""
    if not isinstance(value, str) or "\0" in value:
        raise TaskRefusal.of(code)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise TaskRefusal.of(code) from None
    return value
