"""Times that come again, or once: how words become a rule and a first time, and when the next one is.

Pure. Reckoned by the owner's clock on the wall, so that 8 stays 8 when the clocks change: an hour that is
left out comes when the clocks have moved on, one that comes twice the first time. Only "every N hours" counts
real hours.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from steward.contract.errors import InputError
from steward.language.dates.find import DateNotUnderstoodError, parse_due
from steward.language.recurrence import read_repetition
from steward.tasks.envelopes import TaskRefusal
from steward.tasks.repeats import naive_rule, read_rule

MORNING = time(9)  # where no hour is said
LONGEST = 200  # characters
_EARLY = time(6, 30)


@dataclass(frozen=True, slots=True)
class Rhythm:
    starts: datetime  # by the owner's clock on the wall, without a zone
    rule: str | None  # None: once


def as_said_early(now: datetime) -> datetime:
    """ "Every day at 8" is in the morning and "at 5" in the afternoon, at whatever hour it is said."""
    return now.replace(hour=_EARLY.hour, minute=_EARLY.minute, second=0, microsecond=0)


def read_rhythm(when: str, *, now: datetime, zone: ZoneInfo) -> Rhythm:
    """A rule (RRULE) or words: "every weekday at 8", "on the 1st of every month", "tomorrow at 7"."""
    said = " ".join(when.split())
    local = now.astimezone(zone)
    try:
        if said.upper().startswith(("FREQ=", "RRULE:")):
            return Rhythm(_start_of(read_rule(said), local), read_rule(said))
        repetition = read_repetition(f" {said} ") if len(said) <= LONGEST else None
        if repetition is not None:
            return _repeated(repetition.rest.strip(), read_rule(repetition.rule), local)
        mention = parse_due(said, local)
        moment = mention.start if mention.has_time else mention.start.replace(hour=MORNING.hour)
        return Rhythm(moment.replace(tzinfo=None), None)
    except (TaskRefusal, DateNotUnderstoodError, ValueError, OverflowError):
        raise InputError(
            f"'{said[:80]}' is no time to run something.",
            fix='Say it like "every weekday at 8", "every 2 hours", "tomorrow at 7" or FREQ=DAILY;BYHOUR=8.',
        ) from None


def next_run(rhythm: Rhythm, *, after: datetime, zone: ZoneInfo) -> datetime | None:
    """The first time behind `after`; None when there is no more."""
    if rhythm.rule is None:
        at = rhythm.starts.replace(tzinfo=zone).astimezone(UTC)
        return at if at > after else None
    counts_hours = "FREQ=HOURLY" in rhythm.rule and "BYHOUR" not in rhythm.rule
    clock = UTC if counts_hours else zone
    starts = rhythm.starts.replace(tzinfo=zone).astimezone(clock).replace(tzinfo=None)
    parsed: Any = rrulestr(naive_rule(rhythm.rule), dtstart=starts)
    found: datetime | None = parsed.after(after.astimezone(clock).replace(tzinfo=None))
    while found is not None:
        at = found.replace(tzinfo=clock).astimezone(UTC)
        if at > after:
            return at
        found = parsed.after(found)  # in the hour that the clocks go through twice
    return None


def next_after(rhythm: Rhythm, now: datetime) -> datetime | None:
    """The same on one clock, whatever zone that shows."""
    parsed: Any = rrulestr(naive_rule(rhythm.rule or "FREQ=DAILY;COUNT=1"), dtstart=rhythm.starts)
    found: datetime | None = parsed.after(now.replace(tzinfo=None))
    return None if found is None else found.replace(tzinfo=now.tzinfo)


def _repeated(rest: str, rule: str, local: datetime) -> Rhythm:
    if rest:
        mention = parse_due(rest, as_said_early(local))
        at = mention.start if mention.has_time else mention.start.replace(hour=MORNING.hour, minute=0)
    elif rule.startswith("FREQ=HOURLY"):
        at = local.replace(second=0, microsecond=0) + timedelta(hours=1)
    else:
        at = datetime.combine(local.date(), MORNING)
    starts = at.replace(tzinfo=None)
    weekly = rule.startswith("FREQ=WEEKLY") and "INTERVAL" not in rule
    # The rest names one of several days ("on Saturday" of a weekend): the rule knows them all.
    return Rhythm(datetime.combine(local.date(), starts.time()) if weekly else starts, rule)


def _start_of(rule: str, local: datetime) -> datetime:
    """Where a rule says no hour, in the morning."""
    if "FREQ=HOURLY" in rule:
        return local.replace(second=0, microsecond=0, tzinfo=None)
    return datetime.combine(local.date(), time(0) if "BYHOUR" in rule else MORNING)
