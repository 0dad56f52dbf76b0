"""Numbers as people write them: digits, words, thousands, percent, fractions.

Owns what number a piece of a request means. The unit behind it belongs to the slot, not to the number.
"""

import re
from dataclasses import dataclass

from steward.contract import linear_re

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
)  # fmt: skip
_WORDS: dict[str, float] = {
    **{word: float(at) for at, word in enumerate(_SMALL)},
    **{word: 10.0 * at for at, word in enumerate(_TENS, 2)},
    **{word: float(at) for at, word in enumerate(_ORDINALS, 1)},
}
_COUNTED = {
    "a": 1.0, "an": 1.0, "single": 1.0, "once": 1.0, "twice": 2.0, "couple": 2.0, "pair": 2.0, "both": 2.0,
    "dozen": 12.0, "half": 0.5, "quarter": 0.25, "no": 0.0,
}  # fmt: skip
_JOINING = {"and": 0.0, "of": 0.0, "the": 0.0}
_TIMES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9}
_DIGITS = re.compile(r"(?:(?<!\w)[-−])?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|(?:(?<!\w)[-−])?\.\d+")  # noqa: RUF001 - people type it
_AND_PART = linear_re.compile(r"\s{1,3}and\s{1,3}a\s{1,3}(?P<part>half|quarter)\b")
_FRACTION = re.compile(r"(\d{1,6})/(\d{1,6})")
_PIECE = re.compile(r"[a-z]+")
LONGEST_UNIT = 10  # characters behind a number in which its unit begins and ends
_PRICE = re.compile(r"\d{1,9},\d{2}")
_BEFORE_CHRIST = linear_re.compile(r"\s{0,2}(?:BCE?|B\.C\.)(?:\W|$)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Number:
    value: float
    percent: bool = False


def number_in(text: str, *, after: str = "") -> Number | None:
    """The number that `text` says; `after` is what follows it, where a factor or % may stand."""
    text = text.strip()
    fraction = _FRACTION.fullmatch(text)
    if fraction and float(fraction[2]):
        return Number(float(fraction[1]) / float(fraction[2]))
    found = _DIGITS.search(text)
    if found:
        return _by_digits(found, text, after)
    return _by_words(text, after)


def number_of(value: float, *, whole: bool) -> int | float | None:
    """None where a whole number is asked for and this is none."""
    if value == int(value):
        return int(value)
    return None if whole else value


def _by_digits(found: re.Match[str], text: str, after: str) -> Number | None:
    digits = found[0].replace("−", "-")  # noqa: RUF001 - the minus that word processors put
    if "," in digits:
        digits = _without_commas(digits)
    if len(digits) > 40:
        return None
    value = float(digits)
    tail = f"{text[found.end() :]}{after}"
    word = _PIECE.match(tail.lstrip().lower())
    if word and word[0] in _TIMES:
        value *= _TIMES[word[0]]
    elif word and word[0] in ("k", "bn", "mn") and not tail[:1].isspace():
        value *= _SHORT[word[0]]
    if _BEFORE_CHRIST.match(tail):
        value = -value
    part = _AND_PART.match(tail.lower())
    if part is not None:
        value += 0.5 if part["part"] == "half" else 0.25
    return Number(value, percent=_is_percent(tail))


def _without_commas(digits: str) -> str:
    """ "1,200" is twelve hundred, "49,90" as on a price tag, and "3,5,7" begins with three."""
    if _GROUPED.fullmatch(digits.lstrip("-")):
        return digits.replace(",", "")
    return digits.replace(",", ".") if _PRICE.fullmatch(digits.lstrip("-")) else digits.partition(",")[0]


def _by_words(text: str, after: str) -> Number | None:
    total = current = 0.0
    seen = False
    words = _PIECE.findall(text.lower())
    if any(word not in _WORDS and word not in _TIMES and word not in _COUNTED | _JOINING for word in words):
        words = [word for word in words if word not in _COUNTED]  # 'a table for two': only the two counts
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in ("a", "an") and (following in _TIMES or following in _COUNTED):
            continue  # "a half", "a dozen": the article counts nothing there
        if word in _TIMES:
            current = (current or 1.0) * _TIMES[word]
            if _TIMES[word] >= 1e3:
                total, current = total + current, 0.0
            seen = True
        elif word in _WORDS or word in _COUNTED:
            value = _WORDS.get(word, _COUNTED.get(word, 0.0))
            current = current * value if word == "dozen" and current else current + value
            seen = True
    return Number(total + current, percent=_is_percent(after)) if seen else None


def _is_percent(tail: str) -> bool:
    tail = tail.lstrip().lower()
    return tail.startswith(("%", "percent", "per cent"))
