"""Which tasks a person asks to see: due when, how important, done or open, about what."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from steward.contract import linear_re as re
from steward.language.asking import asks_for_first
from steward.language.dates.calendar import Grain, floor, shift
from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.language.politeness import bare
from steward.language.references import FROM_LIST
from steward.tasks.model import Priority
from steward.tasks.priority import find_priority


@dataclass(frozen=True, slots=True)
class Filters:
    """`..._after` is inclusive, `..._before` exclusive; None means that nothing was said.

    "What did I finish today?" speaks of when tasks were done (`done_...`), not of when they were due.
    """

    due_after: datetime | None = None
    due_before: datetime | None = None
    done_after: datetime | None = None
    done_before: datetime | None = None
    overdue: bool = False
    priority: Priority | None = None
    completed: bool | None = None
    search: str | None = None
    undated: bool = False  # only those without a date
    nearest: bool = False  # only the one that is due first


_UNDATED = re.compile(
    r"\b(?:no|without(?:\s+an?y?)?|(?:has|have)n't\s+(?:got\s+)?an?y?|missing\s+an?)\s+(?:due\s+)?(?:dates?|deadlines?)\b|\bundated\b",
    re.IGNORECASE,
)
_EITHER = re.compile(r"^\W*(?:or|and|,|&)\W*(?:(?:is|are|due|on|by|for|maybe|also)\W+)*$", re.IGNORECASE)
_OVERDUE = re.compile(r"\b(?:overdue|over\s+due|past\s+due|late\s+on|behind\s+on|missed)\b", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?:completed|finished|done|checked\s+off|accomplished|closed|crossed\s+off)\b(?!\s+(?:today"
    r"|by)\s*\?*$)|\b(?:have|did)\s+i\s+(?:already\s+)?(?:done|do|complete|finish|get\s+done|accomplish)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:left|remaining|pending|outstanding|open|unfinished|incomplete|uncompleted|still|yet\s+to"
    r"|not\s+(?:done|finished|completed)|haven'?t|to\s+be\s+done|need\s+to\s+(?:do|get\s+done|be))\b",
    re.IGNORECASE,
)
_LIST = r"(?:my|the|our|this|that)\s+(?:[\w-]+\s+){0,3}?(?:list|tasks|to[\s-]?dos?|agenda|reminders|chores)"
_SEARCHES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:is|are|was|were)\s+(?:there\s+)?(?P<s>.+?)\s+(?:already\s+|currently\s+|also\s+"
            rf"|still\s+)*(?:on|in|added\s+to|listed\s+(?:on|in)|one\s+of|an\s+item\s+on|part\s+of)\s+{_LIST}"
        ),
        (
            rf"\b(?:do|did|have|has|does)\s+(?:i|we|you)\s+(?:already\s+)?(?:have|had|put|add|added|include"
            rf"|included|got|write|remember\s+to\s+(?:add|put)|forget\s+to\s+(?:add|put)|note"
            rf"|make\s+a\s+note)\s+(?P<s>.+?)\s+(?:down\s+)?(?:already\s+)?(?:on|to|in|as)\s+{_LIST}"
        ),
        (
            rf"\b(?:do|does)\s+{_LIST}\s+(?:already\s+)?(?:have|include|contain|consist\s+of"
            rf"|say)\s+(?P<s>.+?)(?:\s+(?:on|in)\s+it)?$"
        ),
        (
            r"\b(?:check|see|look|know|tell\s+me)\b.*?\b(?:if|whether)\s+(?P<s>.+?)\s+(?:is"
            r"|are)\s+(?:already\s+)?(?:on|in|listed)\b"
        ),
        (
            r"\b(?:search|look|check)\s+(?:in\s+|through\s+)?(?:my|the|all)?\s*(?:tasks?|lists?|to[\s-]?dos?"
            r"|reminders?)\s+for\s+(?P<s>.+)$"
        ),
        r"\b(?:search|look)\s+for\s+(?P<s>.+?)(?:\s+(?:in|on|from)\s+.*)?$",
        (
            r"\b(?:tasks?|to[\s-]?dos?|items?|reminders?|anything|something|everything|chores?)\s+(?:about"
            r"|related\s+to|regarding|containing|mentioning|involving|that\s+mentions?|with|named"
            r"|called)\s+(?P<s>.+)$"
        ),
        (
            r"\b(?:when(?:['\u2019]?s|\s+(?:is|are|was|were|do\s+i\s+(?:have|need)\s+to))"
            r"|what\s+(?:time|day|date)\s+(?:is|are))\s+(?:the\s+|my\s+)?(?P<s>.+?)(?:\s+due"
            r"|\s+on\s+.*list)?$"
        ),
        (
            r"^(?:do|did)\s+i\s+(?:need|have|remember)\s+(?:to\s+)?(?:buy\s+|get\s+|add\s+"
            r"|pick\s+up\s+)?(?P<s>.+?)$"
        ),
        r"\b(?:tasks?|items?|to[\s-]?dos?)\s+(?:that\s+)?(?:contain|mention|include|have)s?\s+(?P<s>.+)$",
        r"\bfind\s+(?:the\s+|my\s+)?(?P<s>.+?)\s+tasks?$",
        r"\bshow\s+(?:me\s+)?(?:the|my)\s+(?P<s>.+?)\s+task$",
    )
)
_NOT_SEARCH = re.compile(
    r"^(?:(?:an?y?|some|the|my|all|any|how\s+many|what|many|of|left|due|to\s+do|else|more|other|there|that"
    r"|it|due\s+date|next|new)\s*)*"
    r"(?:tasks?|to[\s-]?dos?|items?|reminders?|things?|anything|something|chores?|errands?|lists?|left"
    r"|assignments?|one)?(?:\s+(?:left|due|to\s+do|else|planned|scheduled|on))*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:before|by|until|till|up\s+to|prior\s+to|no\s+later\s+than)\s*(?:the\s+)?$", re.IGNORECASE
)
_AFTER = re.compile(r"\b(?:after|since|starting)\s*(?:the\s+)?$", re.IGNORECASE)


def read_filters(utterance: str, now: datetime) -> Filters:
    said = bare(utterance).rstrip(" .!?")
    found = [m for m in find_dates(said, now) if m.grain is not Grain.SECOND]
    after, before = _windows(said, found, now)
    rest = said
    for mention in reversed(found):
        rest = f"{rest[: mention.span[0]]} {rest[mention.span[1] :]}"
    priority = find_priority(rest)
    completed = True if _DONE.search(said) else False if _OPEN.search(said) or _OVERDUE.search(said) else None
    window = (
        {"done_after": after, "done_before": before}
        if completed
        else {"due_after": after, "due_before": before}
    )
    overdue = bool(_OVERDUE.search(said))
    nearest = not completed and not found and asks_for_first(rest)
    if overdue and before is not None:  # "overdue or due tomorrow": all until then
        window, overdue = {"due_before": before}, False
    return Filters(
        **window,
        undated=bool(_UNDATED.search(said)),
        overdue=overdue,
        priority=priority.priority if priority else None,
        completed=completed,
        search=None if nearest else _search(" ".join(rest.split())),
        nearest=nearest,
    )


def _windows(
    said: str, found: Sequence[DateMention], now: datetime
) -> tuple[datetime | None, datetime | None]:
    """The days meant; of "today or tomorrow" both."""
    if not found:
        return None, None
    after, before = _window(said, found[0], now)
    for one, other in pairwise(found):
        more = _window(said, other, now)
        if not _EITHER.match(said[one.span[1] : other.span[0]]) or None in (after, before, *more):
            break
        after, before = min(filter(None, (after, more[0]))), max(filter(None, (before, more[1])))
    return after, before


def _window(said: str, mention: DateMention, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The days meant: "today" is one, "by Friday" ends with it, "after Friday" starts behind it."""
    grain = mention.grain if mention.grain.rank >= Grain.DAY.rank else Grain.DAY
    start = floor(mention.value, grain)
    end = mention.end or shift(start, grain, 1)
    lead = said[: mention.span[0]]
    if re.search(r"\bwithin\s*(?:the\s+)?$", lead, re.IGNORECASE) or (
        mention.end and re.search(r"\bnext\b", said, re.IGNORECASE)
    ):
        return floor(now, Grain.DAY), end
    if _BEFORE.search(lead):
        return None, start if re.search(
            r"\b(?:before|prior\s+to)\s*(?:the\s+)?$", lead, re.IGNORECASE
        ) else end
    if _AFTER.search(lead):
        return (end if re.search(r"after\s*(?:the\s+)?$", lead, re.IGNORECASE) else start), None
    return start, end


def _search(said: str) -> str | None:
    for pattern in _SEARCHES:
        found = pattern.search(said)
        if found:
            text = FROM_LIST.sub("", f" {found.group('s')}").strip(" \"'\u201c\u201d?.!,")
            text = re.sub(r"^(?:the|a|an|my|any|some)\s+", "", text, flags=re.IGNORECASE)
            if text and not _NOT_SEARCH.match(text) and find_priority(text) is None:
                return text
            return None
    return None
