"""How long it is until a day that people name, and which day that is: "how many days until Christmas?",
"what date is a week on Saturday?".

Owns the asking and the words of the answer; what day it is comes from a call, never from here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast

from steward.contract import linear_re as re
from steward.language.dates.calendar import Grain
from steward.language.dates.find import find_dates
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import KnownTool, Scored

DAYS = "days"
CLOCK = "get_current_time"
_ASKED = re.compile(
    r"^(?:and )?how (?:many (?:more )?(?:days|nights|sleeps|weeks)|long)\b(?: [a-z']+){0,6} "
    r"(?:to|till?|until) (?:the )?(?P<day>.+?)\W*$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^(?:(?:what|which) (?:date|day|weekday)(?: of the week)?|what(?: is|'s) the (?:date|day|weekday)|when)"
    r"(?:'s| is| are| will| was| does| do| falls)?(?: it be)?(?: on)? (?:the )?(?P<day>.+?)"
    r"(?: going to)?(?: (?:be|fall|land|falls|lands))?(?: on)?(?: (?:this|next) year)?\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AskedDay:
    day: date
    how_far: bool  # how long it is until then; otherwise which day it is

    def told(self, today: date) -> str:
        days = (self.day - today).days
        named = f"{self.day:%A}, {self.day.day} {self.day:%B %Y}"
        if days == 0:
            return f"That is today: {named}."
        if days < 0:
            return f"That was {_days(-days)} ago: {named}."
        return f"{_days(days)} until {named}." if self.how_far else f"{named}, in {_days(days)}."


@dataclass(frozen=True, slots=True)
class DayQuestions:
    """Implements the planner's `Procedure`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,
    ) -> Decision | None:
        asked = None if dialogue.asked else asked_day(dialogue.utterance, now)
        if asked is None or all(tool.name != CLOCK for tool in tools):
            return None
        looked = [step for step in dialogue.steps if step.tool == CLOCK]
        if not looked:
            zone = getattr(now.tzinfo, "key", None)
            return Call(tool=CLOCK, arguments={"timezone": zone} if zone else {}, goal=0, confidence=1.0)
        today = _today(looked[-1].data)
        return None if today is None else Tell(text=asked.told(today), confidence=1.0)


def asked_day(said: str, now: datetime) -> AskedDay | None:
    """The single day that is asked about; None where something else is named as well."""
    return _asked_day(said, now) or _asked_day(said.partition(",")[0], now)  # behind it may stand what for


def _asked_day(said: str, now: datetime) -> AskedDay | None:
    how_far = _ASKED.match(said)
    named = how_far or _NAMED.match(said)
    if named is None:
        return None
    found = find_dates(named["day"], now)
    if len(found) != 1 or found[0].grain is not Grain.DAY:
        return None
    start, end = found[0].span
    if named["day"][:start].strip() or named["day"][end:].strip():
        return None  # "the party on Friday" may be another Friday
    return AskedDay(found[0].start.date(), how_far is not None)


def _today(clock: object) -> date | None:
    """What the clock's answer says."""
    if not isinstance(clock, Mapping):
        return None
    try:
        return datetime.fromisoformat(str(cast("Mapping[str, Any]", clock).get("timestamp"))).date()
    except ValueError:
        return None


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"
