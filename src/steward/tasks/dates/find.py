"""Dates in running text: `find_dates` for every one, `parse_due` for a text that must be one.

The grammar reads; this module decides what counts as a date in its context, so that numbers, months that are
verbs and counts of things are left alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from steward.contract.errors import InputError
from steward.tasks.dates.calendar import OutOfCalendarError, floor, shift
from steward.tasks.dates.clue import Clue, Resolved, resolve
from steward.tasks.dates.grammar import expression
from steward.tasks.dates.mention import DateMention
from steward.tasks.dates.reader import Reader
from steward.tasks.dates.tokens import Token, tokenize
from steward.tasks.dates.words import FOLLOWERS, PREPOSITIONS

_RANGE = frozenset({"-", "\u2013", "\u2014", "to", "until", "till", "through", "thru"})
_LONGEST = 4_000  # characters read; a task's words are far fewer, a pasted book is not a date
_MOST_TOKENS = 1_000
_NAME_LEADS = PREPOSITIONS - {"to", "is", "was", "no", "of", "for", "about", "from"}
_YEAR_LEADS = frozenset(
    "in since until till by during before after of year from for through around about circa".split()  # noqa: SIM905 one line reads well
)
_MONEY = frozenset("$€£#¥&*=")


_FIX = "Write it like 2027-03-01, tomorrow, next friday at 5pm or in 3 days."


class DateNotUnderstoodError(InputError):
    """The text is not a date."""

    default_code = "INVALID_DATE"


@dataclass(frozen=True, slots=True)
class _Hit:
    clue: Clue
    seen: Resolved
    first: int
    after: int


def find_dates(text: str, now: datetime, *, prefer_future: bool = True) -> tuple[DateMention, ...]:
    """Every date in the text, in order, resolved against now; none overlaps another."""
    tokens = tokenize(text[:_LONGEST], most=_MOST_TOKENS)
    reader = Reader(tokens, now, prefer_future, expression)
    mentions: list[DateMention] = []
    i = 0
    while i < len(tokens):
        found = expression(reader, i)
        if found is None or not _stands(reader, found[0], first=i, after=found[1]):
            i += 1
            continue
        clue, i_after = found
        seen = resolve(clue, now, future=prefer_future)
        # An impossible date is none, and neither are its pieces; nor is a stretch of no time ("last 0 days").
        if seen is not None and (seen.end is None or seen.end > seen.value):
            hit = _to(reader, _Hit(clue, seen, i, i_after))
            mentions.append(_mention(tokens, hit))
            i_after = hit.after
        i = i_after
    return tuple(mentions)


def parse_due(text: str, now: datetime, *, prefer_future: bool = True) -> DateMention:
    """The one date that the text is. Words around it are not understood, so they are refused."""
    found = find_dates(text, now, prefer_future=prefer_future)
    if len(found) != 1:
        raise DateNotUnderstoodError("Could not parse date", fix=_FIX)
    start, end = found[0].span
    outside = [t.text for t in tokenize(text[:start] + " " + text[end:])]
    if any(word not in PREPOSITIONS | {"the", ",", ".", "!", "please", "date"} for word in outside):
        raise DateNotUnderstoodError("Could not parse date", fix=_FIX)
    return found[0]


def _stands(r: Reader, clue: Clue, *, first: int, after: int) -> bool:
    return _bounded(r.tokens, first, after) and _likely(r, clue, first, after)


def _bounded(tokens: tuple[Token, ...], first: int, after: int) -> bool:
    """The phrase is not a piece of a word, a price, a version or a telephone number."""
    if tokens[first].glued:
        before = tokens[first - 1].text
        if before[0].isalnum() or before in _MONEY or (before in ".-/:" and tokens[first].is_number):
            return False
    elif first and tokens[first - 1].text in _MONEY and tokens[first].is_number:
        return False
    if after >= len(tokens) or not tokens[after].glued:
        return True
    word = tokens[after].text
    if word[0].isalnum() or word in ("%", "$", "€", "£", "°", "_", "@"):
        return False
    following = tokens[after + 1] if after + 1 < len(tokens) else None
    return not (word in "-./:" and following is not None and following.glued and following.text[0].isalnum())


def _likely(r: Reader, clue: Clue, first: int, after: int) -> bool:
    """Whether a weak clue stands where a date is expected."""
    ends = r.at_end(r.skip(after, (".", "!", "?")))
    whole = first == 0 and ends
    match clue.weak:
        case None:
            return True
        case "name":
            return whole or _named_date(r.word(first - 1), r.word(after))
        case "year":
            return r.word(first - 1) in _YEAR_LEADS
        case "ordinal":
            shown = r.word(first + 1) if r.word(first) == "the" else r.word(first)
            return whole and shown.isdecimal()
        case "now" | "at":
            return ends
        case _:
            return False


def _named_date(before: str, behind: str) -> bool:
    """ "in May" and "on Sat" are dates; "for May to decide" and "at a March in town" are not."""
    if before in _NAME_LEADS:
        return not (before in ("in", "at") and behind in ("a", "the"))
    return before in ("of", "for", "from", "to") and (not behind or behind in FOLLOWERS)


def _to(r: Reader, hit: _Hit) -> _Hit:
    """The second date of "from X to Y" as the end of the first."""
    sign = r.word(hit.after)
    opened = r.word(hit.first - 1) in ("from", "between")
    if not (sign in _RANGE or (sign == "and" and opened)) or hit.clue.until or hit.seen.end:
        return hit
    other = expression(r, hit.after + 1)
    if other is None or other[0].weak not in (None, "name", "ordinal"):
        return hit
    end = resolve(other[0], hit.seen.value, future=True)
    if end is None or end.value <= hit.seen.value or other[0].has_time != hit.clue.has_time:
        return hit
    try:
        limit = end.value if other[0].has_time else shift(floor(end.value, end.grain), end.grain, 1)
    except OutOfCalendarError:
        return hit
    return _Hit(hit.clue, replace(hit.seen, end=limit), hit.first, other[1])


def _mention(tokens: tuple[Token, ...], hit: _Hit) -> DateMention:
    span = tokens[hit.first].start, tokens[hit.after - 1].end
    seen = hit.seen
    return DateMention(seen.value, seen.grain, span, seen.end, seen.holiday, not hit.clue.has_date)
