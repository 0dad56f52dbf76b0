"""Times of day: "at 5", "3:15pm", "half past five", "15h30", "noon", and ranges of two."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from steward.language.dates.calendar import Grain
from steward.language.dates.clue import ClockTime, Clue
from steward.language.dates.reader import Found, Reader, integer, spelled
from steward.language.dates.words import FOLLOWERS, PARTS, REGIONS, ZONES
from steward.language.dates.zones import zone_at

_AT = frozenset({"at", "@", "by", "around", "about", "approximately", "approx", "until", "till", "til",
    "before",
                 "after", "from", "between", "since", "for", "circa", "exactly", "towards"})  # fmt: skip
_TIME_LEADS = _AT | {"is", "its", ",", "was", "now"}
_CLOCK_ONLY = frozenset({"at", "@"})
_ISH = frozenset({"ish", "sharp", "approximately", "exactly"})
_TO = frozenset({"-", "\u2013", "\u2014", "to", "until", "till", "til", "through", "thru"})
_NAMED = {"noon": 12, "midday": 12, "noontime": 12, "midnight": 0, "midnite": 0}
_Timed = tuple[ClockTime, int] | None


def clock_clue(r: Reader, i: int) -> Found:
    """A time of day or a range of two, with its zone."""
    start = r.skip_all(i, _AT)
    sure = start > i
    start = r.skip(start, ("the",)) if r.word(start + 1) in _NAMED else start
    found = _range(r, start, i) or _single(r, start, sure=sure)
    if found is None:
        return None
    clue, end = found
    zone = zone_at(r, end) if clue.clock else None
    if zone and r.word(end) in ("+", "-") and clue.clock and clue.clock.grain is Grain.HOUR:
        return found  # "10-12" is no offset from UTC
    return (replace(clue, zone=zone[0], weak=None), zone[1]) if zone else found


def _single(r: Reader, i: int, *, sure: bool) -> Found:
    found = _time(r, i)
    if found:
        return Clue(clock=found[0]), found[1]
    return _bare(r, i, sure=sure)


def _bare(r: Reader, i: int, *, sure: bool) -> Found:
    """An hour, or an hour and minutes, with nothing but "at" to say so."""
    if sure and not _is_year(r, i):
        found = _compact(r, i) or _two_numbers(r, i) or _dotted(r, i)
        if found and _stands_alone(r, found[1]):
            return Clue(clock=found[0]), r.skip(found[1], _ISH)
    number = integer(r, i)
    if number is None or not 0 <= number[0] <= 24 or len(r.word(i)) > 6 or r.word(i) == "0":
        return None
    clock = _hour(number[0], shown=r.word(i))
    letter = _meridiem(r, number[1], letters=sure)
    if letter:
        turned = _turn(clock, letter[0])
        return (Clue(clock=turned), letter[1]) if turned else None
    end = r.skip(number[1], _ISH)
    if r.word(i - 1) == "between" or (r.word(i - 1) == "by" and integer(r, i - 2)):
        return None  # "between 1 and 1000", "3 by 2"
    if sure and _stands_alone(r, end):
        return Clue(clock=clock, weak="at" if r.word(i - 1) in ("for", "about", "from") else None), end
    return Clue(clock=clock, weak="hour"), end


def _is_year(r: Reader, i: int) -> bool:
    """ "since 2020" is a year, "at 2020" is a time."""
    value = r.digits(i)
    return value is not None and 1900 <= value < 2100 and r.word(i - 1) not in _CLOCK_ONLY


def _stands_alone(r: Reader, i: int) -> bool:
    """Whether what follows a number leaves it an hour, and not the count of something."""
    word = r.word(i)
    if not word or (not word.isalnum() and word not in "%$€£/:°'\"#*+&=²"):
        return True
    return (
        word in FOLLOWERS or word in _ISH or word in ZONES or word in PARTS or word in _TO or word in REGIONS
    )


def _range(r: Reader, i: int, first: int) -> Found:
    """ "3-5pm", "from 9 to 5", "between 3pm and 5pm", "9:30 - 11:00"."""
    between = r.word(first) in ("from", "between")
    one = ((_dotted(r, i) or _plain_hour(r, i)) if between else None) or _time(r, i) or _plain_hour(r, i)
    if one and r.word(one[1]) not in _TO | {"and"}:
        one = _time(r, i)
    if one is None or not (r.word(one[1]) in _TO or (r.word(one[1]) == "and" and between)):
        return None
    after = r.skip(one[1] + 1, ("at", "about", "around"))
    certain = _time(r, i) is not None
    two = _time(r, after) or (_bare_end(r, after) if certain or between else _hour_before_part(r, after))
    if two is None:
        return None
    if not certain and _time(r, after) is None and not _stands_alone(r, two[1]):
        return None
    turned = r.word(one[1]) == "to" and not between and one[0].open != two[0].open and certain
    if turned and two[0].grain is Grain.HOUR:
        return None
    return Clue(clock=_same_half(one[0], two[0]), until=two[0]), two[1]


def _bare_end(r: Reader, i: int) -> _Timed:
    """The end of "2pm till 3.30", of which the start says that it is a time."""
    return _dotted(r, i) or _plain_hour(r, i)


def _hour_before_part(r: Reader, i: int) -> _Timed:
    """The four in "3-4 this afternoon"."""
    found = _plain_hour(r, i)
    parts = (
        "this morning",
        "this afternoon",
        "this evening",
        "tonight",
        "in the afternoon",
        "in the morning",
    )
    return found if found and r.phrase(found[1], *parts) else None


def _plain_hour(r: Reader, i: int) -> _Timed:
    number = integer(r, i)
    if number and 1 <= number[0] <= 24:
        return _hour(number[0], shown=r.word(i)), number[1]
    return None


def _same_half(one: ClockTime, two: ClockTime) -> ClockTime:
    """In "3-5pm" the three is in the afternoon too; in "11-1pm" and "9 to 5" the first is not."""
    if one.open and two.open and one.hour % 12 > two.hour % 12:
        return replace(one, hour=one.hour % 12, open=False)
    if not one.open or two.open:
        return one
    afternoon = replace(one, hour=one.hour % 12 + 12, open=False)
    return (
        afternoon
        if (afternoon.hour, one.minute) < (two.hour, two.minute)
        else replace(one, hour=one.hour % 12, open=False)
    )


def _time(r: Reader, i: int) -> _Timed:
    """A time that needs no "at": it has a colon, a meridiem, an o'clock or a name."""
    return _first_of(r, i, (_named, _past, _written, _spoken))


def _whole_hour(r: Reader, i: int) -> _Timed:
    """What minutes are counted from: an hour said in full, or a bare number. "Half past half past five" is
    none, so minutes are not looked for within minutes, however often the words are said again.
    """
    return _first_of(r, i, (_named, _written, _spoken)) or _plain_hour(r, i)


def _first_of(r: Reader, i: int, rules: tuple[Callable[[Reader, int], _Timed], ...]) -> _Timed:
    for rule in rules:
        found = rule(r, i)
        if found:
            return found[0], r.skip(found[1], _ISH)
    return None


def _named(r: Reader, i: int) -> _Timed:
    word = r.word(i)
    if r.phrase(i, "mid day", "mid night"):
        word, i = f"mid{r.word(i + 1)}", i + 1
    if word not in _NAMED:
        return None
    return ClockTime(_NAMED[word] if word != "midnight" else 0), i + 1


def _hour(hour: int, *, shown: str) -> ClockTime:
    return ClockTime(hour, open=1 <= hour <= 12 and not shown.startswith("0"))


def _written(r: Reader, i: int) -> _Timed:
    """3pm, 3:15, 3:15:20 pm, 15h30, 15h, 3 o'clock, 330pm, 7.30pm."""
    hour = r.digits(i, most=2)
    if hour is None:
        return _compact_half(r, i)
    if hour > 24:
        return None
    found = _colon(r, i, hour) or _h_style(r, i, hour)
    if found is None:
        clock, end = _hour(hour, shown=r.word(i)), i + 1
        end = r.skip(end, ("ish",)) if r.glued(end) else end
        spoken = _oclock(r, end)
        half = _meridiem(r, spoken or end)
        if half:
            turned = _turn(clock, half[0])
            return (turned, half[1]) if turned else None
        return (clock, spoken) if spoken else None
    clock, end = found
    half = _meridiem(r, end, letters=True)
    if half:
        turned = _turn(clock, half[0])
        return (turned, half[1]) if turned else None
    return clock, _oclock(r, end) or end


def _colon(r: Reader, i: int, hour: int) -> _Timed:
    sign = r.word(i + 1)
    minute = r.digits(i + 2, most=2)
    if minute is None or len(r.word(i + 2)) != 2 or minute > 59 or not (r.glued(i + 1) and r.glued(i + 2)):
        return None
    if sign == ".":
        if _meridiem(r, i + 3) is None or r.word(i + 3) == ".":
            return None
    elif sign != ":":
        return None
    clock = replace(_hour(hour, shown=r.word(i)), minute=minute, grain=Grain.MINUTE)
    second = r.digits(i + 4, most=2)
    if r.word(i + 3) == ":" and second is not None and second < 60 and r.glued(i + 4):
        end = i + 5
        if (
            r.word(end) in (".", ",")
            and r.glued(end)
            and r.glued(end + 1)
            and r.digits(end + 1, most=9) is not None
        ):
            end += 2
        return replace(clock, second=second, grain=Grain.SECOND), end
    return None if hour == 24 and minute else (clock, i + 3)


def _h_style(r: Reader, i: int, hour: int) -> _Timed:
    if r.word(i + 1) not in ("h", "hrs") or not r.glued(i + 1) or hour > 23:
        return None
    minute = r.digits(i + 2, most=2)
    if minute is not None and r.glued(i + 2) and len(r.word(i + 2)) == 2 and minute < 60:
        return ClockTime(hour, minute, grain=Grain.MINUTE), i + 3
    return (ClockTime(hour, grain=Grain.MINUTE), i + 2) if r.word(i - 1) not in ("in", "for", "/") else None


def _compact(r: Reader, i: int) -> _Timed:
    """1030 and 730, where the context says that it is a time."""
    value = r.digits(i)
    if value is None or len(r.word(i)) < 3 or value // 100 > 23 or value % 100 > 59:
        return None
    hour = value // 100
    return replace(_hour(hour, shown=r.word(i)), minute=value % 100, grain=Grain.MINUTE), i + 1


def _compact_half(r: Reader, i: int) -> _Timed:
    found = _compact(r, i)
    if found is None:
        return None
    half = _meridiem(r, found[1])
    if half:
        turned = _turn(found[0], half[0])
        return (turned, half[1]) if turned else None
    if len(r.word(i)) == 4 and r.word(found[1]) in ("hours", "hrs"):
        return replace(found[0], open=False), found[1] + 1
    return found if r.phrase(found[1], "in the morning", "in the evening", "in the afternoon") else None


def _dotted(r: Reader, i: int) -> _Timed:
    """ "at 7.30", as much of Europe writes it."""
    hour, minute = r.digits(i, most=2), r.digits(i + 2, most=2)
    if (
        hour is None
        or minute is None
        or r.word(i + 1) != "."
        or hour > 23
        or minute > 59
        or len(r.word(i + 2)) != 2
    ):
        return None
    if not (r.glued(i + 1) and r.glued(i + 2)) or r.word(i - 1) == "for":
        return None
    return replace(_hour(hour, shown=r.word(i)), minute=minute, grain=Grain.MINUTE), i + 3


def _two_numbers(r: Reader, i: int) -> _Timed:
    """ "at 3 15", "at three twenty", "at five oh five"."""
    hour = integer(r, i)
    if hour is None or not 1 <= hour[0] <= 24 or (len(r.word(i)) > 2 and r.digits(i) is not None):
        return None
    start = hour[1]
    low = r.word(start) in ("oh", "o")
    minute = integer(r, start + 1 if low else start)
    if minute is None or not (1 <= minute[0] <= 9 if low else 10 <= minute[0] <= 59):
        return None
    if r.digits(start) is not None and len(r.word(start)) != 2:
        return None
    return replace(_hour(hour[0], shown=r.word(i)), minute=minute[0], grain=Grain.MINUTE), minute[1]


def _spoken(r: Reader, i: int) -> _Timed:
    """ "ten thirty am", "three o'clock", "three pm", "nine fifty nine a m"."""
    hour = spelled(r, i)
    if hour is None or not 1 <= hour[0] <= 12:
        return None
    both = _two_numbers(r, i)
    if both:
        half = _meridiem(r, both[1])
        if half:
            turned = _turn(both[0], half[0])
            return (turned, half[1]) if turned else None
        if r.phrase(both[1], "in the morning", "in the evening", "in the afternoon", "at night", "tonight"):
            return both
    end = _oclock(r, hour[1])
    half = _meridiem(r, end or hour[1])
    clock = ClockTime(hour[0], open=True)
    if half:
        turned = _turn(clock, half[0])
        return (turned, half[1]) if turned else None
    return (clock, end) if end else None


def _oclock(r: Reader, i: int) -> int | None:
    return r.phrase(i, "oclock", "o ' clock", "o clock", "o \u2019 clock", "clock", "a clock")


def _meridiem(r: Reader, i: int, *, letters: bool = False) -> tuple[str, int] | None:
    start = r.phrase(i, "in the") or i
    for half in ("a", "p"):
        end = r.phrase(start, f"{half}m", f"{half} . m .", f"{half} . m", f"{half} m")
        if end is not None and (start == i or r.word(start) == f"{half}m"):
            return f"{half}m", end
        if letters and r.word(i) == half and r.glued(i):
            return f"{half}m", i + 1
    return None


def _turn(clock: ClockTime, half: str) -> ClockTime | None:
    """The clock in its half of the day; 13pm is lenient, 13am and 0pm are nothing."""
    if clock.hour > 12:
        return replace(clock, open=False) if half == "pm" else None
    if clock.hour == 0:
        return clock if half == "am" else None
    return replace(clock, hour=clock.hour % 12 + (12 if half == "pm" else 0), open=False)


def _past(r: Reader, i: int) -> _Timed:
    """ "half past five", "quarter to noon", "20 past 3pm", "15 minutes before 2", "half three"."""
    for minutes, after, exact in _minutes(r, i):
        sign = _sign(r, i, after, exact=exact or minutes == 30)
        if sign is None and r.word(i) != "half":
            continue
        at = after if sign is None else after + 1  # "half three" has no word between
        hour = _whole_hour(r, at)
        if hour is None or hour[0].minute or (sign == -1 and not _stands_alone(r, hour[1])):
            continue
        if sign == -1 and not exact and r.digits(i) is not None and i and r.word(i - 1) not in _TIME_LEADS:
            continue  # "aged 5 to 7"
        return _moved(hour[0], (sign or 1) * minutes), hour[1]
    return None


def _sign(r: Reader, first: int, i: int, *, exact: bool) -> int | None:
    """Whether minutes are counted on or back: "20 past", "quarter of", "15 minutes from"."""
    word = r.word(i)
    if word in ("past", "after") or (word == "from" and exact and r.word(first) != "half"):
        return 1
    if word in ("to", "before", "til", "till") and r.word(first) != "half":
        return -1
    return -1 if word == "of" and not exact and r.word(first) in ("quarter", "a") else None


def _minutes(r: Reader, i: int) -> Iterator[tuple[int, int, bool]]:
    start = r.skip(i, ("a",))
    if r.word(start) == "quarter":
        yield 15, start + 1, False
    if r.word(i) == "half":
        yield 30, i + 1, False
    number = integer(r, i)
    if number and 1 <= number[0] <= 59:
        unit = r.word(number[1]) in ("minutes", "minute", "min", "mins")
        yield number[0], number[1] + unit, unit


def _moved(clock: ClockTime, minutes: int) -> ClockTime:
    total = clock.hour * 60 + minutes
    if clock.open and total < 60:
        total += 12 * 60
    total %= 24 * 60
    return replace(clock, hour=total // 60, minute=total % 60, grain=Grain.MINUTE)
