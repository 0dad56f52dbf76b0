"""What a phrase says about a date, before and after it is resolved.

A `Clue` holds constraints ("a Friday", "the 13th", "at 5", "next month"); two clues merge when they do not
contradict each other. `resolve` finds the date that satisfies them, seen from now.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal

from steward.language.dates.calendar import (
    Grain,
    OutOfCalendarError,
    days_after,
    floor,
    on,
    shift,
    valid_date,
)

_YEARS_AROUND = 12  # a weekday on a given day of a month returns within 12 years
_MONTHS_AHEAD = 60
_NEAR_PAST, _NEAR_FUTURE = 180, 730  # days within which "Friday, July 18" without a year is looked for


# Why a clue alone is no date: a month that is a verb, a bare hour, a bare year and so on.
Weak = Literal["name", "hour", "at", "part", "year", "ordinal", "numeric", "now"]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the calendar that is already known.

    `exact` is the moment meant, `grain` its precision, and `room` the unit in which other clues are looked
    for: "in 3 months" is a day three months from now, but "Thanksgiving in 9 months" lies in that month.
    """

    exact: datetime
    grain: Grain
    room: Grain
    end: datetime | None = None
    holiday: bool = False

    @property
    def first(self) -> date:
        return floor(self.exact, self.room).date()

    @property
    def limit(self) -> date:
        return shift(floor(self.exact, self.room), self.room, 1).date()


def stretch(start: datetime, grain: Grain, *, end: datetime | None = None) -> Stretch:
    return Stretch(start, grain, grain, end)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day: its hours, and which half of the day an hour near it means."""

    first: int
    last: int
    half: str  # "am", "pm" or "night"


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day. `open` means that it may be read in the morning or in the afternoon."""

    hour: int
    minute: int = 0
    second: int = 0
    grain: Grain = Grain.HOUR
    open: bool = False


@dataclass(frozen=True, slots=True)
class Clue:
    """Constraints on a date. `weak` clues are dates only where the context says so."""

    within: Stretch | None = None
    year: int | None = None
    month: int | None = None
    day: int | None = None
    last_day: int | None = None
    weekday: int | None = None
    holiday: Callable[[int], date | None] | None = None
    clock: ClockTime | None = None
    until: ClockTime | None = None
    part: Part | None = None
    zone: tzinfo | None = None
    weak: Weak | None = None

    @property
    def has_date(self) -> bool:
        return any(
            x is not None for x in (self.within, self.year, self.month, self.day, self.weekday, self.holiday)
        )

    @property
    def has_time(self) -> bool:
        return self.clock is not None or self.part is not None


IMPOSSIBLE = Clue(year=1, month=2, day=30)  # "the fifth Monday" of a month with four: a date that never was
_SLOTS = tuple(f.name for f in fields(Clue) if f.name != "weak")


def merge(one: Clue, other: Clue) -> Clue | None:
    """Both together, or None where they speak about the same thing."""
    taken: dict[str, object] = {}
    one, other = _finer(one, other)
    for slot in _SLOTS:
        mine, theirs = getattr(one, slot), getattr(other, slot)
        if mine is not None and theirs is not None:
            return None
        taken[slot] = mine if mine is not None else theirs
    if not _belongs(one, other) or _two_days(one, other) or _two_days(other, one):
        return None
    weak = one.weak if one.weak and other.weak else None
    return replace(Clue(weak=weak), **taken)  # pyright: ignore[reportArgumentType]


def _finer(one: Clue, other: Clue) -> tuple[Clue, Clue]:
    """ "Today in one hour" is the hour, which lies in the day: the day adds nothing."""
    if one.within is None or other.within is None:
        return one, other
    room = one.within.room
    finer = other.within.room.rank < room.rank <= Grain.DAY.rank
    inside = floor(other.within.exact, room) == floor(one.within.exact, room)
    return (replace(one, within=None), other) if finer and inside else (one, other)


def _two_days(one: Clue, other: Clue) -> bool:
    return one.holiday is not None and (other.day is not None or other.month is not None)


def _belongs(one: Clue, other: Clue) -> bool:
    """Whether a known stretch leaves room for the other clue ("tomorrow" leaves none for "Friday")."""
    for known, extra in ((one, other), (other, one)):
        if known.within is None:
            continue
        room = known.within.room
        if extra.weekday is not None and room.rank <= Grain.DAY.rank:
            return known.within.exact.weekday() == extra.weekday
        if extra.day is not None and extra.month is None:
            return room is Grain.MONTH or (room is Grain.DAY and known.within.exact.day == extra.day)
        if extra.month is not None:
            return room.rank > Grain.MONTH.rank or (room is Grain.DAY and _is_on(known.within, extra))
        if extra.year is not None:
            return False
        if room.rank < Grain.DAY.rank and extra.has_time:
            return False
    return True


def _is_on(known: Stretch, extra: Clue) -> bool:
    return (known.exact.month, known.exact.day) == (extra.month, extra.day)


@dataclass(frozen=True, slots=True)
class Resolved:
    value: datetime
    grain: Grain
    end: datetime | None = None
    holiday: bool = False


def resolve(clue: Clue, now: datetime, *, future: bool = True) -> Resolved | None:
    """The date that a clue means seen from now; None where the calendar has none."""
    try:
        if not clue.has_date:
            return _today(clue, now, future=future) if clue.has_time else None
        day = _date(clue, now, future=future)
        if day is None:
            return None
        if not clue.has_time:
            return _ranged(clue, day)
        return _timed(clue, day, now)
    except (OverflowError, ValueError):  # OutOfCalendarError is a ValueError
        return None


def _ranged(clue: Clue, day: Resolved) -> Resolved:
    if clue.last_day is None or day.grain is not Grain.DAY:
        return day
    last = valid_date(day.value.year, day.value.month, clue.last_day)
    if last is None or last <= day.value.date():
        raise OutOfCalendarError("the range ends before it starts")
    return replace(day, end=shift(on(day.value, last), Grain.DAY, 1))


# --- days -----------------------------------------------------------------------------------------


def _date(clue: Clue, now: datetime, *, future: bool) -> Resolved | None:
    if clue.within is not None:
        return _inside(clue, clue.within)
    if clue.holiday is not None:
        found = _holiday(clue, now.date(), future=future)
        return Resolved(on(now, found), Grain.DAY, holiday=True) if found else None
    if clue.day is None and clue.weekday is None:
        return _month_or_year(clue, now, future=future)
    found = _day(clue, now.date(), future=future)
    return Resolved(on(now, found), Grain.DAY) if found else None


def _month_or_year(clue: Clue, now: datetime, *, future: bool) -> Resolved:
    if clue.month is None:
        assert clue.year is not None
        return Resolved(on(now, date(clue.year, 1, 1)), Grain.YEAR)
    if clue.year is not None:
        return Resolved(on(now, date(clue.year, clue.month, 1)), Grain.MONTH)
    year = now.year
    if future and clue.month < now.month:
        year += 1
    if not future and clue.month > now.month:
        year -= 1
    return Resolved(on(now, date(year, clue.month, 1)), Grain.MONTH)


def _day(clue: Clue, today: date, *, future: bool) -> date | None:
    way = 1 if future else -1
    if clue.month is not None and clue.day is not None:
        if clue.year is not None:
            return valid_date(clue.year, clue.month, clue.day)  # a full date outweighs a wrong weekday
        return _yearly(clue.month, clue.day, today=today, weekday=clue.weekday, way=way)
    if clue.day is None:
        assert clue.weekday is not None
        if clue.month is not None or clue.year is not None:
            return None
        ahead = (clue.weekday - today.weekday()) % 7 or 7
        return days_after(today, ahead if future else ahead - 7 if ahead != 7 else -7)
    return _monthly(clue, today, way=way)


def _yearly(month: int, day: int, *, today: date, weekday: int | None, way: int) -> date | None:
    """The next such day; with a weekday, the nearest one that falls on it."""
    years = range(max(1, today.year - _YEARS_AROUND), min(9999, today.year + _YEARS_AROUND) + 1)
    every = [found for year in years if (found := valid_date(year, month, day))]
    if weekday is not None:
        near = [found for found in every if -_NEAR_PAST <= (found - today).days * way <= _NEAR_FUTURE]
        fitting = [found for found in near if found.weekday() == weekday]
        return min(fitting, key=lambda found: abs((found - today).days), default=None)
    ahead = [found for found in every if (found - today).days * way >= 0]
    return min(ahead, key=lambda found: abs((found - today).days), default=None)


def _monthly(clue: Clue, today: date, *, way: int) -> date | None:
    """The next month that has this day, and has it on this weekday."""
    assert clue.day is not None
    for step in range(_MONTHS_AHEAD):
        months = today.year * 12 + today.month - 1 + step * way
        year, month = divmod(months, 12)
        found = valid_date(year, month + 1, clue.day)
        if found and (found - today).days * way >= 0 and clue.weekday in (None, found.weekday()):
            return found
    return None


def _holiday(clue: Clue, today: date, *, future: bool) -> date | None:
    assert clue.holiday is not None
    if clue.year is not None:
        return clue.holiday(clue.year)
    years = (today.year - 1, today.year, today.year + 1)
    every = [found for year in years if 1 <= year <= 9999 and (found := clue.holiday(year))]
    if future:
        return min((found for found in every if found >= today), default=None)
    return max((found for found in every if found <= today), default=None)


def _inside(clue: Clue, known: Stretch) -> Resolved | None:
    """The day that the other clues pick inside a known stretch."""
    zone = known.exact
    if clue.holiday is not None:
        years = range(known.first.year, known.limit.year + 1)
        found = next((d for y in years if (d := clue.holiday(y)) and known.first <= d < known.limit), None)
        return Resolved(on(zone, found), Grain.DAY, holiday=True) if found else None
    if clue.month is not None and clue.day is None:
        start = date(known.first.year, clue.month, 1)
        return Resolved(on(zone, start), Grain.MONTH) if known.first <= start < known.limit else None
    if clue.weekday is None and clue.day is None:
        return Resolved(known.exact, known.grain, known.end, known.holiday)
    for offset in range((known.limit - known.first).days):
        found = known.first + timedelta(days=offset)
        if all(
            wanted in (None, has)
            for wanted, has in (
                (clue.weekday, found.weekday()),
                (clue.day, found.day),
                (clue.month, found.month),
            )
        ):
            return Resolved(on(zone, found), Grain.DAY)
    return None


# --- times ----------------------------------------------------------------------------------------


def _today(clue: Clue, now: datetime, *, future: bool) -> Resolved | None:
    """A time without a day: its next reading after now (or the last one before it)."""
    readings = [
        found
        for offset in (-1, 0, 1)
        for found in _readings(clue, shift(floor(now, Grain.DAY), Grain.DAY, offset))
    ]
    if future:
        return min((r for r in readings if r.value > now), key=lambda r: r.value, default=None)
    return max((r for r in readings if r.value <= now), key=lambda r: r.value, default=None)


def _timed(clue: Clue, day: Resolved, now: datetime) -> Resolved | None:
    """The time on a known day: on today its next reading, else the one people mean."""
    if day.grain.rank < Grain.DAY.rank:
        return day
    readings = _readings(clue, floor(day.value, Grain.DAY))
    if not readings:
        return None
    if len(readings) == 1:
        return replace(readings[0], holiday=day.holiday)
    if floor(day.value, Grain.DAY) == floor(now, Grain.DAY):
        return min((r for r in readings if r.value > now), key=lambda r: r.value, default=readings[-1])
    assert clue.clock is not None
    morning = 7 <= clue.clock.hour <= 11
    return replace(readings[0] if morning else readings[1], holiday=day.holiday)


def _readings(clue: Clue, day: datetime) -> list[Resolved]:
    if clue.clock is None:
        assert clue.part is not None
        start = shift(day, Grain.HOUR, clue.part.first)
        return [Resolved(start, Grain.HOUR, shift(day, Grain.HOUR, clue.part.last))]
    return [
        Resolved(_zoned(clue, moment), clue.clock.grain, _until(clue, moment, day=day))
        for hour in _hours(clue.clock, clue.part)
        for moment in (_at(day, clue.clock, hour),)
    ]


def _at(day: datetime, clock: ClockTime, hour: int) -> datetime:
    """The wall clock of that day, also across a change to or from summer time."""
    base = shift(day, Grain.DAY, hour // 24)
    return base.replace(hour=hour % 24, minute=clock.minute, second=clock.second)


def _hours(clock: ClockTime, part: Part | None) -> tuple[int, ...]:
    """The hours that a clock may mean on a day; 24 and more belong to the day after."""
    hour = clock.hour
    if not clock.open:
        return (24,) if hour == 0 and part is not None and part.half == "night" else (hour,)
    if part is None:
        return (0, 12) if hour == 12 else (hour, hour + 12)
    if part.half == "am":
        return (hour % 12,)
    if part.half == "night" and (hour == 12 or hour < 5):
        return (24 + hour % 12,)
    if part.first >= 18 and hour == 12:
        return (24,)
    return (hour % 12 + 12,)


def _until(clue: Clue, start: datetime, *, day: datetime) -> datetime | None:
    if clue.until is None:
        return None
    ends = [_zoned(clue, _at(day, clue.until, hour)) for hour in _hours(clue.until, clue.part)]
    start = _zoned(clue, start)
    return min((end for end in ends if end > start), default=None)


def _zoned(clue: Clue, moment: datetime) -> datetime:
    """The same instant in the zone of now. Without one there is nothing to convert to."""
    if clue.zone is None or moment.tzinfo is None:
        return moment
    return moment.replace(tzinfo=clue.zone).astimezone(moment.tzinfo)
