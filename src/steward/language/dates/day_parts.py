"""Parts of a day: "in the morning", "at night", "early evening", "after lunch"."""

from steward.language.dates.clue import Clue, Part
from steward.language.dates.reader import Found, Reader, integer
from steward.language.dates.words import MORNING, NIGHT, PARTS

_PART_LEADS = (
    *("in the", "at the", "during the", "for the", "by the", "before the", "after the"),
    *("in", "at", "during", "by", "before", "after", "around", "for"),
)
_MEAL_LEADS = frozenset({"at", "by", "before", "after", "around"})


def part_clue(r: Reader, i: int) -> Found:
    """ "in the morning", "at night", "morning", "early evening"; alone it needs its preposition."""
    start = r.phrase(i, *_PART_LEADS) or r.phrase(i, "the", "-") or i
    prefixed = start > i and r.word(i) not in ("the", "-")
    start = r.skip(start, ("early", "late", "mid"))
    start = r.skip(start, ("-",)) if r.word(start - 1) == "mid" else start
    word = r.word(start)
    if word not in PARTS or word in ("tonight", "tonite", "2nite", "tonights", "aft"):
        return None
    if word in ("lunch", "breakfast", "dinner", "brunch") and r.word(i) not in _MEAL_LEADS:
        return None
    if word.endswith("s") and integer(r, start - 1):
        return None  # "3 nights" is a length
    first, last = PARTS[word]
    if r.word(i) == "after" and word in ("lunch", "lunchtime"):
        first, last = 13, 17
    if r.word(start - 1) == "late":
        first = (first + last) // 2
    return Clue(part=part_of(word, first, last), weak=None if prefixed else "part"), start + 1


def part_of(word: str, first: int, last: int) -> Part:
    return Part(first, last, "am" if word in MORNING else "night" if word in NIGHT else "pm")
