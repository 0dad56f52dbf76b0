"""Sums that are told in words: so many of a thing at so much each.

Owns when somebody asks what such things cost, and the sum. Where a number is left that belongs to no pair of
a count and a price, nothing is summed up.
"""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.contract.stems import english_stem
from steward.language.numbers import number_in
from steward.language.wishes import DOING

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_SPELLED = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a dozen|a hundred"
)
_MONEY = r"(?:pounds?|quid|euros?|dollars?|bucks?|pence|p|cents?|gbp|eur|usd)"
_PAIR = re.compile(
    rf"\b(?P<count>{_NUMBER}|{_SPELLED})\s+(?P<thing>(?:[a-z'\u2019-]+\s+){{1,6}}?)"
    rf"(?:(?:that|which)\s+)?(?:at|for|@|cost(?:s|ing)?)\s*"
    rf"(?P<sign>[£$€])?\s?(?P<price>{_NUMBER})\s?(?P<unit>{_MONEY}\b)?,?\s*"
    r"(?P<each>each|apiece|a\s+(?:piece|pop|go)|(?:an?|per|the)\s+[a-z-]+|/\s?[a-z-]+)(?=\W|$)",
    re.IGNORECASE,
)
_EACH = re.compile(r"each|apiece|a\s+(?:piece|pop|go)", re.IGNORECASE)
_ASKS = re.compile(
    r"\bhow much\b|\bwhat(?:'s|s|\u2019s)?\b|\b(?:total|altogether|work out|calculate|sum)\b|\?\W*$",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class PricedSum:
    """In the form that the calculator takes, and the sign of the money, where one was said."""

    expression: str
    sign: str = ""


def priced_sum(said: str) -> PricedSum | None:
    """What several things cost together; None where nobody asks, or not all of it can be told apart."""
    first = said.lower().split(maxsplit=1)
    if not first or first[0].strip(",:") in DOING or not _ASKS.search(said):
        return None
    pairs = list(_PAIR.finditer(said))
    signs = {(each["sign"] or each["unit"] or "").lower() for each in pairs}
    left = _PAIR.sub(" ", said)
    if not pairs or len(signs) > 1 or _DIGIT.search(left) or not all(map(_is_of_one, pairs)):
        return None
    terms = [_term(each) for each in pairs]
    if any(each is None for each in terms):
        return None
    sign = signs.pop()
    return PricedSum(" + ".join(each for each in terms if each), sign if sign in "£$€" else "")


def _is_of_one(pair: re.Match) -> bool:
    """ "23.99 a roll" is the price of one of the "7 rolls"; "20 a month" is none."""
    if _EACH.fullmatch(pair["each"]):
        return True
    noun = pair["each"].lower().split()[-1].lstrip("/ ")
    return english_stem(noun) in {english_stem(word) for word in pair["thing"].lower().split()}


def _term(pair: re.Match) -> str | None:
    count = number_in(pair["count"])
    return None if count is None else f"{count.value:.12g} * {pair['price'].replace(',', '')}"
