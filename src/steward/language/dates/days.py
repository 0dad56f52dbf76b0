"""Named and numbered days: weekdays, months with days and years in every usual order, ISO and slashes."""

from datetime import date

from steward.language.dates.calendar import Grain, on, valid_date
from steward.language.dates.clue import Clue, stretch
from steward.language.dates.reader import Found, Reader, full_year, ordinal, year_number
from steward.language.dates.words import DOUBTFUL_NAMES, FOLLOWERS, MONTHS, PREPOSITIONS, WEEKDAYS

_DASHES = frozenset({"-", "\u2013", "\u2014", "to", "through", "thru", "until", "till"})
_SCORES = frozenset({"above", "below", "over", "than", "rated", "rating", "score", "scored", "got", "ratio"})
_SUBJECTS = frozenset({"i", "you", "we", "they", "he", "she", "it", "who", "that", "which", "this"})
_FRACTION_NOUNS = frozenset({
    "cup", "cups", "pound", "pounds", "lb", "lbs", "tsp", "tbsp", "teaspoon", "teaspoons", "tablespoon",
    "inch",
    "inches", "mile", "miles", "of", "off", "price", "gallon", "gallons", "dozen", "hour", "hours", "hr",
    "h", "oz",
    "mg", "full", "way", "kg", "g", "ml", "l", "liter", "litre", "empty", "done", "complete", "stars", "size",
    "support", "minutes", "day", "days", "year", "month", "week",
})  # fmt: skip


def weekday_clue(r: Reader, i: int) -> Found:
    word = r.word(i)
    weekday = WEEKDAYS.get(word)
    if weekday is None:
        return None
    end = i + 1
    if (r.word(end) == "." and r.glued(end) and len(word) <= 5) or (r.word(end) == "s" and r.glued(end)):
        end += 1
    doubtful = word in DOUBTFUL_NAMES and r.word(end - 1) != "."
    return Clue(weekday=weekday, weak="name" if doubtful else None), end


def month_name(r: Reader, i: int) -> tuple[int, int] | None:
    month = MONTHS.get(r.word(i))
    if month is None:
        return None
    short = len(r.word(i)) <= 4
    return month, i + 2 if short and r.word(i + 1) == "." and r.glued(i + 1) else i + 1


def month_clue(r: Reader, i: int) -> Found:
    """ "March", "March 3", "March the 3rd, 2015", "July 13-15", "October 2014", "Feb13", "mar/3/2015"."""
    found = month_name(r, i)
    if found is None:
        return None
    month, end = found
    doubtful = r.word(i) in DOUBTFUL_NAMES
    verb = doubtful and r.word(i - 1) in _SUBJECTS and r.word(i - 1)
    day = None if verb else _day_after(r, end)
    if day:
        number, last, end = day
        year = _year_after(r, end)
        if year:
            return Clue(year=year[0], month=month, day=number, last_day=last), year[1]
        return Clue(month=month, day=number, last_day=last), end
    year = _month_year(r, end)
    if year:
        return Clue(year=year[0], month=month), year[1]
    weak = "name" if doubtful else None
    return Clue(month=month, weak=weak), end


def _month_year(r: Reader, i: int) -> tuple[int, int] | None:
    start = r.skip(i, (",", "of", "in", "-", "/"))
    year = year_number(r, start)
    if year:
        return year
    if r.word(start) in ("'", "\u2019"):
        return year_number(r, start, short=True)
    return None


def _day_after(r: Reader, i: int) -> tuple[int, int | None, int] | None:
    """The day behind a month: number, last number of a range, next position."""
    start = r.skip(r.skip(i, ("-", "/", ",", "on", ".")), ("the",))
    numbered = ordinal(r, start)
    if numbered is None:
        value = r.digits(start, most=2)
        if value is None or _is_clock(r, start):
            return None
        numbered = (value, start + 1)
    number, end = numbered
    if not 1 <= number <= 31:
        return None
    last = _range_end(r, end)
    if last and number < last[0] <= 31 and not _is_clock(r, last[1] - 1):
        return number, last[0], last[1]
    return number, None, end


def _range_end(r: Reader, i: int) -> tuple[int, int] | None:
    if r.word(i) not in _DASHES:
        return None
    after = r.skip(i + 1, ("the",))
    numbered = ordinal(r, after)
    if numbered:
        return numbered
    value = r.digits(after, most=2)
    return (value, after + 1) if value is not None else None


def _is_clock(r: Reader, i: int) -> bool:
    """A number that a colon, an h or a meridiem makes a time."""
    after = r.word(i + 1)
    return after in ("am", "pm", "oclock") or (after in (":", "h", "a", "p") and r.glued(i + 1))


def _year_after(r: Reader, i: int) -> tuple[int, int] | None:
    """The year behind a day: "2015", ", 2015", "'15", "of 2015", "15"."""
    start = r.skip(r.skip(i, (",", "-", "/", ".")), ("of", "in"))
    year = year_number(r, start)
    if year:
        return year
    value = r.digits(start, most=2)
    if r.word(start) in ("'", "\u2019"):
        return year_number(r, start, short=True)
    if value is not None and len(r.word(start)) == 2 and not _is_clock(r, start) and not _counts(r, start):
        return full_year(value), start + 1
    return None


def _counts(r: Reader, i: int) -> bool:
    """Whether a number counts the word behind it."""
    after = r.word(i + 1)
    return bool(after) and after.isalpha() and after not in FOLLOWERS


def day_month_clue(r: Reader, i: int) -> Found:
    """ "3 March", "the 3rd of March 2015", "31/Oct/1974", "13-15 July", "20th day of ..."."""
    start = r.skip(i, ("the",))
    numbered = ordinal(r, start)
    spelled_out = numbered is not None
    if numbered is None:
        value = r.digits(start, most=2)
        numbered = (value, start + 1) if value is not None else None
        if numbered is None and r.word(start) == "ides":
            numbered = (15, start + 1)
    if numbered is None or not 1 <= numbered[0] <= 31:
        return None
    number, end = numbered
    last = _range_end(r, end)
    if last and number < last[0] <= 31:
        found = _month_behind(r, last[1])
        if found:
            return _with_year(r, Clue(month=found[0], day=number, last_day=last[0]), found[1])
    found = _month_behind(r, end)
    if found:
        if r.word(start) == "ides":
            number = 15 if found[0] in (3, 5, 7, 10) else 13
        return _with_year(r, Clue(month=found[0], day=number), found[1])
    if not spelled_out and r.word(i - 1) == "on" and r.word(start) != "ides" and _closed(r, end):
        return Clue(day=number), end
    if not spelled_out or r.word(start) == "ides":
        return None
    return _ordinal_day(r, i, start, number, end)


def _with_year(r: Reader, clue: Clue, i: int) -> Found:
    year = _year_after(r, i)
    if year is None:
        return clue, i
    return Clue(year=year[0], month=clue.month, day=clue.day, last_day=clue.last_day), year[1]


def _month_behind(r: Reader, i: int) -> tuple[int, int] | None:
    start = r.skip(r.skip(i, ("day",)), ("of", "-", "/", ".", ",", "in"))
    found = month_name(r, start)
    if found is None or (r.word(start) in ("may", "mar", "march") and start == i and _verbs(r, found[1])):
        return None
    return found


def _verbs(r: Reader, i: int) -> bool:
    """ "the 3rd may come": the month is a verb there."""
    return r.word(i) in (
        "be",
        "come",
        "have",
        "not",
        "also",
        "need",
        "take",
        "get",
        "well",
        "work",
        "to",
        "want",
    )


def _ordinal_day(r: Reader, i: int, start: int, number: int, end: int) -> Found:
    """ "the 15th": a day of a month that the rest of the phrase or now gives."""
    last = _range_end(r, end)
    shown = r.word(start).isdecimal()
    named = start > i
    if last and number < last[0] <= 31 and (shown or named):
        return Clue(day=number, last_day=last[0]), last[1]
    counted = r.word(end) and r.word(end).isalpha() and r.word(end) not in FOLLOWERS | PREPOSITIONS
    sure = shown and not counted and (named or r.word(i - 1) in PREPOSITIONS)
    sure = sure or (
        named and not counted and r.word(i - 1) in ("on", "by", "until", "before", "due", "since")
    )
    return Clue(day=number, weak=None if sure else "ordinal"), end


def numeric_clue(r: Reader, i: int) -> Found:
    """2/15, 10/31/1974, 10.31.1974, 2015-03-03, 2014-10, 2/2013, 20150303."""
    first = r.digits(i)
    if first is None:
        return _packed(r, i)
    sign_at = i + 1
    sign = r.word(sign_at)
    if sign not in ("/", "-", "."):
        return None
    spaced = not (r.glued(i + 1) and r.glued(i + 2))
    second = r.digits(i + 2, most=4)
    if second is None or (spaced and (sign == "." or r.glued(i + 1) or r.glued(i + 2))):
        return None
    if (
        r.word(i + 3) == sign
        and r.digits(i + 4) is not None
        and (spaced or (r.glued(i + 3) and r.glued(i + 4)))
    ):
        return _three(r, i)
    return _two(r, i, first, second, sign=sign)


def _three(r: Reader, i: int) -> Found:
    sizes = tuple(len(r.word(i + k)) for k in (0, 2, 4))
    a, b, c = (int(r.word(i + k)) for k in (0, 2, 4))
    if sizes[0] == 4:
        day = valid_date(a, b, c) if sizes[1] <= 2 and sizes[2] <= 2 else None
    elif sizes[2] in (2, 4) and sizes[0] <= 2 and sizes[1] <= 2:
        year = full_year(c) if sizes[2] == 2 else c
        day = valid_date(year, a, b) or valid_date(year, b, a)
        if (
            r.word(i + 1) == "."
            and sizes[2] == 2
            and sizes[0] == 1
            and r.word(i - 1) not in PREPOSITIONS
            and i
        ):
            return None  # 1.2.10 is rather a version
    else:
        day = None
    return (Clue(within=stretch(on(r.now, day), Grain.DAY)), i + 5) if day else None


def _two(r: Reader, i: int, first: int, second: int, *, sign: str) -> Found:
    sizes = len(r.word(i)), len(r.word(i + 2))
    end = i + 3
    if sizes == (4, 2) and 1 <= second <= 12 and first >= 1000 and sign != ".":
        return Clue(year=first, month=second), end
    if sizes[1] == 4 and sizes[0] <= 2 and 1 <= first <= 12 and second >= 1000 and sign != ".":
        return Clue(year=second, month=first), end
    if max(sizes) > 2 or (first, second) == (24, 7):
        return None
    if r.word(end) in _FRACTION_NOUNS or r.digits(i - 1) is not None or r.word(i - 1) in _SCORES:
        return None
    month, day = (first, second) if first <= 12 else (second, first)
    if valid_date(2000, month, day) is None:
        return None
    whole = i == 0 and r.at_end(end)
    prepared = r.word(i - 1) in ("on", "by", "due", "before", "until", "till", "since")
    closed = _closed(r, end)
    weekday = r.word(i - 1) in WEEKDAYS or r.word(i - 1) == ","
    if sign == "/":
        weak = None if closed or prepared else "numeric"
    else:
        weak = (
            None if (prepared and closed) or (sign == "-" and (whole or (weekday and closed))) else "numeric"
        )
    return Clue(month=month, day=day, weak=weak), end


def _closed(r: Reader, i: int) -> bool:
    """Whether the text ends here or goes on with a word that a number does not count."""
    word = r.word(i)
    return not word or word in ",.;!?)" or word in FOLLOWERS | PREPOSITIONS


def _packed(r: Reader, i: int) -> Found:
    text = r.word(i)
    if len(text) != 8 or not text.isdecimal() or not text.isascii() or not text.startswith(("19", "20")):
        return None
    day = valid_date(int(text[:4]), int(text[4:6]), int(text[6:]))
    return (Clue(within=stretch(on(r.now, day), Grain.DAY)), i + 1) if day else None


def year_clue(r: Reader, i: int) -> Found:
    """ "in 2014", "2014 AD", "in 14 a.d."; a bare year needs its preposition."""
    value = r.digits(i)
    era = _era(r, i + 1) if value else None
    if value and era:
        return Clue(within=stretch(on(r.now, date(value, 1, 1)), Grain.YEAR)), era
    start = r.skip(i, ("year",))
    year = year_number(r, start)
    if year is None or not 1900 <= year[0] <= 2199:
        return None
    if r.word(year[1]) == "s" or (r.word(year[1]) in ("%", "/") or r.word(i - 1) in ("$", "#", "€", "£")):
        return None
    return Clue(year=year[0], weak=None if start > i else "year"), year[1]


def _era(r: Reader, i: int) -> int | None:
    return r.phrase(i, "a . d .", "a . d", "ad", "ce")


def quarter_clue(r: Reader, i: int) -> Found:
    """ "Q4 2018", "18q4", "2018Q4", "third quarter", "the 4th qtr of 2018"."""
    year: tuple[int, int] | None = None
    start = r.skip(i, ("the",))
    number: int | None = None
    end = start
    if r.word(start) == "q" and r.glued(start + 1):
        number, end = r.digits(start + 1, most=1), start + 2
    elif (
        r.digits(start) is not None and r.word(start + 1) == "q" and r.glued(start + 1) and r.glued(start + 2)
    ):
        year = (full_year(r.digits(start) or 0), 0)
        number, end = r.digits(start + 2, most=1), start + 3
    else:
        nth = ordinal(r, start)
        if nth and r.word(nth[1]) in ("quarter", "qtr"):
            number, end = nth[0], nth[1] + 1
    if number is None or not 1 <= number <= 4:
        return None
    if year is None:
        year = year_number(r, r.skip_all(end, ("of", ",", "in", "/", "-")))
        end = year[1] if year else end
    start_of = on(r.now, date(year[0] if year else r.now.year, 3 * number - 2, 1))
    return Clue(within=stretch(start_of, Grain.QUARTER)), end
