"""Which task an utterance points to: the words that name it, a number in the last list, or "it"."""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.language.politeness import bare

_ONES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_NUMBERS = {
    **{word: n for n, word in enumerate(_ONES, 1)},
    **{word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight",
        "nine", "ten"], 1)},
    "last": -1, "final": -1, "top": 1, "1st": 1, "2nd": 2, "3rd": 3, "bottom": -1, "former": 1, "latter": -1,
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
    r"buy|get|today|tomorrow|tasks)){0,8})?(?=\s*(?:$|[,.;!?]|\b(?:today|tomorrow|please|and|as|cause|because"
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
_PLURAL = re.compile(
    r"^(?:them|these|those|(?:them\s+)?both|them\s+all|all\s+of\s+(?:them|these|those)|both\s+of\s+(?:them|these|those)|"
    r"(?:all\s+)?the\s+(?:two|three|four|lot)(?:\s+of\s+them)?)$",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:both|two)\b", re.IGNORECASE)
# "Both the emails", "all the letters": of one kind, as many as there are.
_ALL_OF_A_KIND = re.compile(
    rf"^(?:both|all)(?:\s+of)?(?:\s+{_POSSESSIVE})?\s+(?P<kind>(?!of\b)[\w' -]+s|{_NOUN})$", re.IGNORECASE
)
_NUMBERED = re.compile(
    rf"^(?:the\s+|my\s+)?(?:(?:{_NOUN}|number|no\.?|#|nr\.?)\s*(?:number\s+|#\s*)?(?P<after>\d{{1,3}}|[a-z]+)"
    rf"|(?P<before>\d{{1,3}}(?:st|nd|rd|th)|[a-z]+)(?:\s+{_NOUN})|(?P<alone>{'|'.join(_ONES)}"
    rf"|last|former|latter))(?:\s+(?:listed|in\s+the\s+list))?$",
    re.IGNORECASE,
)
_RUN = re.compile(
    rf"^(?:the\s+|my\s+)?(?P<end>first|last|top|bottom)\s+(?P<n>\d|two|three|four|five|six|seven|eight|nine|ten)(?:\s+{_NOUN})?$"
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
    """What was said of the task. `ordinals` count from 1 in the last list shown, -1 is its last.

    `hint` is a verb that may decide between several; `parts` are the pieces of "milk and eggs", for when the
    whole fits nothing. `completed` narrows `everything` down to what is done, or to what is not.
    """

    text: str
    ordinals: tuple[int, ...] = ()
    everything: bool = False
    completed: bool | None = None
    pronoun: bool = False
    hint: str = ""
    parts: tuple[str, ...] = ()
    plural: bool = False  # "them", "both of those": what was shown or done together
    both: bool = False  # two of them, no more and no fewer


def read_reference(words: str, *, hint: str = "") -> Reference:  # noqa: PLR0911 - one line a form
    """The reference in what is left of an utterance once its command is cut off."""
    text = FROM_LIST.sub("", f" {bare(words)}").strip(" ,.;:!?\"'\u201c\u201d")
    if not text:
        whole = bool(FROM_LIST.search(f" {bare(words)}"))
        return Reference("", everything=whole, pronoun=not whole)
    if _PLURAL.match(text):
        whole = re.search(r"\ball\b", text, re.IGNORECASE) is not None
        return Reference("", pronoun=True, plural=True, both=bool(_BOTH.search(text)), everything=whole)
    if _PRONOUN.match(text):
        return Reference("", pronoun=True)
    if _EVERYTHING.match(text):
        return _everything(text)
    kind = _ALL_OF_A_KIND.match(text)
    if kind:
        return Reference(kind.group("kind"), everything=True, both=bool(_BOTH.search(text)))
    numbers = read_ordinals(text)
    if numbers:
        return Reference("", ordinals=numbers)
    text = _TRAILING_NOUN.sub("", _ARTICLE.sub("", _CALLED.sub("", text))).strip(" ,.;:!?\"'\u201c\u201d")
    text = _ARTICLE.sub("", text)
    parts = tuple(part for part in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:the\s+|my\s+)?", text) if part)
    return Reference(text, hint=hint, parts=parts if len(parts) > 1 else (), pronoun=not text)


def _everything(text: str) -> Reference:
    done = re.search(r"\b(?:completed?|done|finished|closed)\b", text, re.IGNORECASE)
    still = re.search(r"\b(?:open|pending|unfinished|incomplete|remaining)\b", text, re.IGNORECASE)
    rest = _searched(
        re.sub(r"\b(?:completed?|done|finished|closed|open|pending|unfinished|incomplete)\b", "", text)
    )
    return Reference(rest, everything=True, completed=True if done else False if still else None)


def _searched(text: str) -> str:
    """The word that narrows "all shopping items" down; nothing in "all my tasks"."""
    words = re.sub(
        rf"\b(?:{_POSSESSIVE}|{_NOUN}|{_LIST_NOUN}|everything|every|each|whole|entire|to|do|for|current)\b",
        " ",
        text,
    )
    return " ".join(words.split())


def read_ordinals(text: str) -> tuple[int, ...]:
    """ "the second one", "task 3", "the first two", "1 and 3", "last"; empty where there is none."""
    text = text.strip(" .!?,").lower()
    run = _RUN.match(text)
    if run:
        count = _NUMBERS.get(run.group("n")) or int(run.group("n"))
        return tuple(range(1, count + 1)) if run.group("end") in ("first", "top") else tuple(range(-count, 0))
    pieces = [piece for piece in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*", text) if piece]
    numbers = [_ordinal(piece, alone=len(pieces) > 1 and k > 0) for k, piece in enumerate(pieces)]
    if any(number is None for number in numbers):
        return ()
    return tuple(number for number in numbers if number is not None)


def _ordinal(text: str, *, alone: bool) -> int | None:
    """One number; behind another ("tasks 1 and 3") a bare one will do."""
    if alone and re.fullmatch(r"\d{1,3}", text):
        return int(text) or None
    found = _NUMBERED.match(text)
    if found is None:
        return _NUMBERS.get(text) if alone else None
    word = next(group for group in found.groups() if group).lower()
    digits = re.match(r"\d+", word)
    if digits:
        return int(digits.group()) or None
    return _NUMBERS.get(word)
