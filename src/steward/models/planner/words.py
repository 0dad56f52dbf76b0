"""English as far as the planner needs it: words, stems, everyday verbs, polite phrases.

Owns no tool names and no domain: what a tool is about, its definition says.
"""

from functools import lru_cache

from steward.contract import linear_re as re
from steward.contract.stems import english_stem
from steward.language.tidy import with_apostrophes


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")

STOP = word_set(
    """a an the this that these those some any all my your our their his her its me you i we us they he she
    it of in on at to for from by with about as into and or but if then so is are was were be been am do does
    did can could will would shall should may might must please just also have has had get got there here
    what which who whom whose when where why how much many not no yes up out off over under again now want
    need like let"""
)

# Everyday verbs that mean the same. Each group is one intention; the first word is its name.
_VERBS = (
    "create add make new insert register start schedule plan put write jot note record append",
    "remove delete rid erase drop discard destroy cancel forget clear purge eliminate scratch scrap ditch",
    "list show display enumerate view see browse",
    "find search lookup look query locate discover seek",
    "change update edit modify rename alter adjust set move amend revise reschedule postpone",
    "finish complete done close resolve accomplish check tick mark",
    "send mail email post message notify deliver forward share",
    "read open fetch retrieve load download obtain tell give",
    "compute calculate count sum convert translate measure evaluate",
    "store save remember keep archive persist memorize",
    "run execute launch trigger invoke perform",
    "stop halt pause end quit abort",
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    return english_stem(word.lower().replace("\u2019", "'").removesuffix("'s"))


_INTENTION = {stem(word): group.split()[0] for group in _VERBS for word in group.split()}


def split_name(name: str) -> list[str]:
    """The words of an identifier: dueDate, due_date and due-date alike."""
    return list(_words_in(name))


@lru_cache(maxsize=512)  # one message is compared with every tool
def _words_in(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in WORD.findall(_CAMEL.sub(" ", name).replace("_", " ")))


@lru_cache(maxsize=4_000)
def stems(text: str) -> tuple[str, ...]:
    """The stems of the words that carry meaning, in order, each once."""
    words = [word for word in split_name(text) if not STOP & {word, word.removesuffix("'s")}]
    return tuple(dict.fromkeys(stem(word) for word in words))


def intention(word: str) -> str | None:
    """What an everyday verb is for; None for any other word."""
    return _INTENTION.get(stem(word))


_POLITE = re.compile(
    r"^\s*(?:(?:hey|hi|hello|ok|okay|so|well|now|please|kindly|(?:could|can|would|will) you|"
    r"i (?:want|need)(?: you)? to|i'd like(?: you)? to|i would like(?: you)? to|let's|let us|go ahead and|"
    r"help me(?: to)?)\b[\s,!.]*)+",
    re.IGNORECASE,
)
_THANKS = re.compile(r"[\s,]*(?:\b(?:please|thanks|thank you|for me)\b)?[\s.!?]*$", re.IGNORECASE)


_TAG = re.compile(r"[\s,]+(?:will|would|can|could) you\s*[?.!]*\s*$", re.IGNORECASE)


def without_tag(text: str) -> str:
    """ "Put some jazz on, will you?" without what is no part of the wish."""
    return _TAG.sub("", text) or text


def bare(text: str) -> str:
    """What was asked, without the courtesies around it."""
    return _THANKS.sub("", _POLITE.sub("", with_apostrophes(text))).strip()


_CANCEL = re.compile(
    r"^\s*(?:no[,.]?\s*)?(?:never ?mind|cancel(?: (?:it|that))?|forget (?:it|that|about it)|stop|abort|"
    r"don'?t|no|nope|no thanks?|no thank you|nothing|none(?: of (?:them|these|those))?|neither|leave it|"
    r"keep (?:it|them|that))[\s.!]*$",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"\b(?:what (?:\w+ )?(?:can|could) you (?:\w+ )?(?:do|help)|what are you able to|which tools|"
    r"your (?:tools|abilities)|"
    r"tools (?:do )?you have|how can you help)\b|^\s*help\W*$",
    re.IGNORECASE,
)


# "Can you read PDFs?": things of a kind, and none that one could point at.
_ABILITY = re.compile(
    r"^\s*(?:(?:can|could) you|are you able to|do you know how to)\s+(?:also\s+)?[a-z]+\s+"
    r"(?!(?:the|my|our|your|this|that|these|those|his|her|their|its|all|some|any|me|us|both)\b)"
    r"(?:[a-z]+\s+)?[a-z]{2,}s\s*\?\s*$",
    re.IGNORECASE,
)


_QUESTION = re.compile(
    r"^(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|am|do|does|did|has|have|had)\b"
    r"(?!\s+(?:about|if)\b)",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether something is asked about; "could you ...?" asks for something, and is none."""
    return _QUESTION.match(bare(text)) is not None


def asks_ability(text: str) -> bool:
    """Whether somebody asks what could be done, and for nothing to be done."""
    return _ABILITY.match(text) is not None


def is_cancel(text: str) -> bool:
    return _CANCEL.match(text) is not None


def is_help(text: str) -> bool:
    return _HELP.search(text) is not None


_ORDINALS = {
    word: number
    for number, words in enumerate(
        (
            "first 1st",
            "second 2nd",
            "third 3rd",
            "fourth 4th",
            "fifth 5th",
            "sixth 6th",
            "seventh 7th",
            "eighth 8th",
        ),
        1,
    )
    for word in words.split()
} | {"last": -1, "former": 1, "latter": -1}
_NUMBERED = re.compile(r"(?:^|\b(?:number|no\.?|option|item)\s*|#)(\d{1,3})\b(?!\s*\w*[-/:])", re.IGNORECASE)


def ordinal(text: str) -> int | None:
    """Which one of a list is meant: 'the second one', '#2', 'number 2', a bare '2'; -1 is the last."""
    for word in split_name(text):
        if word in _ORDINALS:
            return _ORDINALS[word]
    found = _NUMBERED.search(text)
    return int(found[1]) if found else None


_JOINT = re.compile(r"\s*(?:,|&|\band\b)\s*(?:and\s+)?", re.IGNORECASE)
_ALL = re.compile(
    r"^\W*(?:all|both|everything|every one|each)(?: of (?:them|these|those))?(?: \w+)?\W*$|^\W*them all\W*$",
    re.IGNORECASE,
)


_PLACE = re.compile(
    r"\W*(?:(?:it'?s|i mean|the|number|no\.?|option|item|#)\s*)*"
    rf"(?:{'|'.join(_ORDINALS)}|\d{{1,3}})(?:\s+(?:ones?|item|option))?\W*",
    re.IGNORECASE,
)


def places(text: str) -> tuple[int, ...]:
    """Which ones of a list are meant: 'the second one', '1 and 3'; empty unless all of it says places."""
    words = bare(text).split()
    said = " ".join(words[1:] if words and intention(words[0]) else words)  # "delete the second one"
    pieces = [piece for piece in _JOINT.split(said) if piece.strip()]
    if not all(_PLACE.fullmatch(piece) for piece in pieces):
        return ()
    return tuple(each for piece in pieces if (each := ordinal(piece)) is not None)


_ONE = re.compile(
    r"^\W*(?:the|that|this|my)\s+(?:ones?\s+(?:(?:for|with|about|to|from|of|at|in|on|called|"
    r"named)\s+)?)?(?=\S)|\s+ones?\W*$",
    re.IGNORECASE,
)


def bare_of_one(text: str) -> str:
    """ "the blue one" is whatever is blue."""
    return _ONE.sub("", text).strip()


def is_all(text: str) -> bool:
    return _ALL.match(text) is not None


_SMALL = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS = {word: number for number, word in enumerate(_SMALL.split())} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "hundred": 100,
    "dozen": 12,
    "thousand": 1000,
}
