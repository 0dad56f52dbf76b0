"""Whether the words before a date tell of what was: then "on Monday" is the one behind us.

Owns the verbs that say so. Orders, and what is still to be done, look ahead.
"""

from steward.contract import linear_re as re

OPENING = 3  # words in which a clause says who did what: "my boss paid"
_CLAUSE = re.compile(r"[,;:.!?](?=\s)|\n|\b(?:and|so|but|then|because|as)\b", re.IGNORECASE)
_PAST = re.compile(
    r"(?:[a-z]{3,}(?:[^e\W]ed|ied)|had|was|were|went|did|bought|paid|spent|took|got|ate|saw|met|drove|flew|"
    r"came|left|lost|won|sent|made|gave|ran|wrote|sold|broke|spoke|told|slept|swam|rode|drank|brought|held|"
    r"began|fell|felt|found|heard|kept|knew|chose|forgot|taught|thought|wore|stayed|played|tried)",
    re.IGNORECASE,
)
_AHEAD = frozenset(
    "need needed want wanted have must should will would can could please if supposed".split()  # noqa: SIM905
)


def behind_us(text: str, at: int) -> bool:
    """Of a date that stands at this place: "had lunch with Ann on Monday", "since June"."""
    before = text[:at]
    if "since" in before.lower().split()[-2:]:
        return True
    clause = [piece for piece in _CLAUSE.split(before) if piece.strip()]
    words = clause[-1].split()[:OPENING] if clause else []
    if any(word.lower() in _AHEAD for word in words):
        return False
    return any(_PAST.fullmatch(word) for word in words)
