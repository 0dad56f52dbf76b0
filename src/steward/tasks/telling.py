"""A reminder put off: of what, and until when. Pure; the words for it are the room `language`'s."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from steward.language.dates.find import find_dates
from steward.language.telling import later, named
from steward.tasks.rhythm import MORNING

USUAL = timedelta(minutes=10)  # how long a reminder is put off where nothing is said


@dataclass(frozen=True, slots=True)
class PutOff:
    of: str  # in words; empty: the last one
    until: datetime


def read_put_off(said: str, now: datetime) -> PutOff | None:
    """ "Snooze the dentist for 10 minutes", "remind me again at 5"; None where nothing is put off."""
    found = later(said)
    if found is None:
        return None
    lengths = find_dates(f"in {found.length}", now) if found.length else ()
    if lengths:
        return PutOff(named(found.before), lengths[0].start)
    dates = find_dates(found.rest, now)
    if not dates:
        return PutOff(named(found.rest), now + USUAL)
    last = dates[-1]
    until = last.start if last.has_time else last.start.replace(hour=MORNING.hour)
    return PutOff(named(found.rest[: last.span[0]]), until)
