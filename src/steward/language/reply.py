"""Answers to an open question: yes, no, never mind, all of them, or one of a list."""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.language.politeness import bare
from steward.language.references import read_ordinals


@dataclass(frozen=True, slots=True)
class Yes:
    pass


@dataclass(frozen=True, slots=True)
class No:
    pass


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


@dataclass(frozen=True, slots=True)
class Everything:
    pass


@dataclass(frozen=True, slots=True)
class Pick:
    """Options by number: 1 is the first, -1 the last."""

    ordinals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Neither: the words themselves are the answer, or a new request."""

    text: str


Answer = Yes | No | Cancel | Everything | Pick | Words

_CANCEL = re.compile(
    r"^(?:no[,\s]+)?(?:cancel(?:\s+(?:it|that|this))?|never\s*mind|nvm|forget\s+(?:it|about\s+it|that)"
    r"|stop|abort|leave\s+it|skip(?:\s+it)?"
    r"|quit|exit|none(?:\s+of\s+(?:them|these|those))?|neither|nothing|scratch\s+that|drop\s+it)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^(?:no|nope|nah|na|not?\s+(?:thanks|thank\s+you|now|really|yet)|don'?t|do\s+not|please\s+don'?t"
    r"|negative|keep\s+(?:it|them|that)|wait|hold\s+on|n|i\s+(?:don'?t|changed\s+my\s+mind)"
    r"|absolutely\s+not|never|no\s+way|nay|rather\s+not|better\s+not|wrong)(?:\b|$)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:y|ya|ye|yes|yeah|yep|yup|yea|yess+|sure(?:\s+thing)?|ok|okay|okey|k|correct|right|exactly"
    r"|absolutely|definitely|of\s+course|certainly|affirmative|confirm(?:ed)?"
    r"|do\s+(?:it|that|so)|go\s+(?:ahead|for\s+it)|please(?:\s+do)?|sounds\s+good|fine|that'?s\s+(?:right"
    r"|correct|it|fine)|i'?m\s+sure|i\s+am\s+sure|i\s+do|perfect|great|why\s+not"
    r"|by\s+all\s+means|indeed|aye|true|delete\s+it|add\s+it|proceed|make\s+it\s+so|you\s+bet|100%|👍)(?:\b"
    r"|\s|[,.!]|$)",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"^(?:all|all\s+of\s+(?:them|these|those)|everything|both(?:\s+of\s+them)?|every\s+one|each"
    r"|them\s+all)\b",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(r"^(?:#|number\s+|no\.?\s+|option\s+|choice\s+)?(\d{1,3})[.)]?$", re.IGNORECASE)
_CHOSEN = re.compile(
    r"^(?:i\s+(?:mean|meant|want|choose|pick|did|completed|finished)\s+|it'?s\s+|it\s+was\s+"
    r"|that\s+would\s+be\s+|delete\s+|complete\s+)",
    re.IGNORECASE,
)
_WORD_NUMBERS = {
    word: n
    for n, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1
    )
}


def read_answer(text: str) -> Answer:
    """What a short reply means. An answer that mixes yes and no is neither."""
    said = " ".join(text.split()).strip(" .!?,;\"'")
    for pattern, answer in ((_CANCEL, Cancel()), (_NO, No())):
        if pattern.match(said):
            return answer
    picked = _picked(said)
    if picked:
        return Pick(picked)
    for pattern, answer in ((_ALL, Everything()), (_YES, _sure(said))):
        if pattern.match(said):
            return answer
    inner = bare(said)
    return read_answer(inner) if inner and inner != said else Words(said)


def _sure(said: str) -> Answer:
    """A yes that takes itself back ("yes, no wait", "ok, don't") is no yes."""
    rest = _YES.sub("", said, count=1)
    if re.search(r"\b(?:no|not|don'?t|wait|cancel|never|keep)\b", rest, re.IGNORECASE):
        return Words(said)
    picked = _picked(rest.strip(" ,."))
    return Pick(picked) if picked else Yes()


def _picked(said: str) -> tuple[int, ...]:
    said = _CHOSEN.sub("", said)
    number = _BARE_NUMBER.match(said)
    if number:
        return (int(number.group(1)),) if int(number.group(1)) else ()
    if said.lower() in _WORD_NUMBERS:
        return (_WORD_NUMBERS[said.lower()],)
    both = re.fullmatch(r"(\d{1,2})(?:\s*(?:,|and|&)\s*(\d{1,2}))+", said)
    if both:
        return tuple(int(one) for one in re.findall(r"\d+", said) if int(one))
    return read_ordinals(said)
