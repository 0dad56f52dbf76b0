"""What is worth remembering, and when a new statement takes an old one's place. Pure rules on words."""

import re

from steward.knowledge.terms import terms

_SMALL_TALK = frozenset(
    terms("""
hey hi hello thanks thank welcome good great nice wow cool awesome amazing sweet lovely perfect sure
see ok okay yes yeah yep no nope bye goodbye night morning afternoon evening care sounds sound
really glad happy please sorry haha lol right exactly absolutely definitely totally hope talk soon
later well oh ah hmm know mean got get it's that's i'm you're let's let fine""")
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SPEAKER = re.compile(r"^[A-Z][\w .'-]{0,30}:\s+")
_NEGATION = re.compile(
    r"\b(not|no longer|never|isn't|aren't|doesn't|don't|won't|stopped|quit|any ?more)\b|n't\b", re.IGNORECASE
)
# Words that tie a subject to a value that can change; what stands on their right is the value.
_HOLDS = re.compile(
    r"\b(is|are|was|were|has|have|lives?|works?|moved|prefers?|likes?|uses?|costs?|becomes?|became|named|called)\b|:",
    re.IGNORECASE,
)


def worth_keeping(text: str) -> bool:
    """Whether a sentence in it states something: not a greeting, a thank-you or only a question."""
    body = _SPEAKER.sub("", text.strip())
    return any(_states(sentence) for sentence in _SENTENCE.split(body))


def _states(sentence: str) -> bool:
    words = terms(sentence)
    if sentence.rstrip().endswith("?") or all(word in _SMALL_TALK for word in words):
        return False
    return not (words[0] in _SMALL_TALK and len(sentence.split()) <= 3)  # "Hey Mel!"


def contradicts(new: str, old: str) -> bool:
    """Whether `new` states another value for the same thing: one sentence each, same subject and relation."""
    if max(len(new), len(old)) > 300 or new.strip().casefold() == old.strip().casefold():
        return False
    stated, before = _parts(new), _parts(old)
    if stated is None or before is None:
        return False
    (subject, value), (old_subject, old_value) = stated, before
    if subject != old_subject or not subject:
        return False
    negated = bool(_NEGATION.search(new)) != bool(_NEGATION.search(old))
    if negated:
        return value == old_value or bool(value & old_value)
    # More detail on the same value adds to it; a different value replaces it.
    return bool(value) and bool(old_value) and not value <= old_value and not old_value <= value


def _parts(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    body = _SPEAKER.sub("", text.strip())
    sentences = [sentence for sentence in _SENTENCE.split(body) if sentence.strip()]
    if len(sentences) != 1 or body.endswith("?"):
        return None
    plain = _NEGATION.sub(" ", body)
    match = _HOLDS.search(plain)
    if match is None:
        return None
    relation = frozenset(terms(match[0])) - {"is", "was"}
    subject = frozenset(terms(plain[: match.start()])) or frozenset(
        re.findall(r"\w+", plain[: match.start()].lower())
    )
    return subject | relation, frozenset(terms(plain[match.end() :]))
