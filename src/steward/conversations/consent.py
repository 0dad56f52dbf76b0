"""Reads a person's answer to "Are you sure?". Pure, and on the safe side.

A yes is a yes only when nothing else is in it: words of agreement, and words of the question itself ("yes,
delete the old reminder"). Whatever is not clearly a yes is not one; an answer for later calls as well says so
itself ("always", "never"). What is neither a yes nor a no is something else that the person wants; whoever
asked then takes it that the question was turned down.
"""

from collections.abc import Iterable
from enum import Enum

from steward.contract import linear_re as re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


class Consent(Enum):
    YES = "yes"
    NO = "no"
    OTHER = "other"
    ALWAYS = "always"  # a yes for this tool from now on
    ALWAYS_THESE = "always these"  # the same, with exactly these arguments
    NEVER = "never"  # a no for this tool from now on


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|👍|👎")  # noqa: RUF001
_AGREE = _set(
    "yes y yeah yea yep yup yess sure ok okay k fine confirm confirmed confirming affirmative "
    "absolutely definitely certainly correct agreed agree approve approved proceed indeed 👍"
)
_AGREE_PHRASES = (
    ("go", "ahead"),
    ("do", "it"),
    ("do", "that"),
    ("please", "do"),
    ("of", "course"),
    ("sounds", "good"),
    ("that's", "right"),
    ("that", "is", "right"),
    ("by", "all", "means"),
    ("why", "not"),
)
_DENY = _set("no n nope nah never cancel abort stop negative nevermind don't dont 👎")
_DENY_PHRASES = (
    ("never", "mind"),
    ("do", "not"),
    ("not", "now"),
    ("not", "yet"),
    ("rather", "not"),
    ("forget", "it"),
    ("forget", "that"),
    ("keep", "it"),
    ("keep", "that"),
    ("keep", "them"),
    ("leave", "it"),
    ("leave", "that"),
    ("i", "changed", "my", "mind"),
    ("changed", "my", "mind"),
)
_FILLER = _set(
    "please thanks thank you i i'm im am a an the it that this them one just really very quite now "
    "then so well oh ah um uh hmm and to do want would like you'd for me my your is are course "
    "totally sir of with from go ahead right away immediately still need needed here alone"
)
_ACTS = _set("delete remove erase run execute send do carry go drop clear get rid make apply")
_HEDGES = _set(
    "not no but wait maybe perhaps later unless if except instead only before after when first unsure "
    "other another else don't dont never hold sorry guess think probably"
)
_SILENCE = (
    ("don't", "ask", "again"),
    ("don't", "ask", "me", "again"),
    ("do", "not", "ask", "again"),
    ("do", "not", "ask", "me", "again"),
    ("never", "ask", "again"),
    ("never", "ask", "me", "again"),
    ("without", "asking"),
    ("from", "now", "on"),
)
_THESE = (
    ("exactly", "these", "arguments"),
    ("these", "exact", "arguments"),
    ("these", "arguments"),
    ("exactly", "this", "call"),
    ("this", "exact", "call"),
    ("exactly", "this"),
)
_LASTING = _set("always never again allow allowed trust tool run")
_PLAIN_NO = _set("no nope nah n 👎")
_STATEMENT = _set("i i'd i'll i'm it it's its that that's thats we this they")
_LONGEST = 20  # words; nobody confirms in an essay


def read_consent(said: str, *, about: Iterable[str] = ()) -> Consent:
    """`about` is what was asked: the question and the words of the call, which an answer may repeat."""
    words = _words(said)
    if not words or len(words) > _LONGEST:
        return Consent.OTHER
    known = {word for text in about for word in _words(text)}
    lasting = None if "?" in said else _lasting(words, known)
    if lasting is not None:
        return lasting
    if _is_yes(words, known) and "?" not in said:
        return Consent.YES
    return Consent.NO if _is_no(words, known) else Consent.OTHER


def _lasting(words: list[str], known: set[str]) -> Consent | None:
    """An answer for later calls too, and nothing else in it. Words of the question itself make none."""
    silenced, rest = _without(words, _SILENCE)
    these, rest = _without(rest, _THESE)
    always, never = "always" in set(rest) - known, "never" in set(rest) - known
    denied = never or any(word in _PLAIN_NO for word in rest)
    agreed = always or any(word in _AGREE for word in rest)
    if not (always or never or silenced) or agreed is denied:
        return None
    allowed = _FILLER | _LASTING | (_PLAIN_NO if denied else (_AGREE | _ACTS | known) - _HEDGES - _DENY)
    if not all(word in allowed for word in rest):
        return None
    if denied:
        return Consent.NEVER
    return Consent.ALWAYS_THESE if these else Consent.ALWAYS


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]  # noqa: RUF001


def _is_yes(words: list[str], known: set[str]) -> bool:
    agreed, rest = _without(words, _AGREE_PHRASES)
    agreed = agreed or any(word in _AGREE for word in rest) or _is_order(rest, known)
    if not agreed or any(word in _HEDGES or word in _DENY for word in rest):
        return False
    return all(word in _AGREE or word in _FILLER or word in _ACTS or word in known for word in rest)


def _is_order(words: list[str], known: set[str]) -> bool:
    """ "Delete it", to "… want to delete …?" """
    return len(words) == 2 and words[0] in _ACTS & known and words[1] in ("it", "that")


def _is_no(words: list[str], known: set[str]) -> bool:
    denied, rest = _without(words, _DENY_PHRASES)
    if any(word in _AGREE for word in rest):
        return False
    if not denied and rest and rest[0] in _PLAIN_NO and len(rest) > 1 and rest[1] in _STATEMENT:
        return True  # "no, I still want to keep that one": a statement, not another request
    if not denied and not any(word in _DENY for word in rest):
        return False
    allowed = _DENY | _FILLER | _ACTS | known | {"keep", "leave", "not", "sorry", "actually", "wait"}
    return all(word in allowed for word in rest)


def _without(words: list[str], phrases: tuple[tuple[str, ...], ...]) -> tuple[bool, list[str]]:
    """Whether one of these phrases is there, and the words outside them."""
    found, rest, at = False, list[str](), 0
    while at < len(words):
        phrase = next((each for each in phrases if tuple(words[at : at + len(each)]) == each), None)
        if phrase is None:
            rest.append(words[at])
            at += 1
        else:
            found, at = True, at + len(phrase)
    return found, rest
