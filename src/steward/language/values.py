"""A piece of the request as the value that a slot takes.

Owns types and formats: numbers for numbers, dates and times in the format that the schema or its
description asks for, choices by their own spelling. A piece that cannot be such a value gives None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from steward.contract import linear_re as re
from steward.language.codes import code_of
from steward.language.formats import in_format, length_in, season_of, wanted_format
from steward.language.forms.patterns import written_as
from steward.language.forms.pieces import whole_piece
from steward.language.forms.quotes import quote_around
from steward.language.forms.units import reckoned, unit_of_slot
from steward.language.lengths import length_at, unit_of_time
from steward.language.numbers import LONGEST_UNIT, number_in, number_of
from steward.language.slots import Slot, SlotKind, kind_of, plain, words_of

_EDGES = " \t\n\"'`“”\u2018\u2019.,;:?!"
_DOTS = re.compile(r"(?:^|[\s\"'`(])(\.{1,2}/?)$")
_RUN = re.compile(r"(?P<much>\d{1,4}(?:\.\d{1,3})?)\s?k\b", re.IGNORECASE)
_ONE = re.compile(r"(an?|half an?)\s", re.IGNORECASE)
_ONES = {"a": 1, "an": 1, "half a": 0.5, "half an": 0.5}
_LEADING_NUMBER = re.compile(r"-?\d[\d,]{0,20}(?:\.\d{1,15})?")
_LAST_NUMBER = re.compile(r"\s\d+(?=[.!?\s]*$)")  # "it fails on safari 18": a text goes on to its end
TOLD = 4  # words from which a piece tells something
LONGEST_NAME = 6  # words; what is longer is told, not named
_NAMING = frozenset({"name", "title", "id", "key"})
# What they hold are people's own sentences.
_PROSE = frozenset(
    {"message", "description", "text", "content", "note", "comment", "body", "query", "prompt", "summary"}
)
_ARTICLES = frozenset({"the", "my", "our", "this", "that", "a", "an"})
_DAY_PARTS = ("date", "%Y", "%y", "%m", "%d")
_SWITCHES = {"true": True, "false": False, "yes": True, "no": False}


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
    if slot.kind in (SlotKind.INTEGER, SlotKind.NUMBER):
        measured = _measured(slot, said.text, start, end)
        if measured is not None:
            return number_of(measured, whole=slot.kind is SlotKind.INTEGER)
        run = _RUN.match(said.text, start) if _in_kilometres(slot) else None
        if run is not None:  # "5k" is no 5,000 of them
            return number_of(float(run["much"]), whole=slot.kind is SlotKind.INTEGER)
    value = _typed(slot.kind, slot.schema, said, start, end)
    if slot.kind is SlotKind.TEXT and isinstance(value, str) and value in said.text:
        coded = code_of(words_of(slot.name), slot.described, value)
        value = coded or _without_article(_without_kind(value, slot), slot, said.text)
        return written_as(slot.schema, value)
    return value


def _measured(slot: Slot, text: str, start: int, end: int) -> float | None:
    """A number with its unit, in the unit that the slot takes; None where none has to be reckoned."""
    name = words_of(slot.name)
    unit = unit_of_slot(name, slot.described)
    seconds = unit_of_time(name) or unit_of_time(slot.described)
    if seconds is None and unit is not None and unit.measures == "time":
        seconds = unit.size
    length = None if seconds is None else length_at(text, start, end)
    if length is not None and seconds is not None:
        return length.seconds / seconds
    if unit is None:
        return None
    first, last = _whole_number(text, start, end)
    one = _ONE.match(text[first:last])
    found = number_in(text[first:last])
    value = float(_ONES[one[1].lower()]) if one else found.value if found else None
    if value is None:
        return None
    digits = one or _LEADING_NUMBER.match(text[first : last + LONGEST_UNIT].lstrip())
    behind = text[first + digits.end() :] if digits else text[last:]
    sign = text[first - 1 : first]
    value = reckoned(value, sign if sign and sign in "$€£" else behind[:40], unit)
    if value is None:
        return None
    return (
        round(value) if slot.kind is SlotKind.INTEGER and unit.measures not in ("time", "months") else value
    )


def item_of(slot: Slot, said: Said, start: int, end: int) -> Any:
    """The same for one member of a list."""
    value = _typed(slot.item or SlotKind.TEXT, plain(slot.schema.get("items")), said, start, end)
    if not isinstance(value, str) or value not in said.text:
        return value
    coded = code_of(words_of(slot.name), slot.described, value)
    return written_as(plain(slot.schema.get("items")), coded or _without_article(value, slot, said.text))


def _typed(kind: SlotKind, schema: Mapping[str, Any], said: Said, start: int, end: int) -> Any:
    if kind in (SlotKind.INTEGER, SlotKind.NUMBER):
        return _number(kind, schema, said.text, start, end)
    if kind is SlotKind.CHOICE:
        words = said.text[start:end].strip(_EDGES).lower()
        return next((each for each in schema.get("enum", ()) if str(each).lower() == words), None)
    if kind is SlotKind.BOOLEAN:
        return _SWITCHES.get(said.text[start:end].strip().lower())
    if kind is SlotKind.OBJECT:
        return None
    return _dated(schema, said, start, end) or _text(said.text, start, end)


def _number(kind: SlotKind, schema: Mapping[str, Any], text: str, start: int, end: int) -> int | float | None:
    start, end = _whole_number(text, start, end)
    if text[max(0, start - 1) : start] == "^" or text[max(0, start - 2) : start] == "**":
        return None  # an exponent inside a formula
    found = number_in(text[start:end], after=text[end : end + 14])
    if found is None:
        return None
    value = found.value
    about = str(schema.get("description") or "").lower()
    fraction = "decimal" in about or "fraction" in about or "between 0 and 1" in about or "0 to 1" in about
    if found.percent and kind is SlotKind.NUMBER and (fraction or not ("percent" in about or "%" in about)):
        value = round(value / 100, 10)
    if kind is SlotKind.INTEGER:
        return number_of(value, whole=True)
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
    words = said.text[start:end]
    length = length_at(said.text, start, end)
    other = season_of(schema, words) or length_in(
        schema, words if length is None else said.text[length.start : length.end]
    )
    wanted = wanted_format(schema)
    if other is not None or wanted is None:
        return other
    inside = [each for each in said.moments if each.start < end and each.end > start]
    if not inside:
        return None
    moment = inside[0]
    timed = next((each for each in inside if each.timed), None)
    if wanted == "time" or not any(part in wanted for part in _DAY_PARTS):
        return None if timed is None else in_format(wanted, timed.at)
    if wanted == "date-time" or "%H" in wanted or "%I" in wanted:
        both = moment.at if timed is None else moment.at.replace(hour=timed.at.hour, minute=timed.at.minute)
        return in_format(wanted, both)
    return in_format(wanted, moment.at) if moment.dated else None


def _text(text: str, start: int, end: int) -> str | None:
    quoted = _quoted(text, start, end)
    if quoted is not None:
        return quoted
    start, end = whole_piece(text, start, end)
    last = _LAST_NUMBER.match(text[end:]) if len(text[start:end].split()) >= TOLD else None
    end += last.end() if last is not None else 0
    words = text[start:end].strip(_EDGES)
    dots = _DOTS.search(text[: start + len(text[start:end]) - len(text[start:end].lstrip(_EDGES))])
    if words and dots is not None:
        words = dots[1] + words  # ".env", "../notes": no end of a sentence stands before a word
    return _balanced(words, text[:start], text[end:]) or None


def _balanced(words: str, before: str, after: str) -> str:
    """A bracket inside takes in its partner right beside the piece; one at the edge alone goes."""
    bare = words.strip("()") if words.count("(") != words.count(")") else words
    if bare.count("(") > bare.count(")") and (after.startswith(")") or words.endswith(")")):
        return f"{bare})"
    if bare.count(")") > bare.count("(") and (before.endswith("(") or words.startswith("(")):
        return f"({bare}"
    return bare


def _in_kilometres(slot: Slot) -> bool:
    return "km" in words_of(slot.name).lower().split() or "kilomet" in slot.described.lower()


def _without_kind(value: str, slot: Slot) -> str:
    """ "the Budget spreadsheet" is "Budget" where a spreadsheet is wanted: the slot says what kind it is.
    A name keeps its own capital letter: "New York City" is a city."""
    kinds = [word for word in words_of(slot.name).lower().split() if word not in _NAMING]
    words = value.split()
    if not kinds or kinds[-1] in _PROSE or len(words) < 2:
        return value
    if words[-1] == kinds[-1]:
        kept = words[:-1]
    elif (
        words[0].lower() == kinds[-1] and len(words) == 2 and not (words[1].islower() and words[1].isalpha())
    ):
        kept = words[1:]
    else:
        return value
    kept = kept[1:] if kept[0].lower() in _ARTICLES else kept
    return " ".join(kept) or value


def _without_article(value: str, slot: Slot, text: str) -> str:
    """ "the Rijksmuseum" is called "Rijksmuseum". What was quoted or is told in sentences stays whole."""
    first, _, rest = value.partition(" ")
    names = words_of(slot.name).lower().split()
    short = 0 < len(rest.split()) < LONGEST_NAME
    quoted = text[max(0, text.find(value) - 1)] in "\"'`“\u2018«"
    return rest if first in ("the", "a", "an") and short and not quoted and not _PROSE & set(names) else value


def _quoted(text: str, start: int, end: int) -> str | None:
    """All that stands between the quotes around a piece: a quote says where a value begins and ends."""
    found = quote_around(text, start, end)
    if found is None:
        return None
    if found.end - found.start - 1 <= max(90, 0.7 * len(text)):
        return found.inner
    first = found.start + 1  # all of it is quoted: perhaps a piece of it is again
    return _quoted(text[first : found.end - 1], start - first, end - first)


def item_kind(slot: Slot) -> SlotKind:
    return slot.item or kind_of(plain(slot.schema.get("items")))
