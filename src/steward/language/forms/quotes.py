"""What stands in quotation marks: from a mark before a word to the first one of its kind behind a word.

An apostrophe within a word ("Ana's", "you're") is none, and the shortest quote counts. Pure text.
"""

from dataclasses import dataclass
from functools import lru_cache

CLOSINGS = {
    '"': '"', "\u201c": "\u201d", "\u201e": "\u201c\u201d", "'": "'", "\u2018": "\u2019", "`": "`",
    "\u00ab": "\u00bb",
}  # fmt: skip
LONGEST = 4_000  # characters of a text in which quotes are looked for


@dataclass(frozen=True, slots=True)
class QuotedText:
    """`start` and `end` take in both marks."""

    start: int
    end: int
    inner: str


@lru_cache(maxsize=64)
def quotes_in(text: str) -> tuple[QuotedText, ...]:
    """In order, none within another."""
    found: list[QuotedText] = []
    at = 0
    closed: dict[str, int] = {}  # how far a mark was looked for in vain
    while at < min(len(text), LONGEST):
        ends = CLOSINGS.get(text[at])
        end = _closing(text, at, ends) if ends and at >= closed.get(ends, 0) and _opens(text, at) else None
        if end is not None:
            found.append(QuotedText(at, end + 1, text[at + 1 : end].strip().rstrip(",")))
            at = end
        elif ends and _opens(text, at):
            closed[ends] = len(text)
        at += 1
    return tuple(each for each in found if each.inner)


def quote_around(text: str, start: int, end: int) -> QuotedText | None:
    """The quote that a piece of the text stands in."""
    return next((each for each in quotes_in(text) if each.start <= start and end <= each.end), None)


def outside_quotes(text: str) -> bytearray:
    """For each character, whether it stands in no quote."""
    marks = bytearray(b"\1" * (len(text) + 1))
    for each in quotes_in(text):
        marks[each.start : each.end] = bytes(each.end - each.start)
    return marks


def _opens(text: str, at: int) -> bool:
    before, behind = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    return not before.isalnum() and bool(behind) and not behind.isspace()


def _closing(text: str, start: int, marks: str) -> int | None:
    """The first mark behind a word, before a blank, punctuation or the end."""
    for at in range(start + 2, len(text)):
        if text[at] in marks and not text[at + 1 : at + 2].isalnum() and not text[at - 1].isspace():
            return at
    return None
