"""The tokens of one text as the grammar reads them, and numbers, which every rule needs.

A rule is a function `(reader, position) -> (meaning, next position) | None`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import lru_cache

from steward.language.dates.clue import Clue
from steward.language.dates.tokens import Token
from steward.language.dates.words import FEW, ONES, ORDINALS, TENS

Found = tuple[Clue, int] | None
Number = tuple[int, int] | None


@lru_cache(maxsize=512)
def _words(phrase: str) -> tuple[str, ...]:
    return tuple(phrase.split())


@dataclass(slots=True)
class Reader:
    """Tokens, the now they are read at, and the way into the whole grammar for rules that nest."""

    tokens: tuple[Token, ...]
    now: datetime
    future: bool
    nested: "Callable[[Reader, int], Found]"
    memory: dict[int, Found] = field(default_factory=dict[int, "Found"])
    pieces: dict[int, list[tuple[Clue, int]]] = field(default_factory=dict[int, "list[tuple[Clue, int]]"])
    depth: int = 0  # of dates within dates, where the reading stands now

    def word(self, i: int) -> str:
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def glued(self, i: int) -> bool:
        return 0 <= i < len(self.tokens) and self.tokens[i].glued

    def at_end(self, i: int) -> bool:
        return i >= len(self.tokens)

    def skip(self, i: int, words: Collection[str]) -> int:
        """Past at most one of the words."""
        return i + 1 if self.word(i) in words else i

    def skip_all(self, i: int, words: Collection[str]) -> int:
        while self.word(i) in words:
            i += 1
        return i

    def phrase(self, i: int, *options: str) -> int | None:
        """Past the first of the phrases that stands here (words apart by spaces)."""
        here = self.word(i)
        for option in options:
            first, *rest = _words(option)
            if here == first and all(self.word(i + k) == word for k, word in enumerate(rest, 1)):
                return i + 1 + len(rest)
        return None

    def digits(self, i: int, *, most: int = 4) -> int | None:
        """The value of a number token of at most so many digits."""
        token = self.tokens[i] if 0 <= i < len(self.tokens) else None
        return int(token.text) if token and token.is_number and len(token.text) <= most else None


def integer(r: Reader, i: int) -> Number:
    """A whole number in digits or words, up to 9999."""
    value = r.digits(i)
    if value is not None:
        return value, i + 1
    return spelled(r, i)


def spelled(r: Reader, i: int) -> Number:
    """A number in words: "seven", "twenty-three", "two hundred"."""
    word = r.word(i)
    if word in TENS:
        after = i + 2 if r.word(i + 1) == "-" else i + 1
        if 1 <= ONES.get(r.word(after), 0) <= 9:
            return TENS[word] + ONES[r.word(after)], after + 1
        return TENS[word], i + 1
    if word in ONES:
        if r.word(i + 1) == "hundred" and ONES[word]:
            return ONES[word] * 100, i + 2
        return ONES[word], i + 1
    return None


def ordinal(r: Reader, i: int) -> Number:
    """1st, 22nd, "first", "twenty-first"."""
    value = r.digits(i, most=3)
    if value is not None:
        if r.glued(i + 1) and r.word(i + 1) in ("st", "nd", "rd", "th"):
            return value, i + 2
        return None
    word = r.word(i)
    if word in ORDINALS:
        return ORDINALS[word], i + 1
    if word in TENS:
        after = i + 2 if r.word(i + 1) == "-" else i + 1
        if 1 <= ORDINALS.get(r.word(after), 0) <= 9:
            return TENS[word] + ORDINALS[r.word(after)], after + 1
    return None


def amount(r: Reader, i: int) -> tuple[Fraction, int] | None:
    """How many of a unit: "3", "a", "a couple of", "2.5", "1/2", "2 and a half", "half an"."""
    for rule in (_parts_of, _vague, _digits_amount):
        found = rule(r, i)
        if found:
            return found
    whole = spelled(r, i)
    if whole:
        return _and_half(r, Fraction(whole[0]), whole[1])
    if r.word(i) in ("a", "an"):
        return Fraction(1), i + 1
    return None


def _parts_of(r: Reader, i: int) -> tuple[Fraction, int] | None:
    """ "half an hour", "a quarter of an hour", "three-quarters of an hour", "half hour"."""
    start = r.skip(i, ("a",))
    count = 1
    if r.word(start) == "three" and r.word(r.skip(start + 1, ("-",))) in ("quarters", "quarter"):
        count, start = 3, r.skip(start + 1, ("-",))
    share = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4)}.get(r.word(start))
    if share is None:
        return None
    after = r.skip(start + 1, ("of",))
    if r.word(start) != "half" and r.word(after) not in ("a", "an"):
        return None
    return share * count, r.skip(r.skip(after, ("a", "an", "-")), ())


def _vague(r: Reader, i: int) -> tuple[Fraction, int] | None:
    start = r.skip(i, ("a", "the", "just"))
    if r.word(start) not in FEW:
        return None
    return Fraction(FEW[r.word(start)]), r.skip(r.skip(start + 1, ("more",)), ("of",))


def _digits_amount(r: Reader, i: int) -> tuple[Fraction, int] | None:
    value = r.digits(i, most=5)
    if value is None:
        return None
    below = r.digits(i + 2, most=3)
    if below is not None and r.glued(i + 1) and r.glued(i + 2):
        if r.word(i + 1) == "/" and below:
            return Fraction(value, below), i + 3
        if r.word(i + 1) == ".":
            return Fraction(f"{value}.{r.word(i + 2)}"), i + 3
    return _and_half(r, Fraction(value), i + 1)


def _and_half(r: Reader, value: Fraction, i: int) -> tuple[Fraction, int]:
    """ "2 and a half hours" and "2 and an half hours"."""
    end = r.phrase(i, "and a half", "and an half", "and half", "1 / 2")
    if end is not None:
        return value + Fraction(1, 2), end
    end = r.phrase(i, "and a quarter")
    return (value + Fraction(1, 4), end) if end is not None else (value, i)


def year_number(r: Reader, i: int, *, short: bool = False) -> Number:
    """A year of four digits or in words; with `short` also '15 and 15."""
    i = r.skip(i, ("'", "\u2019")) if short else i
    value = r.digits(i)
    if value is not None:
        size = len(r.word(i))
        if size == 4 and value >= 1000 and r.word(i + 1) != ":":
            return value, i + 1
        if short and size == 2:
            return full_year(value), i + 1
        return None
    return _spoken_year(r, i)


def full_year(value: int) -> int:
    """'74 is 1974 and '15 is 2015."""
    return value if value > 99 else value + (2000 if value < 70 else 1900)


def _spoken_year(r: Reader, i: int) -> Number:
    """ "two thousand eighteen", "twenty ten", "nineteen ninety"."""
    if r.word(i) == "two" and r.word(i + 1) == "thousand":
        rest = spelled(r, r.skip(i + 2, ("and",)))
        return (2000 + rest[0], rest[1]) if rest and rest[0] < 100 else (2000, i + 2)
    if r.word(i) in ("nineteen", "twenty", "eighteen"):
        century = {"nineteen": 1900, "twenty": 2000, "eighteen": 1800}[r.word(i)]
        rest = spelled(r, i + 1)
        if rest and 10 <= rest[0] < 100:
            return century + rest[0], rest[1]
    return None
