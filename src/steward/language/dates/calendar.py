"""Calendar arithmetic at a grain: floor, shift, and the n-th of something.

Owns the grains and moving between calendar units. Knows nothing about language.
Every date here lies in the years 1 to 9999; whatever leaves them raises `OutOfCalendarError`.
"""

import calendar
from datetime import date, datetime, timedelta
from enum import StrEnum


class OutOfCalendarError(ValueError):
    """The arithmetic left the years that a date can have."""


class Grain(StrEnum):
    """How precise a date is, finest first."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    @property
    def rank(self) -> int:
        return _RANK[self]


_RANK = {grain: rank for rank, grain in enumerate(Grain)}
_FIXED = {
    Grain.SECOND: timedelta(seconds=1),
    Grain.MINUTE: timedelta(minutes=1),
    Grain.HOUR: timedelta(hours=1),
    Grain.DAY: timedelta(days=1),
    Grain.WEEK: timedelta(weeks=1),
}
_MONTHS = {Grain.MONTH: 1, Grain.QUARTER: 3, Grain.YEAR: 12}


def floor(moment: datetime, grain: Grain) -> datetime:
    """The start of the unit that holds the moment; weeks start on Monday."""
    if grain is Grain.WEEK:
        return shift(floor(moment, Grain.DAY), Grain.DAY, -moment.weekday())
    month = {Grain.QUARTER: 3 * ((moment.month - 1) // 3) + 1, Grain.YEAR: 1}.get(grain, moment.month)
    return moment.replace(
        month=month,
        day=1 if grain.rank > Grain.WEEK.rank else moment.day,
        hour=moment.hour if grain.rank <= Grain.HOUR.rank else 0,
        minute=moment.minute if grain.rank <= Grain.MINUTE.rank else 0,
        second=moment.second if grain is Grain.SECOND else 0,
        microsecond=0,
    )


def shift(moment: datetime, grain: Grain, count: float) -> datetime:
    """Move by so many units; the 31st becomes the last day of a shorter month."""
    try:
        if grain in _FIXED:
            return moment + _FIXED[grain] * count
        whole = int(count)
        months = moment.year * 12 + moment.month - 1 + _MONTHS[grain] * whole
        year, month = divmod(months, 12)
        last = calendar.monthrange(year, month + 1)[1]
        moved = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
        return moved + timedelta(days=round((count - whole) * _MONTHS[grain] * 365.25 / 12))
    except (OverflowError, ValueError, calendar.IllegalMonthError) as error:
        raise OutOfCalendarError(str(error)) from error


def on(moment: datetime, day: date) -> datetime:
    """Midnight of the day, in the moment's zone."""
    return datetime(day.year, day.month, day.day, tzinfo=moment.tzinfo)


def valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def days_after(day: date, count: int) -> date:
    try:
        return day + timedelta(days=count)
    except OverflowError as error:
        raise OutOfCalendarError(str(error)) from error


def nth_weekday(year: int, month: int, *, weekday: int, nth: int) -> date | None:
    """The nth such weekday of a month; a negative nth counts from its end."""
    last = calendar.monthrange(year, month)[1]
    if nth > 0:
        first = date(year, month, 1)
        day = 1 + (weekday - first.weekday()) % 7 + 7 * (nth - 1)
    else:
        end = date(year, month, last)
        day = last - (end.weekday() - weekday) % 7 + 7 * (nth + 1)
    return date(year, month, day) if 1 <= day <= last else None
