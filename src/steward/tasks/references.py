"""Which task an utterance points to: the words that name it, a number in the last list, or "it"."""

import re
from dataclasses import dataclass

from steward.tasks.politeness import bare

_ONES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_NUMBERS = {
    **{word: n for n, word in enumerate(_ONES, 1)},
    **{word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight",
        "nine", "ten"], 1)},
    "last": -1, "final": -1, "top": 1, "1st": 1, "2nd": 2, "3rd": 3, "bottom": -1,
}  # fmt: skip
_NOUN = (
    r"(?:tasks?|to-?dos?|items?|entr(?:y|ies)|reminders?|chores?|things?|errands?|lines?|rows?|ones?|lists?)"
)
_POSSESSIVE = r"(?:my|the|our|this|that|these|those|your|today'?s|tomorrow'?s|all|all\s+of|of)"
_LIST_NOUN = (
    r"(?:to[\s-]?do\s+lists?|to[\s-]?dos?|lists?|tasks|reminders|chores|checklist|agenda|errands|wishlist"
    r"|cart"
    r"|(?:shopping|grocery|task|packing|chore)\s+(?:list|cart|bag))"
)
# "from my to do list", "off of the shopping list", "on my list of things to do".
FROM_LIST = re.compile(
    rf"\s+(?:from|off(?:\s+of)?|out\s+of|of|on|in|to(?!\s+do\b)|onto|into|at|for)\s+(?:(?:my|the|our|this"
    rf"|that|your|a|today'?s|tomorrow'?s|(?!list\b)\w+'s)\s+)*"
    rf"(?:[\w-]+\s+){{0,3}}?{_LIST_NOUN}(?:\s+(?:of|for|to)\s+(?:(?:my|the)\s+)?(?:things|stuff|chores"
    rf"|tasks|items|shopping|to[\s-]?dos?|"
    r"errands|today|tomorrow|work|pending|housework|reminders|current|do|buy|home"
    r"|shit)(?:\s+(?:to\s+)?(?:do|be\s+done|complete|accomplish|"
    r"buy|get|today|tomorrow|tasks))*)?(?=\s*(?:$|[,.;!?]|\b(?:today|tomorrow|please|and|as|cause|because"
    r"|if|unless|i|so|too|also)\b))",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    rf"^(?:(?:absolutely\s+)?everything|all|all\s+of\s+(?:them|it)|them\s+all|(?:all|every"
    rf"|each)(?:\s+of)?(?:\s+{_POSSESSIVE})*"
    rf"(?:\s+[\w-]+){{0,2}}?\s+{_NOUN}|(?:{_POSSESSIVE}\s+)*(?:(?:whole|entire|complete|current"
    rf"|full)\s+)?(?:[\w-]+\s+)?"
    rf"(?:to[\s-]?do\s+)?lists?(?:\s+of\s+(?:things|chores|tasks|items)(?:\s+to\s+do)?)?"
    rf"|(?:the\s+)?(?:items|contents?)(?:\s+of)?"
    rf"|(?:my\s+)?(?:tasks|to[\s-]?dos|reminders|chores|agenda))(?:\s+(?:for\s+)?(?:today|tomorrow"
    rf"|this\s+week))?$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    rf"^(?:it|that|this|them|those|these|(?:this|that|these|those|the)\s+{_NOUN}|an?\s+{_NOUN}|{_NOUN}"
    rf"|the\s+same|that\s+off|there)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    rf"^(?:the\s+|my\s+)?(?:(?:{_NOUN}|number|no\.?|#|nr\.?)\s*(?:number\s+|#\s*)?(?P<after>\d{{1,3}}|[a-z]+)"
    rf"|(?P<before>\d{{1,3}}(?:st|nd|rd|th)|[a-z]+)(?:\s+{_NOUN})|(?P<alone>{'|'.join(_ONES)}"
    rf"|last))(?:\s+(?:listed|in\s+the\s+list))?$",
    re.IGNORECASE,
)
_CALLED = re.compile(
    rf"^(?:{_POSSESSIVE}\s+)?{_NOUN}\s+(?:called|named|titled|about|to|for|that\s+says|saying|:|of"
    rf"|regarding|on)\s+",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:the|my|our|a|an|that|this|those|these|some|your|all\s+(?:the|my))\s+", re.IGNORECASE
)
_TRAILING_NOUN = re.compile(r"\s+(?:tasks?|to-?dos?|items?|entry|chore|one)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """What was said of the task. `ordinal` counts from 1 in the last list shown, -1 is its last.

    `hint` is a verb that may decide between several; `parts` are the pieces of "milk and eggs", for when the
    whole fits nothing.
    """

    text: str
    ordinal: int | None = None
    everything: bool = False
    pronoun: bool = False
    hint: str = ""
    parts: tuple[str, ...] = ()


def read_reference(words: str, *, hint: str = "") -> Reference:
    """The reference in what is left of an utterance once its command is cut off."""
    text = FROM_LIST.sub("", f" {bare(words)}").strip(" ,.;:!?\"'\u201c\u201d")
    if not text:
        whole = bool(FROM_LIST.search(f" {bare(words)}"))
        return Reference("", everything=whole, pronoun=not whole)
    if _PRONOUN.match(text):
        return Reference("", pronoun=True)
    if _EVERYTHING.match(text):
        return Reference(_searched(text), everything=True)
    number = read_ordinal(text)
    if number is not None:
        return Reference("", ordinal=number)
    text = _TRAILING_NOUN.sub("", _ARTICLE.sub("", _CALLED.sub("", text))).strip(" ,.;:!?\"'\u201c\u201d")
    text = _ARTICLE.sub("", text)
    parts = tuple(part for part in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:the\s+|my\s+)?", text) if part)
    return Reference(text, hint=hint, parts=parts if len(parts) > 1 else (), pronoun=not text)


def _searched(text: str) -> str:
    """The word that narrows "all shopping items" down; nothing in "all my tasks"."""
    words = re.sub(
        rf"\b(?:{_POSSESSIVE}|{_NOUN}|{_LIST_NOUN}|everything|every|each|whole|entire|to|do|for|current)\b",
        " ",
        text,
    )
    return " ".join(words.split())


def read_ordinal(text: str) -> int | None:
    """ "the second one", "task 3", "number two", "last"; None where there is none."""
    found = _NUMBERED.match(text.strip(" .!?,"))
    if found is None:
        return None
    word = next(group for group in found.groups() if group).lower()
    digits = re.match(r"\d+", word)
    if digits:
        return int(digits.group()) or None
    return _NUMBERS.get(word)
