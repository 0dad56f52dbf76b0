"""Dates seen from now: "tomorrow", "next week", "last March", "this evening", "the weekend", "right now"."""

from dataclasses import replace
from datetime import date, datetime

from steward.language.dates.calendar import Grain, days_after, floor, on, shift
from steward.language.dates.clue import Clue, Stretch, resolve, stretch
from steward.language.dates.day_parts import part_of
from steward.language.dates.days import month_name
from steward.language.dates.durations import offset_stretch, unit
from steward.language.dates.holidays import holiday_at
from steward.language.dates.reader import Found, Reader, amount, ordinal
from steward.language.dates.words import FOLLOWERS, LAST, NEXT, PARTS, SEASONS, THIS, TODAY, WEEKDAYS

_VAGUE = frozenset({"later", "earlier", "sometime", "anytime", "early", "late"})

_FAR_DAYS = (
    (
        (
            "the day after tomorrow",
            "day after tomorrow",
            "overmorrow",
            "day after tmrw",
            "day after tommorow",
        ),
        2,
    ),
    (("the day before yesterday", "day before yesterday", "ereyesterday"), -2),
)
_SHORTHAND: dict[str, int | None] = {
    "day": 0,
    "moro": 1,
    "morrow": 1,
    "nite": None,
    "night": None,
}  # "2day", "2nite"
_NOW = (
    "right now",
    "just now",
    "at the moment",
    "at this moment",
    "at this time",
    "immediately",
    "right away",
    "asap",
    "as soon as possible",
    "this instant",
    "straight away",
)


def today_clue(r: Reader, i: int) -> Found:
    """today, tomorrow, yesterday, the day after tomorrow, tonight, now."""
    start = r.skip(i, _VAGUE) if r.word(i + 1) in ("today", "tonight", "tomorrow", "this", "next") else i
    for words, offset in _FAR_DAYS:
        end = r.phrase(start, *words)
        if end:
            return _day(r, offset, end)
    if r.word(start) in TODAY:
        return _day(r, TODAY[r.word(start)], start + 1)
    if r.word(start) == "2" and r.glued(start + 1) and r.word(start + 1) in _SHORTHAND:
        offset = _SHORTHAND[r.word(start + 1)]
        return _tonight(r, start + 2) if offset is None else _day(r, offset, start + 2)
    return _tonight(r, start + 1) if r.word(start) in ("tonight", "tonite", "tonights") else _now(r, start)


def _day(r: Reader, offset: int, end: int) -> tuple[Clue, int]:
    start = shift(floor(r.now, Grain.DAY), Grain.DAY, offset)
    return Clue(within=stretch(start, Grain.DAY)), end


def week_later_clue(r: Reader, i: int) -> Found:
    """ "Friday week", "tomorrow week", "a week tomorrow", "two weeks today": seven days on from that day."""
    weekday, offset = WEEKDAYS.get(r.word(i)), TODAY.get(r.word(i))
    if weekday is not None or offset is not None:
        end = i + 2
        followed = r.at_end(end) or r.word(end) in FOLLOWERS or not r.word(end).isalnum()
        if r.word(i + 1) != "week" or not followed:
            return None
        weeks = 1
    else:
        counted = amount(r, i)
        measured = None if counted is None else unit(r, counted[1])
        if counted is None or measured is None or measured[:2] not in ((Grain.WEEK, 1), (Grain.DAY, 14)):
            return None
        offset, end = TODAY.get(r.word(counted[1] + 1)), counted[1] + 2
        if offset is None or counted[0].denominator != 1:
            return None
        weeks = int(counted[0]) * (1 if measured[0] is Grain.WEEK else 2)
    day = Clue(weekday=weekday) if offset is None else _day(r, offset, end)[0]
    first = resolve(day, r.now, future=True)
    if first is None:
        return None
    return Clue(within=stretch(shift(floor(first.value, Grain.DAY), Grain.WEEK, weeks), Grain.DAY)), end


def _tonight(r: Reader, end: int) -> Found:
    clue = Clue(within=stretch(floor(r.now, Grain.DAY), Grain.DAY))
    return replace(clue, part=part_of("night", *PARTS["tonight"])), end


def _now(r: Reader, i: int) -> Found:
    end = r.phrase(i, *_NOW)
    if end:
        return Clue(within=stretch(r.now, Grain.SECOND)), end
    if r.word(i) == "atm":
        return Clue(within=stretch(r.now, Grain.SECOND), weak="name"), i + 1  # or a cash machine
    if r.word(i) == "now" and r.word(i + 1) not in ("that", "then"):
        return Clue(within=stretch(r.now, Grain.SECOND), weak="now"), i + 1
    return None


def turn(word: str) -> int | None:
    """Which way a word points: next 1, this 0, last -1."""
    return 1 if word in NEXT else -1 if word in LAST else 0 if word in THIS else None


def turned_clue(r: Reader, i: int) -> Found:
    """ "next week", "this Friday", "last March", "the coming weekend", "this morning"."""
    start = (
        r.skip(i, ("the", "in", "during"))
        if r.word(i + 1) != "the"
        else r.skip(r.skip(i, ("in", "during")), ("the",))
    )
    start = r.skip(start, _VAGUE)
    way = turn(r.word(start))
    if way is None:
        return None
    word = r.word(start)
    at = start + 1
    if word in ("this", "the") and r.word(at) in NEXT | LAST:
        way, word, at = turn(r.word(at)) or 0, r.word(at), at + 1
    soon = word in ("coming", "upcoming", "following")
    at = r.skip(at, ("single",))
    return (
        _turned_weekday(r, at, way, soon=soon)
        or _turned_part(r, at, way)
        or _turned_month(r, at, way)
        or _turned_holiday(r, at, way)
        or _turned_season(r, at, way)
        or _turned_unit(r, at, way)
        or _several(r, at, way, soon=soon)
    )


def _turned_weekday(r: Reader, i: int, way: int, *, soon: bool) -> Found:
    weekday = WEEKDAYS.get(r.word(i))
    if weekday is None:
        return None
    today = r.now.date()
    ahead = (weekday - today.weekday()) % 7
    if way < 0:
        day = days_after(today, ahead - 7 if ahead else -7)
    elif way == 0:
        day = days_after(today, ahead)
    elif soon:
        day = days_after(today, ahead or 7)
    else:
        day = days_after(today, 7 - today.weekday() + weekday)
    end = i + 1
    if r.word(end) == "." and r.glued(end) and len(r.word(i)) <= 5:
        end += 1
    return Clue(within=stretch(on(r.now, day), Grain.DAY)), end


def _turned_part(r: Reader, i: int, way: int) -> Found:
    i = r.skip(i, ("early", "late"))
    word = r.word(i)
    if word not in PARTS or word in ("tonight", "breakfast", "lunch", "dinner", "brunch", "tonite"):
        return None
    day = shift(floor(r.now, Grain.DAY), Grain.DAY, way)
    return Clue(within=stretch(day, Grain.DAY), part=part_of(word, *PARTS[word])), i + 1


def _turned_month(r: Reader, i: int, way: int) -> Found:
    found = month_name(r, i)
    if found is None:
        return None
    month, end = found
    year = r.now.year
    if way > 0 and month <= r.now.month:
        year += 1
    if way < 0 and month >= r.now.month:
        year -= 1
    clue = Clue(within=stretch(on(r.now, date(year, month, 1)), Grain.MONTH))
    number = ordinal(r, r.skip(end, ("the",)))
    value = number[0] if number else r.digits(end, most=2)
    if value and 1 <= value <= 31:
        return replace(clue, day=value), number[1] if number else end + 1
    return clue, end


def _turned_holiday(r: Reader, i: int, way: int) -> Found:
    found = holiday_at(r, i)
    if found is None:
        return None
    rule, end = found
    anchor = shift(floor(r.now, Grain.DAY), Grain.DAY, way)
    seen = resolve(Clue(holiday=rule), anchor, future=way >= 0)
    if seen is None:
        return None
    return Clue(within=Stretch(seen.value, Grain.DAY, Grain.DAY, holiday=True)), end


def season_clue(r: Reader, i: int) -> Found:
    """ "summer 2014", "in the summer"; a bare season needs its preposition."""
    start = r.phrase(i, "in the", "during the", "by the", "in", "during", "by") or i
    if r.word(start) not in SEASONS:
        return None
    year = r.digits(r.skip(start + 1, ("of",)))
    if year and year >= 1000:
        return _season(r, start, year), r.skip(start + 1, ("of",)) + 1
    if start == i or (r.word(start) in ("fall", "spring") and start - i < 2):
        return None
    return _next_season(r, start, 0), start + 1


def _turned_season(r: Reader, i: int, way: int) -> Found:
    return (_next_season(r, i, way), i + 1) if r.word(i) in SEASONS else None


def _season(r: Reader, i: int, year: int) -> Clue:
    month, day = SEASONS[r.word(i)]
    start = on(r.now, date(year, month, day))
    return Clue(within=Stretch(start, Grain.DAY, Grain.DAY, shift(start, Grain.MONTH, 3)))


def _next_season(r: Reader, i: int, way: int) -> Clue:
    month, day = SEASONS[r.word(i)]
    this = on(r.now, date(r.now.year, month, day))
    year = r.now.year
    if way > 0 and this <= r.now:
        year += 1
    elif way < 0 and shift(this, Grain.MONTH, 3) > r.now:
        year -= 1
    elif way == 0 and shift(this, Grain.MONTH, 3) <= r.now:
        year += 1
    return _season(r, i, year)


def _turned_unit(r: Reader, i: int, way: int) -> Found:
    if r.word(i) in ("weekend", "weekends"):
        return Clue(within=weekend(r.now, way)), i + 1
    if r.phrase(i, "business day", "working day", "work day", "workday") and way:
        end = i + 1 if r.word(i) == "workday" else i + 2
        return Clue(within=stretch(_workday(r.now, way), Grain.DAY)), end
    found = unit(r, i)
    if found is None or found[1] != 1 or found[0].rank < Grain.HOUR.rank:
        return None
    grain, _, end = found
    if (grain is Grain.HOUR and way == 0) or r.word(end) == "off":
        return None  # "my next day off" is no date
    return Clue(within=stretch(shift(floor(r.now, grain), grain, way), grain)), end


def _workday(now: datetime, way: int) -> datetime:
    day = shift(floor(now, Grain.DAY), Grain.DAY, way)
    while day.weekday() > 4:
        day = shift(day, Grain.DAY, way)
    return day


def weekend(now: datetime, way: int) -> Stretch:
    saturday = shift(floor(now, Grain.WEEK), Grain.DAY, 5 + 7 * way)
    return Stretch(saturday, Grain.DAY, Grain.DAY, shift(saturday, Grain.DAY, 2))


def weekend_clue(r: Reader, i: int) -> Found:
    start = r.phrase(i, "over the", "on the", "at the", "the") or i
    if r.word(start) not in ("weekend", "wkend"):
        return None
    return Clue(within=weekend(r.now, 0)), start + 1


def _several(r: Reader, i: int, way: int, *, soon: bool) -> Found:
    """ "next 3 days", "last two weeks", "upcoming two months"."""
    found = amount(r, i)
    if found is None or found[0].denominator != 1 or way == 0:
        return None
    measured = unit(r, found[1])
    if measured is None:
        return None
    grain, times, end = measured
    count = int(found[0]) * times
    if soon:
        return Clue(within=stretch(shift(floor(r.now, grain), grain, count), grain)), end
    small = grain.rank < Grain.DAY.rank
    today = r.now if small else floor(r.now, Grain.DAY)
    precision = Grain.MINUTE if small else Grain.DAY
    if way < 0:
        return Clue(within=Stretch(shift(today, grain, -count), precision, precision, today)), end
    first = today if small else shift(today, Grain.DAY, 1)
    return Clue(within=Stretch(first, precision, precision, shift(first, grain, count))), end


def counted_upcoming_clue(r: Reader, i: int) -> Found:
    """ "two upcoming weeks"."""
    found = amount(r, i)
    if found is None or r.word(found[1]) not in ("upcoming", "coming", "next") or found[0].denominator != 1:
        return None
    measured = unit(r, found[1] + 1)
    if measured is None:
        return None
    grain, times, end = measured
    start = shift(floor(r.now, grain), grain, int(found[0]) * times)
    return Clue(within=stretch(start, grain)), end


def after_next_clue(r: Reader, i: int) -> Found:
    """ "Friday after next", "the week after next", "March after next", "the month before last"."""
    start = r.skip(i, ("the",))
    weekday = WEEKDAYS.get(r.word(start))
    month = month_name(r, start)
    measured = unit(r, start)
    end = start + 1
    ahead = r.phrase(end, "after next")
    back = r.phrase(end, "before last")
    if ahead is None and back is None:
        return None
    way = 1 if ahead else -1
    end = ahead or back or end
    if weekday is not None:
        first = resolve(Clue(weekday=weekday), r.now, future=way > 0)
        return (
            (Clue(within=stretch(shift(first.value, Grain.DAY, 7 * way), Grain.DAY)), end) if first else None
        )
    if month is not None:
        first = _turned_month(r, start, way)
        assert first is not None
        assert first[0].within is not None
        return Clue(within=stretch(shift(first[0].within.exact, Grain.YEAR, way), Grain.MONTH)), end
    if r.word(start) == "weekend":
        return Clue(within=weekend(r.now, 2 * way)), end
    if measured is None or measured[1] != 1 or measured[0].rank < Grain.DAY.rank:
        return None
    return Clue(within=stretch(shift(floor(r.now, measured[0]), measured[0], 2 * way), measured[0])), end


def this_unit(r: Reader, i: int) -> Found:
    """ "the month" inside "the end of the month" or "the 3rd of the month": the current one."""
    start = r.skip(i, ("the",))
    measured = unit(r, start)
    if measured is None or measured[1] != 1 or measured[0].rank < Grain.DAY.rank:
        return None
    return Clue(within=stretch(floor(r.now, measured[0]), measured[0])), measured[2]


__all__ = ["offset_stretch", "this_unit"]
