"""Dates in running text: `find_dates` for every one, `parse_due` for a text that must be one.

The grammar reads; this module decides what counts as a date in its context, so that numbers, months that are
verbs and counts of things are left alone.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from steward.contract.errors import InputError
from steward.language.dates.calendar import Grain, OutOfCalendarError, floor, shift
from steward.language.dates.clue import Clue, Resolved, resolve
from steward.language.dates.grammar import expression
from steward.language.dates.mention import DateMention
from steward.language.dates.reader import Reader
from steward.language.dates.tokens import Token, tokenize
from steward.language.dates.words import FOLLOWERS, PREPOSITIONS

_RANGE = frozenset({"-", "\u2013", "\u2014", "to", "until", "till", "through", "thru"})
_LONGEST = 4_000  # characters read; a task's words are far fewer, a pasted book is not a date
_MOST_TOKENS = 1_000
_NAME_LEADS = PREPOSITIONS - {"to", "is", "was", "no", "of", "for", "about", "from"}
_YEAR_LEADS = frozenset(
    "in since until till by during before after of year from for through around about circa".split()  # noqa: SIM905 one line reads well
)
_MONEY = frozenset("$€£#¥&*=")
_ENDS = frozenset(".!?;")

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
    until: "_Hit | None" = None


def find_dates(text: str, now: datetime, *, prefer_future: bool = True) -> tuple[DateMention, ...]:
    """Every date in the text, in order, resolved against now; none overlaps another."""
    return _found(text[:_LONGEST], now, prefer_future=prefer_future, zone=f"{now.tzinfo}{now.utcoffset()}")


@lru_cache(64)
def _found(text: str, now: datetime, *, prefer_future: bool, zone: str) -> tuple[DateMention, ...]:
    """Kept, because several of those who read a request look for its dates.

    `zone`: the same moment is another day elsewhere, and equal all the same.
    """
    del zone
    tokens = tokenize(text, most=_MOST_TOKENS)
    reader = Reader(tokens, now, prefer_future, expression)
    mentions: list[DateMention] = []
    said = _with_years(tokens, _clues(reader))
    anchor: _Hit | None = None
    after_last = 0
    for clue, first, after in said:
        if first < after_last:
            continue
        base = now if anchor is None or not _leans(tokens, clue, first, anchor) else anchor.seen.value
        seen = resolve(clue, base, future=prefer_future or base is not now)
        after_last = after
        # An impossible date is none, and neither are its pieces; nor is a stretch of no time ("last 0 days").
        if seen is not None and (seen.end is None or seen.end > seen.value):
            hit = _to(reader, _Hit(clue, seen, first, after))
            mentions.append(_mention(tokens, hit))
            after_last = hit.after
            anchor = hit
    return tuple(mentions)


def _clues(reader: Reader) -> list[tuple[Clue, int, int]]:
    """What may be a date, in order, with the tokens that it takes."""
    found: list[tuple[Clue, int, int]] = []
    i = 0
    while i < len(reader.tokens):
        here = expression(reader, i)
        if here is None or not _stands(reader, here[0], first=i, after=here[1]):
            i += 1
            continue
        found.append((here[0], i, here[1]))
        i = here[1]
    return found


def _with_years(tokens: tuple[Token, ...], said: list[tuple[Clue, int, int]]) -> list[tuple[Clue, int, int]]:
    """ "From January 1st to March 3rd, 2023": the year that is said once holds for both."""
    for at in range(len(said) - 2, -1, -1):
        clue, first, after = said[at]
        behind, start, _ = said[at + 1]
        joined = start - after == 1 and tokens[after].text in _RANGE | {"and", "or", ","}
        if joined and _lacks_year(clue) and behind.year is not None and behind.month is not None:
            assert clue.month is not None
            later = (clue.month, clue.day or 0) > (behind.month, behind.day or 31)
            said[at] = replace(clue, year=behind.year - later), first, after
    return said


def _lacks_year(clue: Clue) -> bool:
    return clue.month is not None and _is_plain(clue) and clue.year is None


def _is_plain(clue: Clue) -> bool:
    """Whether it is a day or a month of the calendar, and nothing that is seen from now."""
    return clue.within is None and clue.holiday is None and clue.weekday is None


def _leans(tokens: tuple[Token, ...], clue: Clue, first: int, anchor: _Hit) -> bool:
    """Whether a date is seen from the one before it in the sentence: "june 6 2025, back on the 15th"."""
    between = {token.text for token in tokens[anchor.after : first]}
    if not _is_plain(anchor.clue) or anchor.clue.month is None or not _is_plain(clue) or between & _ENDS:
        return False
    only_day = clue.day is not None and clue.month is None and clue.year is None
    return (_lacks_year(clue) and anchor.clue.year is not None) or (only_day and anchor.clue.day is not None)


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
    until = _Hit(other[0], end, hit.after + 1, other[1])
    return _Hit(hit.clue, replace(hit.seen, end=limit), hit.first, other[1], until)


def _mention(tokens: tuple[Token, ...], hit: _Hit) -> DateMention:
    span = tokens[hit.first].start, tokens[hit.after - 1].end
    seen = hit.seen
    until = _within(tokens, hit) if hit.until is None else _mention(tokens, hit.until)
    return DateMention(seen.value, seen.grain, span, seen.end, seen.holiday, not hit.clue.has_date, until)


def _within(tokens: tuple[Token, ...], hit: _Hit) -> DateMention | None:
    """The second date where one clue names both: "Dec 5-9", "from 2 to 4pm"."""
    end, grain = hit.seen.end, hit.seen.grain
    joints = [at for at in range(hit.first + 1, hit.after - 1) if tokens[at].text in _RANGE | {"and"}]
    if end is None or len(joints) != 1:
        return None
    value = end if grain.rank < Grain.DAY.rank else shift(end, grain, -1)
    if grain is Grain.HOUR and end.minute:
        grain = Grain.MINUTE  # "2-3.30pm" begins on the hour only
    span = tokens[joints[0] + 1].start, tokens[hit.after - 1].end
    return DateMention(value, grain, span, time_only=not hit.clue.has_date)
