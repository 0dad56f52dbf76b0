"""Priorities and the ways people say them."""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.tasks.model import Priority

_INTRO = (
    r"(?:,?\s*\b(?:and\s+)?(?:it'?s|it\s+is|its|this\s+is|that'?s|that\s+is|which\s+is|with|as|at|is|of"
    r"|set\s+to)\s+)?"
)
_DEGREE = r"(?:(?:a|an|the|very|really|super|pretty|quite|extremely|kind\s+of|now)\s+)*"
_LOW = (
    r"(?:low|lowest|lower|minor)[\s-]+(?:priority|prio|importance)|priority\s*(?:is|to|of|:|=)?\s*(?:low|p3)"
    r"|(?:not|isn'?t|less)\s+(?:that\s+|so\s+|very\s+)?(?:urgent|important)|no\s+(?:rush|hurry)"
    r"|unimportant|!low|\bp[34]\b"
)
_MEDIUM = (
    r"(?:medium|normal|mid|regular|moderate)[\s-]+(?:priority|prio|importance)|priority\s*(?:is|to|of|:"
    r"|=)?\s*(?:medium|normal)|!medium|\bp2\b"
)
_HIGH = (
    r"(?:high|highest|top|higher|first|max|maximum|urgent)[\s-]+(?:priority|prio|importance)"
    r"|priority\s*(?:is|to|of|:|=)?\s*(?:high|urgent|top|1)\b|\burgent(?:ly)?\b|\bimportant\b|\bcritical\b"
    r"|\basap\b|as\s+soon\s+as\s+possible"
    r"|\bcrucial\b|\bhigh[\s-]pri\b|!high|!!+|\bp[01]\b|\ba\s+priority\b|\btop\s+of\s+(?:my|the)\s+list\b"
)
_ORDER = ((Priority.LOW, _LOW), (Priority.MEDIUM, _MEDIUM), (Priority.HIGH, _HIGH))
_PATTERNS = tuple(
    (priority, re.compile(rf"{_INTRO}{_DEGREE}(?:{body})", re.IGNORECASE)) for priority, body in _ORDER
)


@dataclass(frozen=True, slots=True)
class PriorityMention:
    priority: Priority
    span: tuple[int, int]


def find_priority(text: str) -> PriorityMention | None:
    """The first priority said in the text, with the words that say it."""
    found = [
        PriorityMention(priority, match.span())
        for priority, pattern in _PATTERNS
        if (match := pattern.search(text))
    ]
    return min(found, key=lambda mention: mention.span[0], default=None)
