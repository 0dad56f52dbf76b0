"""Dates made of other dates: "the last Friday of October", "end of next month", "week of the 6th"."""

from datetime import datetime

from steward.language.dates.calendar import Grain, OutOfCalendarError, floor, on, shift
from steward.language.dates.clue import IMPOSSIBLE, Clue, Stretch, resolve, stretch
from steward.language.dates.durations import unit
from steward.language.dates.holidays import holiday_at
from steward.language.dates.reader import Found, Reader, ordinal
from steward.language.dates.relative import this_unit
from steward.language.dates.words import WEEKDAYS

_OF = ("of", "in", "from", "for")
_EDGES = {"end": "end", "beginning": "start", "begining": "start", "start": "start", "middle": "middle"}
_ABOUT = {"late": "late", "early": "start", "mid": "middle"}
_CLOSE_OF_BUSINESS = (
    "close of business",
    "end of business day",
    "end of business",
    "end of the business day",
    "end of the work day",
    "end of the working day",
    "cob",
)
_ACRONYMS = {"eod": Grain.DAY, "eow": Grain.WEEK, "eom": Grain.MONTH, "eoq": Grain.QUARTER, "eoy": Grain.YEAR}


def inner(r: Reader, i: int) -> tuple[Stretch, int] | None:
    """Another date as a stretch; "the month" is the current one."""
    found = r.nested(r, i) or this_unit(r, i)
    if found is None or found[0].weak in ("hour", "at", "part", "numeric"):
        return None
    clue, end = found
    if (
        clue.within is not None
        and resolve(clue, r.now) is not None
        and not clue.has_time
        and clue.day is None
    ):
        seen = resolve(clue, r.now)
        if seen and seen.value == clue.within.exact:
            return clue.within, end
    seen = resolve(clue, r.now, future=r.future)
    return (stretch(seen.value, seen.grain), end) if seen else None


def nth_clue(r: Reader, i: int) -> Found:
    """ "first Monday of March", "last day of October 2015", "third last week of 2018"."""
    counted = _which(r, r.skip(r.skip(i, ("the", "on")), ("the",)))
    if counted is None:
        return None
    number, at, ordered = counted
    weekday = WEEKDAYS.get(r.word(at))
    measured = unit(r, at)
    grain = (
        Grain.DAY if weekday is not None else measured[0] if measured and measured[1] == 1 else Grain.SECOND
    )
    if grain.rank < Grain.DAY.rank:
        return None
    end = at + 1
    if r.word(end) == "after" and weekday is not None and number > 0:
        return _after(r, end + 1, weekday, number)
    joined = r.word(end) in _OF
    whole = inner(r, end + joined) if joined or ordered else None  # "last Friday" is not an ordinal
    if whole is None:
        return None
    container, end = whole
    day = _nth_unit(container, grain, number) if weekday is None else _nth_weekday(container, weekday, number)
    return (Clue(within=stretch(day, grain)) if day else IMPOSSIBLE), end


def _which(r: Reader, i: int) -> tuple[int, int, bool] | None:
    """ "third", "last", "second to last": its number, the next position, whether it was an ordinal."""
    nth = ordinal(r, i)
    number, at = nth or (1, i)
    backwards = r.phrase(at, "to the last", "to last") if nth else None
    backwards = backwards or r.phrase(at, "last", "final")
    if backwards:
        return -number, r.skip(backwards, ("full",)), nth is not None
    return (number, r.skip(at, ("full",)), True) if nth else None


def _after(r: Reader, i: int, weekday: int, number: int) -> Found:
    base = inner(r, i)
    if base is None:
        return None
    start = floor(base[0].exact, Grain.DAY)
    ahead = (weekday - start.weekday()) % 7 or 7
    return Clue(within=stretch(shift(start, Grain.DAY, ahead + 7 * (number - 1)), Grain.DAY)), base[1]


def beside_clue(r: Reader, i: int) -> Found:
    """ "the Friday before Thanksgiving", "Monday after the 15th"."""
    start = r.skip(i, ("the",))
    weekday = WEEKDAYS.get(r.word(start))
    way = {"before": -1, "after": 1, "following": 1}.get(r.word(start + 1))
    base = inner(r, start + 2) if weekday is not None and way is not None else None
    if base is None or weekday is None or way is None or base[0].grain is not Grain.DAY:
        return None
    day = floor(base[0].exact, Grain.DAY)
    away = (weekday - day.weekday()) * way % 7 or 7
    return Clue(within=stretch(shift(day, Grain.DAY, away * way), Grain.DAY)), base[1]


def _nth_weekday(whole: Stretch, weekday: int, number: int) -> datetime | None:
    first, limit = on(whole.exact, whole.first), on(whole.exact, whole.limit)
    if number > 0:
        day = shift(first, Grain.DAY, (weekday - first.weekday()) % 7 + 7 * (number - 1))
    else:
        last = shift(limit, Grain.DAY, -1)
        day = shift(last, Grain.DAY, -((last.weekday() - weekday) % 7) + 7 * (number + 1))
    return day if first <= day < limit else None


def _nth_unit(whole: Stretch, grain: Grain, number: int) -> datetime | None:
    """The nth unit that lies wholly inside the stretch."""
    first, limit = on(whole.exact, whole.first), on(whole.exact, whole.limit)
    if number > 0:
        start = floor(first, grain)
        start = start if start == first else shift(start, grain, 1)
        found = shift(start, grain, number - 1)
    else:
        found = shift(floor(limit, grain), grain, number)
    return found if first <= found and shift(found, grain, 1) <= limit else None


def of_month_clue(r: Reader, i: int) -> Found:
    """ "20 of next month", "the 20th of the month", "20th day of this month"."""
    start = r.skip(i, ("the",))
    numbered = ordinal(r, start)
    value = r.digits(start, most=2)
    if numbered is None and value is not None:
        numbered = (value, start + 1)
    if numbered is None or not 1 <= numbered[0] <= 31:
        return None
    at = r.skip(numbered[1], ("day",))
    if r.word(at) not in ("of", "in"):
        return None
    whole = inner(r, at + 1) if r.word(at + 1) in ("this", "the", "next", "last", "current", "following",
    "previous",
                                                   "each", "every", "coming", "upcoming",
                                                   "past") else None  # fmt: skip
    if whole is None or whole[0].room is not Grain.MONTH:
        return None
    return Clue(within=whole[0], day=numbered[0]), whole[1]


def days_of_month_clue(r: Reader, i: int) -> Found:
    """ "from 4 to 22 this month", "between the 3rd and the 5th of next month"."""
    start = r.skip(r.skip(i, ("from", "between")), ("the",))
    one = ordinal(r, start) or _small(r, start)
    if one is None or r.word(one[1]) not in ("to", "-", "\u2013", "and", "until", "till", "through", "thru"):
        return None
    after = r.skip(one[1] + 1, ("the",))
    two = ordinal(r, after) or _small(r, after)
    if two is None or not 1 <= one[0] < two[0] <= 31:
        return None
    at = r.skip(two[1], ("of", "in"))
    whole = inner(r, at) if r.word(at) in ("this", "the", "next", "last", "current") else None
    if whole is None or whole[0].room is not Grain.MONTH:
        return None
    return Clue(within=whole[0], day=one[0], last_day=two[0]), whole[1]


def _small(r: Reader, i: int) -> tuple[int, int] | None:
    value = r.digits(i, most=2)
    return (value, i + 1) if value is not None else None


def half_clue(r: Reader, i: int) -> Found:
    """ "the first half of 2016", "the second half of March"."""
    start = r.skip(i, ("the",))
    nth = ordinal(r, start)
    if nth is None or nth[0] not in (1, 2) or r.phrase(nth[1], "half of") is None:
        return None
    whole = inner(r, nth[1] + 2)
    if whole is None or whole[0].room.rank < Grain.MONTH.rank:
        return None
    first, limit = on(r.now, whole[0].first), on(r.now, whole[0].limit)
    middle = shift(first, Grain.MONTH, 6) if whole[0].room is Grain.YEAR else shift(first, Grain.DAY, 15)
    begin, end = (first, middle) if nth[0] == 1 else (middle, limit)
    return Clue(within=Stretch(begin, Grain.DAY, Grain.DAY, end)), whole[1]


def week_of_clue(r: Reader, i: int) -> Found:
    """ "the week of October 6th", "the month of March", "the weekend of the 4th"."""
    start = r.skip(i, ("the",))
    word = r.word(start)
    if word not in ("week", "month", "year", "weekend", "quarter") or r.word(start + 1) not in (
        "of",
        "commencing",
    ):
        return None
    base = inner(r, start + 2)
    if base is None:
        return None
    if word == "weekend":
        saturday = shift(floor(base[0].exact, Grain.WEEK), Grain.DAY, 5)
        return Clue(within=Stretch(saturday, Grain.DAY, Grain.DAY, shift(saturday, Grain.DAY, 2))), base[1]
    grain = Grain(word)
    return Clue(within=stretch(floor(base[0].exact, grain), grain)), base[1]


def edge_clue(r: Reader, i: int) -> Found:
    """ "end of the month", "beginning of next year", "mid March", "eod", "the end of the day tomorrow"."""
    start = r.skip(r.skip(i, ("at", "by", "in", "on")), ("the",))
    word = r.word(start)
    if word in _ACRONYMS:
        return _acronym(r, start)
    end = r.phrase(start, *_CLOSE_OF_BUSINESS)
    if end:
        return Clue(within=stretch(shift(floor(r.now, Grain.DAY), Grain.HOUR, 17), Grain.HOUR)), end
    if r.phrase(start, "month end", "year end", "quarter end", "week end"):
        return Clue(within=edge(stretch(floor(r.now, Grain(word)), Grain(word)), "end")), start + 2
    if word in _ABOUT:
        whole = _vague_part(r, start + 1)
        return (Clue(within=edge(whole[0], _ABOUT[word])), whole[1]) if whole else None
    whole = _part(r, start + 1, last=word == "end") if word in _EDGES else None
    if whole is None:
        return None
    whole = _same_room(r, *whole)
    return Clue(within=edge(whole[0], _EDGES[word])), whole[1]


def _part(r: Reader, i: int, *, last: bool) -> tuple[Stretch, int] | None:
    """The stretch in "end of next month" and "end next week"."""
    if r.word(i) in ("of", "if", "fo"):
        return inner(r, i + 1)
    return inner(r, i) if last and r.word(i) in ("this", "next") else None


def _vague_part(r: Reader, i: int) -> tuple[Stretch, int] | None:
    """The stretch in "mid-March" and "early next year"; a day has no such parts."""
    at = r.skip(r.skip(i, ("-",)), ("in",))
    found = r.nested(r, at)
    if found is None or found[0].has_time or found[0].day is not None or found[0].weekday is not None:
        return None
    whole = inner(r, at)
    return whole if whole and whole[0].room.rank >= Grain.WEEK.rank else None


def _acronym(r: Reader, i: int) -> Found:
    grain = _ACRONYMS[r.word(i)]
    whole, end = _same_room(r, stretch(floor(r.now, grain), grain), i + 1)
    return Clue(within=edge(whole, "end")), end


def _same_room(r: Reader, whole: Stretch, end: int) -> tuple[Stretch, int]:
    """In "end of day Friday" the day is Friday, not today."""
    if whole.exact != floor(r.now, whole.room):
        return whole, end
    other = inner(r, r.skip(end, ("on", "of", ",")))
    return other if other and other[0].room is whole.room else (whole, end)


def edge(whole: Stretch, kind: str) -> Stretch:
    """The day at the start, middle or end of a stretch; a day ends at its last second, a week on Friday."""
    if whole.room.rank < Grain.DAY.rank:
        raise OutOfCalendarError("an hour has no such day")
    first, limit = on(whole.exact, whole.first), on(whole.exact, whole.limit)
    if whole.room is Grain.DAY:
        hour = {"start": 8, "middle": 12}.get(kind)
        if hour is None:
            return stretch(shift(limit, Grain.SECOND, -1), Grain.SECOND)
        return stretch(shift(first, Grain.HOUR, hour), Grain.HOUR)
    if kind == "start":
        return stretch(first, Grain.DAY)
    length = (limit - first).days
    if kind == "middle":
        return stretch(shift(first, Grain.DAY, 14 if whole.room is Grain.MONTH else length // 2), Grain.DAY)
    if kind == "late":
        return stretch(shift(first, Grain.DAY, 2 * length // 3), Grain.DAY)
    return stretch(shift(limit, Grain.DAY, -3 if whole.room is Grain.WEEK else -1), Grain.DAY)


def closest_clue(r: Reader, i: int) -> Found:
    """ "the closest Monday to October 5th", "the second closest Christmas to today"."""
    start = r.skip(i, ("the",))
    nth = ordinal(r, start)
    at, number = (nth[1], nth[0]) if nth else (start, 1)
    if r.word(at) not in ("closest", "nearest"):
        return None
    at += 1
    weekday = WEEKDAYS.get(r.word(at))
    named = holiday_at(r, at)
    end = named[1] if named else at + 1
    if (weekday is None and named is None) or r.word(end) != "to":
        return None
    base = inner(r, end + 1)
    if base is None or number > 20:
        return None
    day = base[0].exact.date()
    if weekday is not None:
        near = [floor(base[0].exact, Grain.DAY)]
        near = [
            shift(near[0], Grain.DAY, (weekday - day.weekday()) % 7 + 7 * k)
            for k in range(-number - 1, number + 1)
        ]
    else:
        assert named is not None
        years = range(max(1, day.year - number - 1), min(9999, day.year + number + 1) + 1)
        near = [on(r.now, found) for year in years if (found := named[0](year))]
    near.sort(key=lambda found: abs((found.date() - day).days))
    found = near[number - 1]
    return Clue(within=Stretch(found, Grain.DAY, Grain.DAY, holiday=named is not None)), base[1]


def rest_clue(r: Reader, i: int) -> Found:
    """ "the rest of the week": from today to its end."""
    start = r.phrase(i, "the rest of", "rest of", "the remainder of", "remainder of")
    if start is None:
        return None
    whole = inner(r, start)
    if whole is None or whole[0].room.rank < Grain.DAY.rank:
        return None
    today = floor(r.now, Grain.DAY)
    return Clue(within=Stretch(today, Grain.DAY, Grain.DAY, on(r.now, whole[0].limit))), whole[1]


def decade_clue(r: Reader, i: int) -> Found:
    """ "the 90s", "the 1970s"."""
    start = r.skip(i, ("the",))
    value = r.digits(start)
    if value is None or r.word(start + 1) != "s" or value % 10 or not r.glued(start + 1):
        return None
    size = len(r.word(start))
    if size == 4:
        year = value
    elif size == 2 and start > i:
        year = 1900 + value if value >= 30 else 2000 + value
    else:
        return None
    first = r.now.replace(year=year, month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
    return Clue(within=Stretch(first, Grain.YEAR, Grain.YEAR, shift(first, Grain.YEAR, 10))), start + 2
