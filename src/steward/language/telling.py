"""Asking to be told, and putting it off: the words for it.

Pure text: which dates they hold is read elsewhere. Whether somebody asks to be told is a matter of the verb
and its object ("remind me", "wake us", "set a reminder"), whatever else the sentence holds.
"""

from dataclasses import dataclass

from steward.contract import linear_re as re

_TELL = re.compile(
    r"\b(?:remind|notify|alert|ping|nudge|wake|warn|prompt|buzz)\s+(?:me|us)\b|\b(?:a|an|another)\s+"
    r"(?:reminder|alarm|alert|notification)\b|\bbe\s+(?:reminded|notified|alerted|woken)\b",
    re.IGNORECASE,
)
# "I mustn't forget", "don't let me ever forget", "so that I never forget": not to forget is to remember.
_NOT_TO_FORGET = re.compile(
    r"\b(?:not|never|cannot|without|(?:do|does|did|must|should|shall|ca|can|could|wo|would|need|dare)n['\u2019]?t)"
    r"(?:\s+(?:let|allow|make|want|wish|dare|try|me|us|to|ever|again|just|simply|please)){0,4}"
    r"\s+forget(?:ting)?(?:\s+(?:to|about|that\s+(?:i|we)(?:'ve)?\s+(?:must|should|have\s+to|need\s+to|got\s+to)))?"
    r"\s+(?=\S)",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"^(?:please\s+)?(?:snooze\b|remind\s+me\s+(?:(?:of|about)\s+(?:it|that|this)\s+)?(?:again|later)\b)\s*",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"\s*\b(?:for|by|another)\s+(?P<much>\S.*)$|^(?P<bare>(?:\d|an?\b|half\b).*)$", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*\b(?:of|about)\s+(?:it|that|this)\s*$|\s*\b(?:until|till|to)\s*$", re.IGNORECASE)
_HOUR = re.compile(r"\bat\b|\d|\b(?:noon|midnight|morning|afternoon|evening|night|hours?)\b", re.IGNORECASE)
_COURTESY = re.compile(r"^(?:please|can you|could you|would you|i want you to|and|then)\s+", re.IGNORECASE)
_FOR_ME = re.compile(r"^(?!remind\b)\w+\s+me\b", re.IGNORECASE)
_EDGES = " ,.!?"


@dataclass(frozen=True, slots=True)
class Later:
    """What follows "snooze" or "remind me again"; the length of time in it, and what stands before that."""

    rest: str
    length: str | None = None
    before: str = ""


def asks_to_be_told(text: str) -> bool:
    return _TELL.search(text) is not None


def to_be_remembered(text: str) -> tuple[int, int] | None:
    """Where it is said that something must not be forgotten; the thing itself begins at the end of it."""
    found = _NOT_TO_FORGET.search(text)
    return None if found is None else found.span()


def fact_not_to_forget(text: str) -> str | None:
    """ "Don't forget that the alarm is off": a fact; what somebody must do is a task."""
    found = to_be_remembered(text)
    if found is None or text[: found[0]].strip(" ,.!?"):
        return None
    rest = text[found[1] :]
    first, _, fact = rest.partition(" ")
    return fact.strip(" .!") if first.lower() == "that" and fact else None


def later(text: str) -> Later | None:
    """None where nothing is put off."""
    found = _LATER.match(text)
    if found is None:
        return None
    rest = text[found.end() :].strip(_EDGES)
    length = _LENGTH.search(rest)
    if length is None:
        return Later(rest)
    return Later(rest, length["much"] or length["bare"], rest[: length.start()])


def named(words: str) -> str:
    """What is left of "the dentist until": the dentist."""
    return _BETWEEN.sub("", _BETWEEN.sub("", words)).strip(_EDGES)


def names_an_hour(text: str) -> bool:
    return _HOUR.search(text) is not None


def without_courtesy(text: str) -> str:
    return _COURTESY.sub("", text)


def is_for_me(text: str) -> bool:
    """ "Send me …", "tell me …": somebody is to do something for who speaks."""
    return _FOR_ME.match(text) is not None
