"""A piece of the request as the value that a slot takes.

Owns types and formats: numbers for numbers, dates and times in the format that the schema or its
description asks for, choices by their own spelling. A piece that cannot be such a value gives None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from steward.language.numbers import number_in
from steward.language.slots import Kind, Slot, kind_of, plain

_EDGES = " \t\n\"'`“”\u2018\u2019.,;:?!"
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("`", "`"), ("«", "»"))
_DATE_FORMATS = (
    ("mm/dd/yyyy", "%m/%d/%Y"),
    ("dd/mm/yyyy", "%d/%m/%Y"),
    ("dd-mm-yyyy", "%d-%m-%Y"),
    ("mm-dd-yyyy", "%m-%d-%Y"),
    ("dd.mm.yyyy", "%d.%m.%Y"),
    ("yyyy/mm/dd", "%Y/%m/%d"),
    ("yyyymmdd", "%Y%m%d"),
)
_ISO = (
    "yyyy-mm-dd", "%y-%m-%d", "iso 8601", "iso8601", "iso date", "iso format", "iso-8601",
    "rfc 3339", "rfc3339",
)  # fmt: skip
_SWITCHES = {"true": True, "false": False, "yes": True, "no": False}
_CLOCKS = ("hh:mm", "24-hour", "24 hour", "%h:%m")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date that stands in a request, and whether a time of day was said with it."""

    start: int
    end: int
    at: datetime
    timed: bool
    dated: bool = True  # False where only a time of day was said


@dataclass(frozen=True, slots=True)
class Said:
    """A request and what code can tell of it without a tool: its dates."""

    text: str
    moments: tuple[Moment, ...] = ()


def value_of(slot: Slot, said: Said, start: int, end: int) -> Any:
    """What the characters from `start` to `end` say for this slot; None where they cannot."""
    return _typed(slot.kind, slot.schema, said, start, end)


def item_of(slot: Slot, said: Said, start: int, end: int) -> Any:
    """The same for one member of a list."""
    return _typed(slot.item or Kind.TEXT, plain(slot.schema.get("items")), said, start, end)


def _typed(kind: Kind, schema: Mapping[str, Any], said: Said, start: int, end: int) -> Any:
    if kind in (Kind.INTEGER, Kind.NUMBER):
        return _number(kind, schema, said.text, start, end)
    if kind is Kind.CHOICE:
        words = said.text[start:end].strip(_EDGES).lower()
        return next((each for each in schema.get("enum", ()) if str(each).lower() == words), None)
    if kind is Kind.BOOLEAN:
        return _SWITCHES.get(said.text[start:end].strip().lower())
    if kind is Kind.OBJECT:
        return None
    return _dated(schema, said, start, end) or _text(said.text, start, end)


def _number(kind: Kind, schema: Mapping[str, Any], text: str, start: int, end: int) -> int | float | None:
    start, end = _whole_number(text, start, end)
    if text[max(0, start - 1) : start] == "^" or text[max(0, start - 2) : start] == "**":
        return None  # an exponent inside a formula
    found = number_in(text[start:end], after=text[end : end + 14])
    if found is None:
        return None
    value = found.value
    about = str(schema.get("description") or "").lower()
    fraction = "decimal" in about or "fraction" in about or "between 0 and 1" in about or "0 to 1" in about
    if found.percent and kind is Kind.NUMBER and (fraction or not ("percent" in about or "%" in about)):
        value = round(value / 100, 10)
    if kind is Kind.INTEGER:
        return int(value) if value == int(value) else None
    return int(value) if value == int(value) and abs(value) < 1e15 and "." not in text[start:end] else value


def _whole_number(text: str, start: int, end: int) -> tuple[int, int]:
    """A span that cuts a number in two takes in the rest of it."""
    if text[start : start + 1].isdigit():
        while start > 0 and (
            text[start - 1].isdigit() or (text[start - 1] in ".," and text[start - 2 : start - 1].isdigit())
        ):
            start -= 1
        if start > 0 and text[start - 1] in "-−" and (start < 2 or not text[start - 2].isalnum()):  # noqa: RUF001
            start -= 1
    if text[end - 1 : end].isdigit():
        while end < len(text) and (
            text[end].isdigit() or (text[end] in ".," and text[end + 1 : end + 2].isdigit())
        ):
            end += 1
    return start, end


def _dated(schema: Mapping[str, Any], said: Said, start: int, end: int) -> str | None:
    """A date or a time in the format that is asked for; None where no format is, or no date stands there."""
    wanted = wanted_format(schema)
    if wanted is None:
        return None
    inside = [each for each in said.moments if each.start < end and each.end > start]
    if not inside:
        return None
    moment = inside[0]
    timed = next((each for each in inside if each.timed), None)
    if wanted == "time":
        return None if timed is None else timed.at.strftime("%H:%M")
    if wanted == "date-time":
        both = moment.at if timed is None else moment.at.replace(hour=timed.at.hour, minute=timed.at.minute)
        return both.replace(microsecond=0).isoformat()
    return moment.at.strftime(wanted) if moment.dated else None


def wanted_format(schema: Mapping[str, Any]) -> str | None:
    """`time`, `date-time` or a pattern of strftime, as the schema or its description says."""
    stated = str(schema.get("format") or "").lower()
    if stated in ("date", "date-time", "time"):
        return "%Y-%m-%d" if stated == "date" else stated
    about = str(schema.get("description") or "").lower()
    for words, pattern in _DATE_FORMATS:
        if words in about:
            return pattern
    clock = any(words in about for words in _CLOCKS)
    if any(words in about for words in _ISO):
        timed = clock or "thh" in about or "datetime" in about or "date-time" in about or "timestamp" in about
        return "date-time" if timed or "date and time" in about else "%Y-%m-%d"
    return "time" if clock else None


def _text(text: str, start: int, end: int) -> str | None:
    quoted = _quoted(text, start, end)
    if quoted is not None:
        return quoted
    words = text[start:end].strip(_EDGES)
    if words.count("(") != words.count(")"):
        words = words.strip("()")
    return words or None


def _quoted(text: str, start: int, end: int) -> str | None:
    """All that stands between the quotes around a piece: a quote says where a value begins and ends."""
    for opening, closing in _QUOTES:
        left = text.rfind(opening, 0, start + 1)
        right = text.find(closing, max(end - 1, left + 1))
        if left < 0 or right < 0 or left == right:
            continue
        inner = text[left + 1 : right]
        if opening in inner or closing in inner or right - left > max(90, 0.7 * len(text)):
            continue
        if opening == "'" and not _marks_quote(text, left, right):
            continue
        return inner.strip() or None
    return None


def _marks_quote(text: str, left: int, right: int) -> bool:
    """An apostrophe stands inside a word; a quotation mark does not."""
    before = text[left - 1 : left]
    after = text[right + 1 : right + 2]
    return not before.isalnum() and not after.isalnum()


def item_kind(slot: Slot) -> Kind:
    return slot.item or kind_of(plain(slot.schema.get("items")))
