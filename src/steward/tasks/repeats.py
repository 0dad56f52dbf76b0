"""When a task that repeats is due again: recurrence rules (RFC 5545) and their next day.

Pure. Owns which rules are accepted: only parts that come true again soon, so that no rule can keep the
program searching a calendar in which it never does.
"""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import rrule, rrulestr

from steward.contract import linear_re as re
from steward.tasks.envelopes import TaskCode, TaskRefusal
from steward.tasks.model import Due

MAX_COUNT = 1000
MAX_INTERVAL = 1000
_RULE = re.compile(r"(?:RRULE:)?((?:[A-Z]+=[A-Z0-9,+-]+)(?:;[A-Z]+=[A-Z0-9,+-]+)*)")
_COUNT = re.compile(r"COUNT=(\d+)")
_BASIC = frozenset({"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTH"})
_PARTS = {
    "HOURLY": _BASIC | {"BYHOUR"},
    "DAILY": _BASIC | {"BYHOUR", "BYMINUTE"},
    "WEEKLY": _BASIC | {"BYHOUR", "BYMINUTE"},
    "MONTHLY": _BASIC | {"BYHOUR", "BYMINUTE", "BYMONTHDAY", "BYSETPOS"},
    "YEARLY": _BASIC | {"BYHOUR", "BYMINUTE", "BYMONTHDAY", "BYSETPOS", "BYYEARDAY", "BYWEEKNO"},
}
# A finer rule with a filter and an interval can miss its filter for ever.
_STEADY = ("HOURLY", "DAILY")
# A leap year forty years before the calendar ends: a rule that does not come true by then is refused soon.
_LATE = datetime(9960, 1, 1)  # noqa: DTZ001 - wall-clock time


def read_rule(text: str) -> str:
    """A rule as it is kept; raises `TaskRefusal` for one that is malformed or never comes true."""
    matched = _RULE.fullmatch(text.strip().upper()) if len(text) <= 500 else None
    if matched is None:
        raise TaskRefusal.of(TaskCode.INVALID_RECURRENCE)
    rule = matched[1]
    pairs = [part.split("=", 1) for part in rule.split(";")]
    parts = dict(pairs)
    allowed = _PARTS.get(parts.get("FREQ", ""))
    if allowed is None or not parts.keys() <= allowed or len(parts) != len(pairs) or not _bounded(parts):
        raise TaskRefusal.of(TaskCode.INVALID_RECURRENCE)
    try:
        if _following(re.sub(r";?UNTIL=[^;]*", "", rule), _LATE, _LATE - timedelta(seconds=1)) is None:
            raise TaskRefusal.of(TaskCode.INVALID_RECURRENCE)
        rrulestr(naive_rule(rule), dtstart=_LATE)
    except (ValueError, TypeError, AttributeError, OverflowError, KeyError, IndexError):
        raise TaskRefusal.of(TaskCode.INVALID_RECURRENCE) from None
    return rule


def _bounded(parts: dict[str, str]) -> bool:
    interval, count = parts.get("INTERVAL", "1"), parts.get("COUNT", "1")
    if not (interval.isdecimal() and 1 <= int(interval[:5]) <= MAX_INTERVAL):
        return False
    if not (count.isdecimal() and 1 <= int(count[:5]) <= MAX_COUNT):
        return False
    if "COUNT" in parts and "UNTIL" in parts:
        return False
    filtered = any(name.startswith("BY") for name in parts)
    return not (parts["FREQ"] in _STEADY and filtered and int(interval) > 1)


def first_due(rule: str, *, now: datetime, zone: ZoneInfo) -> Due | None:
    """The first day a rule names, from today on."""
    local = now.astimezone(zone).replace(tzinfo=None)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    following = _following(rule, midnight, midnight - timedelta(seconds=1))
    return None if following is None else Due.day(following.date(), zone)


def next_due(due: Due, rule: str, *, now: datetime, zone: ZoneInfo) -> tuple[Due, str] | None:
    """When a task that was done now is due again, and the rule from then on; None when it has ended.

    Reckoned in wall-clock time, so that "every day at 9" stays at 9 when the clocks change. What was
    missed meanwhile is not asked for again.
    """
    start = (
        due.at.astimezone(zone).replace(tzinfo=None)
        if due.has_time
        else datetime.combine(due.on, datetime.min.time())
    )
    local = now.astimezone(zone).replace(tzinfo=None)
    today = local if due.has_time else datetime.combine(local.date(), datetime.min.time())
    following = _following(rule, start, max(start, today))
    if following is None:
        return None
    again = (
        Due.moment(following.replace(tzinfo=zone), zone) if due.has_time else Due.day(following.date(), zone)
    )
    return again, _counted_down(rule, start, following)


def _following(rule: str, start: datetime, after: datetime) -> datetime | None:
    parsed: Any = rrulestr(naive_rule(rule), dtstart=start)
    assert isinstance(parsed, rrule)
    return parsed.after(after)


def naive_rule(rule: str) -> str:
    return re.sub(r"UNTIL=(\d{8}T\d{6})Z", r"UNTIL=\1", rule)


def _counted_down(rule: str, start: datetime, following: datetime) -> str:
    """A count belongs to the series: what has gone by is not counted again."""
    counted = _COUNT.search(rule)
    if counted is None:
        return rule
    parsed: Any = rrulestr(naive_rule(rule), dtstart=start)
    gone = sum(1 for day in parsed if day < following)
    return rule.replace(counted[0], f"COUNT={int(counted[1]) - gone}")
