"""Words that answer nothing: "hmm", "not sure yet", "one moment". Pure."""

from steward.contract import linear_re as re
from steward.language.tidy import with_apostrophes

_HESITATION = re.compile(r"^(?:h+m+|u+h+m*|u+m+|e+h*r*m+|e+h+|e+r+|a+h+|o+h+|huh|well|so)$", re.IGNORECASE)
# Who says nothing but these has not answered; one of the second kind has to be among them.
_EMPTY = frozenset(
    """i i'm me my we you it it's that this them of the a an to do for let can can't cannot could not no just
    really on one see say tell question good yet now like want care which any know sure certain
    remember recall think thinking wait hold moment sec minute""".split()  # noqa: SIM905 - reads best as words
)
_UNKNOWING = frozenset(
    """don't dunno idk idea clue unsure know remember recall think thinking wait moment sec minute whatever
    whichever something anything somehow sometime someday later maybe perhaps either decide choose
    pick what""".split()  # noqa: SIM905
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def answers_nothing(text: str) -> bool:
    """ "Hmm, let me think", "not sure yet": nothing in it could be what was asked for."""
    said = [word.lower() for word in _WORD.findall(with_apostrophes(text).replace("\u2019", "'"))]
    left = [word for word in said if not _HESITATION.match(word)]
    if any(word not in _EMPTY and word not in _UNKNOWING for word in left) or any(map(str.isdigit, text)):
        return False
    unsure = {"not", "sure"} <= set(left) or {"not", "certain"} <= set(left)
    return bool(said) and (not left or unsure or any(word in _UNKNOWING for word in left))


_ASKS_BACK = re.compile(
    r"^(?:(?:but|and|so|wait|sorry|hm+)\b[\s,.]*)*(?:why (?:did|do|are|were|would) you (?:need to |"
    r"have to |want to )?(?:ask(?:ing)?|know)\b.*|"
    r"what (?:made|makes) you ask\b.*|why(?: (?:the|this|that) question| (?:is|was) that)?|what (?:was|"
    r"is) the question(?: again)?|"
    r"what (?:were|are) you asking(?: me)?)$",
    re.IGNORECASE,
)


def asks_back(text: str) -> bool:
    """ "Why do you ask?", "what was the question?": about the question, and no answer to it."""
    return _ASKS_BACK.match(" ".join(with_apostrophes(text).split()).strip(" ?!.")) is not None
