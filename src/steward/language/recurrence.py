"""Repetition said in words: "every Monday", "daily", "every 2 weeks", "on the 1st of every month".

Gives a recurrence rule as RFC 5545 writes it, and the text with what still names the first date.
"""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.language.dates.words import WEEKDAYS

_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_DAY = "|".join(sorted((name for name in WEEKDAYS if len(name) > 4), key=len, reverse=True))
_UNITS = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "year": "YEARLY", "hour": "HOURLY"}
_EVERY = r"\b(?:every|each)\s+"
_COUNTS = {"other": 2, "second": 2, "two": 2, "third": 3, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS = re.compile(
    rf"(?:{_EVERY}(?P<other>other\s+|second\s+)?|\bon\s+(?=(?:{_DAY})s\b))"
    rf"(?P<days>(?:{_DAY})(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*/\s*)(?:{_DAY}))*)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"{_EVERY}(?:(?P<n>\d{{1,2}}|other|second|two|third|three|four|five|six)\s+)?(?P<unit>day|week|month|year|hour)s?\b",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\b(?P<word>daily|everyday|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually|hourly)\b",
    re.IGNORECASE,
)
_GROUPS = re.compile(
    rf"(?:{_EVERY}|\bon\s+)(?P<group>weekdays?|work\s*days?|weekends?|mornings?|afternoons?|evenings?|nights?)\b",
    re.IGNORECASE,
)
_DAYS_OF_MONTH = {
    word: f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_ORDINAL = re.compile(rf"\bthe\s+({'|'.join(_DAYS_OF_MONTH)})(?:\s+day)?(?=\s*$)", re.IGNORECASE)
_NAMED = {
    "daily": "FREQ=DAILY",
    "everyday": "FREQ=DAILY",
    "weekly": "FREQ=WEEKLY",
    "biweekly": "FREQ=WEEKLY;INTERVAL=2",
    "fortnightly": "FREQ=WEEKLY;INTERVAL=2",
    "monthly": "FREQ=MONTHLY",
    "quarterly": "FREQ=MONTHLY;INTERVAL=3",
    "yearly": "FREQ=YEARLY",
    "annually": "FREQ=YEARLY",
    "hourly": "FREQ=HOURLY",
}


@dataclass(frozen=True, slots=True)
class Repetition:
    rule: str
    rest: str


def read_repetition(text: str) -> Repetition | None:
    """The rule in the text, and the text with only the first date left of it."""
    for read in (_weekdays, _groups, _counted, _named):
        found = read(text)
        if found:
            return found
    return None


def _weekdays(text: str) -> Repetition | None:
    found = _DAYS.search(text)
    if found is None:
        return None
    names = re.findall(_DAY, found.group("days").lower())
    codes = ",".join(_CODES[day] for day in sorted({WEEKDAYS[name] for name in names}))
    every = ";INTERVAL=2" if found.group("other") else ""
    return Repetition(f"FREQ=WEEKLY{every};BYDAY={codes}", _put(text, found, f"on {names[0]}"))


def _groups(text: str) -> Repetition | None:
    found = _GROUPS.search(text)
    if found is None:
        return None
    word = found.group("group").lower().replace(" ", "")
    if word.startswith("we") and "end" in word:
        return Repetition("FREQ=WEEKLY;BYDAY=SA,SU", _put(text, found, "on saturday"))
    if word.startswith(("weekday", "work")):
        return Repetition("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", _put(text, found, ""))
    return Repetition("FREQ=DAILY", _put(text, found, f"in the {word.rstrip('s')}"))


def _counted(text: str) -> Repetition | None:
    found = _COUNTED.search(text)
    if found is None:
        return None
    said = (found.group("n") or "1").lower()
    count = int(said) if said.isdecimal() else _COUNTS[said]
    every = f";INTERVAL={count}" if count > 1 else ""
    before = re.sub(r"\b(?:of|in)\s*$", "", text[: found.start()])
    if found.group("unit").lower() == "month":  # "the first" of a month is a day
        before = _ORDINAL.sub(lambda day: f"the {_DAYS_OF_MONTH[day[1].lower()]}", before)
    rest = before + text[found.end() :]
    return Repetition(f"FREQ={_UNITS[found.group('unit').lower()]}{every}", rest)


def _named(text: str) -> Repetition | None:
    """ "daily" at the end repeats the task; "the daily report" is its name."""
    found = _WORDS.search(text)
    if found is None or re.match(r"\s+(?!at\b|on\b|by\b|in\b|starting\b|from\b)\w", text[found.end() :]):
        return None
    return Repetition(_NAMED[found.group("word").lower()], _put(text, found, ""))


def _put(text: str, found: re.Match, words: str) -> str:
    return f"{text[: found.start()]}{words}{text[found.end() :]}"
