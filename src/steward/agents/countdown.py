"""How long it is until a day that people name: "how many days until Christmas?".

Owns the asking and the words of the answer; what day it is comes from a call, never from here.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from steward.contract import linear_re as re
from steward.models.planner.readers import Reading
from steward.tasks.dates.calendar import Grain
from steward.tasks.dates.find import find_dates

CLOCK = "get_current_time"
CERTAIN = 1.0
_ASKED = re.compile(
    r"^how (?:many days|long)(?: (?:is|are|do|have)(?: (?:it|there|we|i))?(?: got| have)?)?(?: left)?"
    r" (?:to|till?|until) (?:the )?(?P<day>.+?)\W*$",
    re.IGNORECASE,
)
_UNTIL = "until"


def countdown(said: str, now: datetime) -> Reading | None:
    """A look at the clock, with the day in mind; None where no single day is named and nothing else."""
    asked = _ASKED.match(said)
    if asked is None:
        return None
    found = find_dates(asked["day"], now)
    if len(found) != 1 or found[0].grain is not Grain.DAY:
        return None
    start, end = found[0].span
    if asked["day"][:start].strip() or asked["day"][end:].strip():
        return None  # "the party on Friday" may be another Friday
    zone = getattr(now.tzinfo, "key", None)
    return Reading(
        tool=CLOCK,
        arguments={"timezone": zone} if zone else {},
        certainty=CERTAIN,
        memo={_UNTIL: found[0].start.date().isoformat()},
    )


def counted(memo: Mapping[str, Any], today: date) -> str | None:
    """The answer, where the clock was asked for one."""
    if _UNTIL not in memo:
        return None
    day = date.fromisoformat(str(memo[_UNTIL]))
    days = (day - today).days
    named = f"{day:%A}, {day.day} {day:%B %Y}"
    if days == 0:
        return f"That is today: {named}."
    if days < 0:
        return f"That was {_days(-days)} ago: {named}."
    return f"{_days(days)} until {named}."


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"
