"""Lengths of time and what they lead to: "in 3 days", "2 weeks from Monday", "half an hour ago"."""

from datetime import datetime
from fractions import Fraction

from steward.language.dates.calendar import Grain, floor, shift
from steward.language.dates.clue import Clue, Stretch, resolve, stretch
from steward.language.dates.reader import Found, Reader, amount
from steward.language.dates.words import MULTIPLE_UNITS, SHORT_UNITS, SPOKEN_UNITS, WEEKDAYS

_HERE = frozenset({"now", "right", "today", "tomorrow", "this", "yesterday"})
Length = tuple[tuple[Fraction, Grain], ...]
_AROUND = (
    "about",
    "around",
    "approximately",
    "just",
    "like",
    "roughly",
    "exactly",
    "another",
    "approx",
    "only",
)
# How precise an offset of a unit is, and the unit in which other clues are looked for.
_PRECISION = {
    Grain.SECOND: (Grain.SECOND, Grain.SECOND),
    Grain.MINUTE: (Grain.SECOND, Grain.SECOND),
    Grain.HOUR: (Grain.MINUTE, Grain.MINUTE),
    Grain.DAY: (Grain.DAY, Grain.DAY),
    Grain.WEEK: (Grain.DAY, Grain.WEEK),
    Grain.MONTH: (Grain.DAY, Grain.MONTH),
    Grain.QUARTER: (Grain.DAY, Grain.QUARTER),
    Grain.YEAR: (Grain.DAY, Grain.YEAR),
}


def unit(r: Reader, i: int) -> tuple[Grain, int, int] | None:
    """A unit and how many of it: "fortnight" is 14 days."""
    word = r.word(i)
    if word in MULTIPLE_UNITS:
        grain, times = MULTIPLE_UNITS[word]
        return grain, times, i + 1
    grain = SPOKEN_UNITS.get(word)
    return (grain, 1, i + 1) if grain and word != "h" else None


def _unit_behind(r: Reader, i: int, *, number: bool) -> tuple[Grain, int, int] | None:
    start = r.skip(r.skip(i, ("more", "-")), ("of",)) if not r.glued(i) else r.skip(i, ("-",))
    start = r.skip(start, ("business", "working", "calendar", "full", "whole", "solid"))
    found = unit(r, start)
    if found:
        return found
    if number and r.word(i) == "\\" and r.word(i + 1) in SHORT_UNITS:
        i += 1
    short = SHORT_UNITS.get(r.word(i))
    if short and number and (r.glued(i) or r.word(i) == "h"):
        return short, 1, i + 1
    return None


def length(r: Reader, i: int) -> tuple[Length, int] | None:
    """ "3 days", "an hour and 20 minutes", "2h30", "half an hour", "a couple of weeks"."""
    parts: list[tuple[Fraction, Grain]] = []
    end = i
    while len(parts) < 4:
        start = r.skip(r.skip(end, (",",)), ("and",)) if parts else end
        found = amount(r, start)
        if found is None:
            break
        measured = _unit_behind(r, found[1], number=r.digits(found[1] - 1, most=5) is not None)
        if measured is None:
            minutes = r.digits(start, most=2)
            if (
                parts
                and parts[-1][1] is Grain.HOUR
                and r.glued(start)
                and minutes is not None
                and minutes < 60
            ):
                parts.append((Fraction(minutes), Grain.MINUTE))
                end = start + 1
            break
        grain, times, after = measured
        if parts and grain.rank >= parts[-1][1].rank:
            break
        parts.append((found[0] * times, grain))
        end = after
        half = r.phrase(end, "and a half", "and an half")
        if half:
            parts[-1] = (parts[-1][0] + Fraction(times, 2), grain)
            end = half
    return (tuple(parts), end) if parts else None


def moved(moment: datetime, by: Length, way: int) -> datetime:
    for count, grain in by:
        moment = shift(moment, grain, float(count) * way)
    return moment


def offset_stretch(now: datetime, by: Length, way: int) -> Stretch:
    finest = min((grain for _, grain in by), key=lambda grain: grain.rank)
    fraction = any(count.denominator != 1 for count, _ in by)
    grain, room = _PRECISION[finest]
    if fraction and finest is Grain.HOUR:
        grain, room = Grain.SECOND, Grain.SECOND
    return Stretch(moved(now, by, way), grain, room)


def in_clue(r: Reader, i: int) -> Found:
    """ "in 3 days", "within 2 weeks", "in 15", "in 2.5 hours", "in the next hour"."""
    if r.word(i) not in ("in", "within", "after"):
        return None
    start = r.skip_all(i + 1, _AROUND)
    start = r.phrase(start, "no more than", "less than", "at most", "under") or start
    found = length(r, start)
    if found:
        by, end = found
        tail = r.phrase(end, "time", "from now", "from today")
        goes_on = r.word(end) in ("of", "ago", "before", "earlier", "after")
        goes_on = goes_on or (r.word(i) == "after" and tail is None and not r.at_end(end))
        if goes_on or r.word(end - 2) == "-" or _is_rate(r, i, start):
            return None
        return Clue(within=offset_stretch(r.now, by, 1)), tail or end
    minutes = r.digits(start, most=2)
    if r.word(i) == "in" and minutes and r.at_end(start + 1):
        return Clue(within=offset_stretch(r.now, ((Fraction(minutes), Grain.MINUTE),), 1)), start + 1
    return None


def _is_rate(r: Reader, i: int, start: int) -> bool:
    """ "how many days in a year" and "twice in a week" measure; they date nothing."""
    before = {r.word(k) for k in range(i - 4, i)}
    return r.word(start) in ("a", "an", "one") and bool(before & {"many", "times", "once", "twice", "much"})


def offset_clue(r: Reader, i: int) -> Found:
    """ "3 days ago", "2 minutes from now", "a week hence", "2 weeks from Monday", "the day after Easter"."""
    start = r.skip_all(i, _AROUND)
    start = (
        r.skip(start, ("exactly", "the")) if r.word(start + 1) in ("day", "week", "month", "year") else start
    )
    by_unit = _one_unit(r, start)
    found = length(r, start) or (((((Fraction(by_unit[1])), by_unit[0]),), by_unit[2]) if by_unit else None)
    if found is None:
        return None
    by, end = found
    if r.word(i - 1) == "for" and r.word(end) == "from" and r.word(end + 1) not in _HERE:
        return None  # "for 3 months from 1 January" says how long, and from when
    counted = start != end - 1
    sure = r.phrase(end, "from right now")
    if sure:
        return Clue(within=Stretch(moved(r.now, by, 1), Grain.SECOND, Grain.SECOND)), sure
    ahead = r.phrase(end, "from now", "hence", "later", "from this moment", "out") if counted else None
    if ahead and (r.word(end) != "out" or r.at_end(ahead)):
        return Clue(within=offset_stretch(r.now, by, 1)), ahead
    back = r.phrase(end, "ago", "back", "earlier", "in the past") if counted else None
    if back and (r.word(end) != "back" or by[0][1].rank >= Grain.DAY.rank):
        return Clue(within=offset_stretch(r.now, by, -1)), back
    return _from_other(r, end, by)


def _one_unit(r: Reader, i: int) -> tuple[Grain, int, int] | None:
    """ "Week after Easter": one of them. Of several, or of one that is counted, more is said before it."""
    found = unit(r, i)
    counted = r.word(i).endswith("s") or (i > 0 and amount(r, i - 1) is not None)
    return None if counted else found


def _from_other(r: Reader, i: int, by: Length) -> Found:
    """The same, counted from another date."""
    way = {"from": 1, "after": 1, "following": 1, "past": 1, "before": -1, "prior": -1, "on": 1}.get(
        r.word(i)
    )
    if way is None or (r.word(i) == "on" and by[-1][1] is not Grain.WEEK):
        return None
    if by[-1][1] is Grain.QUARTER and r.word(i) == "past":
        return None  # "a quarter past 3" is a time
    after = r.skip(i + 1, ("to",)) if r.word(i) == "prior" else i + 1
    other = r.nested(r, after)
    if other is None or other[0].weak:
        return None
    base = resolve(other[0], r.now, future=r.future)
    if base is None:
        return None
    value = moved(base.value, by, way)
    finest = min((grain for _, grain in by), key=lambda grain: grain.rank)
    if finest.rank < Grain.DAY.rank:
        return Clue(within=stretch(value, Grain.MINUTE)), other[1]
    grain = base.grain if base.grain.rank < Grain.DAY.rank else Grain.DAY
    return Clue(within=stretch(floor(value, grain), grain)), other[1]


def weekdays_away_clue(r: Reader, i: int) -> Found:
    """ "3 Fridays from now", "2 Thursdays ago"."""
    found = amount(r, i)
    if found is None or found[0].denominator != 1:
        return None
    weekday = WEEKDAYS.get(r.word(found[1]))
    if weekday is None:
        return None
    ahead = r.phrase(found[1] + 1, "from now", "hence", "away", "from today")
    back = r.phrase(found[1] + 1, "ago", "back")
    if ahead is None and back is None:
        return None
    first = resolve(Clue(weekday=weekday), r.now, future=ahead is not None)
    if first is None:
        return None
    weeks = int(found[0]) - 1
    day = shift(first.value, Grain.WEEK, weeks if ahead else -weeks)
    return Clue(within=stretch(day, Grain.DAY)), ahead or back or i
