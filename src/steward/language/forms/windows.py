"""Choices that are stretches of the day ("08-10", "9am-12pm", "morning (8-12)"), chosen by the hours said.

Owns when a choice is such a stretch, and which one the said hours mean. Where they mean none of them, or
more than one, nothing is chosen: better asked for than wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from steward.contract import linear_re as re
from steward.language.formats import wanted_format
from steward.language.slots import Slot, SlotKind, words_of
from steward.language.values import Moment, Said

_HOUR = r"(\d{1,2})(?:[:.h](\d{2}))?\s?(am|pm|h|uhr)?"
_STRETCH = re.compile(
    rf"(?:^|[^\w.:/]){_HOUR}\s?(?:-|\u2013|\u2014|to|until|till)\s?{_HOUR}(?:$|[^\w:/])", re.IGNORECASE
)
_OF_DAY = re.compile(
    r"\b(?:time|times|hours?|clock|window|slot|period|delivery|arrival|morning|afternoon|evening|am|pm|noon)\b|"
    r"\b\d{1,2}(?:[:h]\d{2}|\s?[ap]m)|\b0\d\s?[-\u2013]",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:before|by|until|till?|no later than|at the latest)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|from|since|not before|no earlier than)\b", re.IGNORECASE)
_EXACT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midday|midnight)\b",
    re.IGNORECASE,
)
_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class DayStretch:
    """Minutes of the day; what is said of one hour alone has the same end as start."""

    start: int
    end: int

    def holds(self, other: "DayStretch") -> bool:
        if other.start == other.end:
            return self.start <= other.start < self.end
        return self.start <= other.start and other.end <= self.end


def stretches_of(slot: Slot) -> dict[Any, DayStretch]:
    """The choices that are stretches of the day; empty where the slot is no matter of hours."""
    found = {each: stretch for each in slot.choices if (stretch := stretch_in(str(each))) is not None}
    about = " ".join((words_of(slot.name), slot.described, *map(str, slot.choices)))
    return found if len(found) > 1 and 2 * len(found) > len(slot.choices) and _OF_DAY.search(about) else {}


def slot_of_hours(slots: Sequence[Slot]) -> int | None:
    """The one slot that hours can fill, where that is a choice of stretches."""
    timed = [at for at, slot in enumerate(slots) if stretches_of(slot) or _takes_a_time(slot)]
    return timed[0] if len(timed) == 1 and stretches_of(slots[timed[0]]) else None


def _takes_a_time(slot: Slot) -> bool:
    wanted = wanted_format(slot.schema) if slot.kind is SlotKind.TEXT else None
    return wanted is not None and (wanted in ("time", "date-time") or "%H" in wanted or "%I" in wanted)


def stretch_in(choice: str) -> DayStretch | None:
    found = _STRETCH.search(choice.replace("_", "-") if choice.replace("_", "").isdigit() else choice)
    if found is None:
        return None
    first, last = _minutes(*found.groups()[:3]), _minutes(*found.groups()[3:])
    if not 0 <= first < last <= _DAY and 0 <= last + _DAY // 2 <= _DAY and found[6] is None:
        last += _DAY // 2  # "10-2"
    return DayStretch(first, last) if 0 <= first < last <= _DAY else None


def _minutes(hour: str, minutes: str | None, half: str | None) -> int:
    of_day = int(hour)
    if half and half.lower() in ("am", "pm"):
        of_day = of_day % 12 + (12 if half.lower() == "pm" else 0)
    return of_day * 60 + int(minutes or 0)


def said_stretches(said: Said) -> list[DayStretch]:
    """The hours that were said, as stretches: both ends of "from … to", what lies before or after an hour."""
    timed = [each for each in said.moments if each.timed and _EXACT.search(said.text[each.start : each.end])]
    found: list[DayStretch] = []
    ends: set[int] = set()
    for at, each in enumerate(timed):
        behind = timed[at + 1] if at + 1 < len(timed) else None
        if at in ends:
            continue
        if behind is not None and behind.start == each.end and behind.at > each.at:
            ends.add(at + 1)
            found.append(DayStretch(_of_day(each), _of_day(behind) or _DAY))
        else:
            found.append(_open(each, said.text[each.start : each.end]))
    return found


def _of_day(moment: Moment) -> int:
    return moment.at.hour * 60 + moment.at.minute


def _open(moment: Moment, words: str) -> DayStretch:
    at = _of_day(moment)
    if _AFTER.search(words):
        return DayStretch(at, _DAY)
    return DayStretch(0, at) if _BEFORE.search(words) else DayStretch(at, at)


def meant_by_hours(slot: Slot, said: Said) -> list[Any] | None:
    """The choices that the hours said mean; None where none were said, or no choice is a matter of hours."""
    choices = stretches_of(slot)
    hours = said_stretches(said) if choices else []
    if len(hours) != 1:
        return None
    [wanted] = hours
    same = [each for each, stretch in choices.items() if stretch == wanted]
    around = [each for each, stretch in choices.items() if stretch.holds(wanted)]
    return same or around or [each for each, stretch in choices.items() if wanted.holds(stretch)]
