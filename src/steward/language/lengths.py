"""Lengths of time as people write them: "1h 20", "an hour and a half", "3 hours and 45 minutes".

Owns where one stands in a text and how long it is. A length within a date ("in two days") is the grammar's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from steward.contract import linear_re as re
from steward.language.numbers import number_in

_UNITS = {
    "second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "m": 60, "hour": 3600, "hr": 3600, "h": 3600,
    "day": 86_400, "d": 86_400, "week": 604_800, "wk": 604_800,
}  # fmt: skip
_PART = re.compile(
    r"\b(?:(?P<digits>\d{1,12}(?:[.,]\d{1,6})?)(?:\s+and\s+(?P<mid>a half|a quarter|three quarters))?"
    r"[\s-]{0,2}(?P<short>seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|wks?)|"
    r"(?:(?P<half>half an?|(?:a )?quarter of an|three quarters of an|(?:a )?couple of)|"
    r"(?P<words>(?:[a-z]{2,9}[\s-])?[a-z]{1,9}))?"
    r"(?:\s+and\s+(?P<inner>a half|a quarter|three quarters))?\s?"
    r"\b(?P<long>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?))"
    r"(?:\s+and\s+(?P<part>a half|a quarter|three quarters))?(?![a-z])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s{0,3}(?:,|and|&|n)?\s{0,3}(?:and\s)?\s{0,3}", re.IGNORECASE)
_BARE = re.compile(r"\s?(?P<minutes>[0-5]\d)(?:m|mins?)?\b(?![:.,/]?\d)")  # "1h 20", "2h30m"
_PARTS = {"a half": 0.5, "a quarter": 0.25, "three quarters": 0.75}
_HALVES = {"half": 0.5, "quarter": 0.25, "three": 0.75, "couple": 2.0}
_NAMED_UNIT = re.compile(r"\b(?P<unit>second|minute|hour|day|week)s?\b")  # "min" is mostly the least


@dataclass(frozen=True, slots=True)
class Length:
    start: int
    end: int
    seconds: float


def unit_of_time(named: str) -> float | None:
    """The one unit of time, in seconds, that the words about a slot name; None where none or several are."""
    units = {_UNITS[found["unit"]] for found in _NAMED_UNIT.finditer(named.lower())}
    return units.pop() if len(units) == 1 else None


@lru_cache(maxsize=64)
def lengths_in(text: str) -> tuple[Length, ...]:
    """Those of several parts are one: each part is of a smaller unit than the one before it."""
    found: list[tuple[Length, int]] = []
    for part, unit in _parts(text):
        last = found[-1] if found else None
        if last is not None and unit < last[1] and _BETWEEN.fullmatch(text[last[0].end : part.start]):
            found[-1] = Length(last[0].start, part.end, last[0].seconds + part.seconds), unit
        else:
            found.append((part, unit))
    return tuple(each for each, _ in found)


def length_at(text: str, start: int, end: int) -> Length | None:
    """The whole length of which a piece of the text is a part."""
    return next((each for each in lengths_in(text) if each.start < end and each.end > start), None)


def length_of_time(text: str) -> float | None:
    """In seconds what a text begins with."""
    start = len(text) - len(text.lstrip())
    return next((each.seconds for each in lengths_in(text) if each.start == start), None)


def _parts(text: str) -> Iterator[tuple[Length, int]]:
    for found in _PART.finditer(text):
        name = (found["short"] or found["long"]).lower()
        unit = _UNITS[name if name in _UNITS else name.rstrip("s")]
        start, much = _counted(found)
        if much is None:
            continue
        extra = sum(_PARTS[found[part].lower()] for part in ("mid", "inner", "part") if found[part])
        end, seconds = found.end(), (much + extra) * unit
        bare = _BARE.match(text, end) if name == "h" else None
        if bare is not None:
            end, seconds = bare.end(), seconds + 60 * int(bare["minutes"])
        yield Length(start, end, seconds), unit


def _counted(found: re.Match) -> tuple[int, float | None]:
    """Where the count begins, and what it is: "for two hours" begins with its second word."""
    if found["digits"]:
        number = number_in(found["digits"].replace(",", "."))
        return found.start(), number.value if number else None
    if found["half"]:
        return found.start(), _HALVES[found["half"].lower().removeprefix("a ").split()[0]]
    if not found["words"]:
        alone = found["inner"] or found["part"]  # "hour and a half"
        return found.start(), 1.0 if alone and not found["long"].endswith("s") else None
    words = found["words"].lower()
    for said in (words.split()[-1],) if words.endswith((" a", " an")) else (words, words.split()[-1]):
        start = found.start() + len(words) - len(said)
        if said in ("a", "an", "one", "another"):
            return start, 1.0
        number = number_in(said)
        if number is not None and all(number_in(word) for word in said.replace("-", " ").split()):
            return start, number.value
    return found.start(), None
