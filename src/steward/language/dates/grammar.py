"""The grammar: which rules there are, and how clues that stand together become one date."""

from steward.language.dates import compound, days, durations, relative
from steward.language.dates.clock import clock_clue
from steward.language.dates.clue import Clue, merge
from steward.language.dates.day_parts import part_clue
from steward.language.dates.holidays import holiday_at
from steward.language.dates.reader import Found, Reader

_JOINTS = frozenset({"at", "on", "of", "in", "the", "for", "@", ",", "from", "around", "about",
    "approximately", "by",
                     "t", "-", "during", "and", "starting", "beginning", "to"})  # fmt: skip
_MOST_JOINTS = 2


def holiday_clue(r: Reader, i: int) -> Found:
    found = holiday_at(r, i)
    return (Clue(holiday=found[0]), found[1]) if found else None


_RULES = (
    compound.edge_clue,
    relative.today_clue,
    relative.week_later_clue,
    relative.turned_clue,
    relative.after_next_clue,
    relative.weekend_clue,
    relative.counted_upcoming_clue,
    relative.season_clue,
    durations.in_clue,
    durations.offset_clue,
    durations.weekdays_away_clue,
    compound.nth_clue,
    compound.beside_clue,
    compound.of_month_clue,
    compound.days_of_month_clue,
    compound.half_clue,
    compound.week_of_clue,
    compound.closest_clue,
    compound.rest_clue,
    compound.decade_clue,
    holiday_clue,
    days.numeric_clue,
    days.month_clue,
    days.day_month_clue,
    days.weekday_clue,
    days.quarter_clue,
    days.year_clue,
    clock_clue,
    part_clue,
)

DEEPEST = 20  # dates within dates: "the day after the week before the first of May"


def piece(r: Reader, i: int) -> list[tuple[Clue, int]]:
    """Every reading of the clue that starts here, longest first."""
    if i in r.pieces:
        return r.pieces[i]
    found: list[tuple[Clue, int]] = []
    for rule in _RULES:
        try:
            one = rule(r, i)
        except (OverflowError, ValueError):  # what leaves the calendar is no date
            continue
        if one is not None:
            found.append(one)
    found.sort(key=lambda one: (-one[1], one[0].weak is not None))
    r.pieces[i] = found
    return found


def expression(r: Reader, i: int) -> Found:
    """The longest run of clues from here that fit together."""
    if i in r.memory:
        return r.memory[i]
    if r.depth >= DEEPEST:
        return None
    r.memory[i] = None  # a rule that comes back to its own start finds nothing
    r.depth += 1
    try:
        grown = [_grow(r, clue, end) for clue, end in piece(r, i)]
    finally:
        r.depth -= 1
    best = max(grown, key=lambda one: one[1], default=None)  # the first of the longest
    r.memory[i] = best
    return best


def _grow(r: Reader, clue: Clue, end: int) -> tuple[Clue, int]:
    while True:
        longer = _next_piece(r, clue, end)
        if longer is None:
            return clue, end
        clue, end = longer


def _next_piece(r: Reader, clue: Clue, end: int) -> Found:
    at = end
    for joints in range(_MOST_JOINTS + 1):
        for extra, after in piece(r, at):
            joined = _join(r, clue, extra, at=at, joints=joints)
            if joined is not None:
                return joined, after
        if r.word(at) not in _JOINTS:
            return None
        at += 1
    return None


def _join(r: Reader, clue: Clue, extra: Clue, *, at: int, joints: int) -> Clue | None:
    joint = r.word(at - 1) if joints else ""
    if joint in ("and", "to", "-") and not (joint == "-" and extra.has_time and not extra.has_date):
        return None
    if clue.weak == "now" or (clue.weak == "hour" and not _makes_an_hour(extra)):
        return None
    if clue.weak == "at" and extra.weak == "part":
        return None  # "for 3 nights"
    if (extra.clock and _only_month(clue)) or (clue.clock and _only_month(extra)):
        return None  # an hour needs a day
    if (_only_month(clue) and extra.weekday is not None and extra.day is None) or (
        _only_month(extra) and clue.weekday is not None and clue.day is None
    ):
        return None  # a weekday of a month needs its number
    return merge(clue, extra) if _weak_fits(clue, extra, joint) else None


def _makes_an_hour(extra: Clue) -> bool:
    """Behind a bare number: "8 tonight", "9 in the morning"; but not "3 nights"."""
    return extra.within is not None or (extra.part is not None and extra.weak is None)


def _weak_fits(clue: Clue, extra: Clue, joint: str) -> bool:
    """Whether a clue that is no date by itself completes the one before it."""
    match extra.weak:
        case "hour":
            return clue.part is not None and joint in ("", ",", "at", "@")  # "tomorrow morning, 9"
        case "year":
            open_year = clue.year is None and clue.within is None
            return open_year and (clue.month is not None or clue.holiday is not None)
        case "ordinal":
            return clue.weekday is not None or clue.month is not None
        case "now" | "numeric":
            return False
        case _:
            return True


def _only_month(clue: Clue) -> bool:
    open_month = clue.month is not None or clue.year is not None
    return open_month and clue.day is None and clue.weekday is None and clue.holiday is None
