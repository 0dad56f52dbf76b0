"""Several wishes in one message, where its form parts them: a list, or sentences that each order something.

Owns the form only. What each wish asks for is read on its own; whether parting them makes sense is for the
reader to say, who knows what each of them means.
"""

from collections.abc import Sequence
from itertools import pairwise

from steward.contract import linear_re as re
from steward.language.forms.quotes import outside_quotes

# Wishes of one message, and its characters. Each wish is read on its own and takes a step or two of the turn:
# a longer list would not be done to its end.
MOST, LONGEST = 20, 2_000
_LINE = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)]|[a-z][.)])\s+(?P<item>\S.*)$", re.IGNORECASE)
_MARK = re.compile(r"(?<![\w.])(?:\((?P<b>\d{1,2}|[a-z])\)|(?P<a>\d{1,2}|[a-z])[.)])\s+(?=\S)", re.IGNORECASE)
_ALSO = (
    r"(?:(?:and|then|also|so|finally|lastly|next|plus|please|kindly|after that|"
    r"(?:can|could|would|will) you(?: (?:please|also|kindly|then))*)\b,?\s+)*"
)
_NEXT = re.compile(
    rf"(?:\s*[,;]\s*{_ALSO}|\s+(?:and|then|n|&|\+)\s+{_ALSO}|[.!?]\s+{_ALSO})(?=(?P<verb>[a-z]+)\b)",
    re.IGNORECASE,
)
_FIRST = re.compile(r"^\s*(?:(?:first(?:ly)?|please|ok(?:ay)?|so)\b[\s,]+)+", re.IGNORECASE)
# What somebody tells to have done is a wish as well, where orders follow it.
_TELLS = re.compile(
    r"^(?:(?:i|we)(?:'ve| have)?(?: just)? (?:[a-z]+(?:ed|t|ne|id|"
    r"ent|ote|ang|old|ew)|took|gave|ran|drove|broke|spoke|made)\b|[^,;?]{2,60}\b(?:is|"
    r"are) (?:all )?(?:done|finished|paid|sorted|complete)\b)",
    re.IGNORECASE,
)
# "It's with Ana now, remember that": of what was just said, and no wish of its own.
_KEEPS = re.compile(
    r"^(?:remember|note|keep|store|save)\s+(?:that|it|this)(?:\s+(?:down|please|for me|"
    r"in mind))*\W*$",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"^[a-z]+\s+(?:off\s+)?(?:it|that|this|them|those)\b",
    re.IGNORECASE,
)
# "Forget where that one is": an order of small words that points, and names nothing.
_POINTING = frozenset("it that this them those these both all".split())  # noqa: SIM905
_SMALL = frozenset(
    """where what when how who which one ones is was are were of off as too now again please done to from on
    my list the about down up out""".split()  # noqa: SIM905 - a word list reads best as words
)
_CLAUSE_END = re.compile(r"[,.;!?]")
_BACK = re.compile(  # "IT" is a trade
    r"\b(?:[Ii]t|[Ii]ts|[Tt]hem|[Tt]hey|[Tt]heir|[Tt]hat|[Tt]hose|[Tt]hese|[Tt]his|[Tt]here|same|ones?|both|"
    r"all of|results?|he|him|his|she|her)\b"
)
_GAPPED = re.compile(
    r"^\s*(?P<verb>(?:please\s+)?(?:move|push|shift|reschedule|postpone|rename|change|set|"
    r"mark)\b)\s+(?P<one>\S.*?\s+(?:to|as)\s+\S.*?)"
    r"(?:\s*,\s*and\s+|\s*[,;]\s+|\s+and\s+)(?P<other>\S.*?\s+(?:to|as)\s+\S.*?)$",
    re.IGNORECASE,
)
# What a sentence to us begins with. A thing to do of one's own rarely does.
ORDERS = frozenset(
    [
        "add",
        "put",
        "remind",
        "remember",
        "note",
        "delete",
        "remove",
        "cancel",
        "forget",
        "mark",
        "tick",
        "check",
        "complete",
        "finish",
        "move",
        "push",
        "reschedule",
        "postpone",
        "rename",
        "change",
        "update",
        "set",
        "make",
        "show",
        "list",
        "tell",
        "what",
        "when",
        "who",
        "where",
        "how",
        "undo",
        "search",
        "find",
        "look",
    ]
)
# Of these, who says them asks to be told: a long list behind them is a text.
DOING = ORDERS - frozenset("show list tell what when who where how search find look undo".split())  # noqa: SIM905
_SAYS_TO = re.compile(r"[,;:]\s+[a-z]+\s+(?:it|this|them|those)\b", re.IGNORECASE)  # ", shift it to Sunday"
_CHANGING = DOING | {"correct", "fix", "call", "spell", "write"}
# Behind these, what follows is the person's to do: "remind me to call Ana and move the car".
_THEIRS = re.compile(
    r"\b(?:remind|need|want|have|got|going|plan|ought|forget|remember)(?:s|ed|ing)?\b(?:\s+\w+)?\s+to\b",
    re.IGNORECASE,
)
LEAST_WORDS = 3  # of a half that asks for something of its own
_HALF = re.compile(
    r"\s*,?\s+and\s+(?:also\s+)?|[.!;]+\s+(?:(?:and|also|oh|then|plus)\b,?\s+)*", re.IGNORECASE
)


def enumerated(text: str) -> list[str]:
    """The items of a list that somebody wrote, each with what stands before all; empty for no list."""
    if len(text) > LONGEST:
        return []
    lead, items = _by_lines(text)
    if len(items) < 2:
        lead, items = _by_marks(text)
    if not 2 <= len(items) <= MOST:
        return []
    before = lead.strip(" :,;.\n-")
    return [f"{before}: {item}" if before else item for item in items]


def crowd(text: str) -> bool:
    """Whether a list orders more than is followed one by one."""
    lead, items = _by_lines(text)
    if not items:
        lead, items = _by_marks(text)
    first = (lead or next(iter(items), "")).split(maxsplit=1)
    orders = bool(first) and first[0].lower().strip(",:") in DOING
    return orders and (len(items) > MOST or (len(items) > 1 and len(text) > LONGEST))


def _by_lines(text: str) -> tuple[str, list[str]]:
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_LINE.match(line) for line in lines]
    first = next((at for at, each in enumerate(found) if each), len(found))
    if first > 1 or not all(found[first:]):
        return "", []
    return "\n".join(lines[:first]), [each["item"].strip() for each in found[first:] if each]


def _by_marks(text: str) -> tuple[str, list[str]]:
    """1. … 2. … or a) … b) … in a running text: only where the marks count on from the first."""
    marks = list(_MARK.finditer(text))
    names = [(mark["a"] or mark["b"]).lower() for mark in marks]
    counts = [str(number) for number in range(1, len(names) + 1)]
    letters = [chr(ord("a") + at) for at in range(min(len(names), 26))]
    if len(marks) < 2 or names not in (counts, letters):
        return "", []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    items = [text[mark.end() : end].strip(" ,;\n") for mark, end in zip(marks, ends, strict=True)]
    return text[: marks[0].start()], [re.sub(r"\s*(?:,|;|\band\b)\s*$", "", item) for item in items if item]


def ordered(text: str, also: frozenset[str] = frozenset()) -> Sequence[str]:
    """The orders of one sentence or of several: "move the dentist to friday and delete the gym task".

    `also`: further words that orders begin with, those of the tools at hand.
    """
    if len(text) > LONGEST:
        return []
    orders = ORDERS | also
    text = _FIRST.sub("", text)
    free = outside_quotes(text)
    pieces: list[str] = []
    begin = 0
    for found in _NEXT.finditer(text):
        if (
            not free[found.start()]
            or found["verb"].lower() not in orders
            or _KEEPS.match(text[found.end() :])
            or _is_about_it(text[begin : found.start()], text[found.end() :])
            or _THEIRS.search(text[begin : found.start()])
        ):
            continue
        pieces.append(text[begin : found.start()].strip())
        begin = found.end()
    pieces.append(text[begin:].strip())
    whole = [piece for piece in pieces if piece]
    starts = whole and (
        whole[0].split()[0].lower().strip(",") in orders | {"please", "can", "could"}
        or _TELLS.match(whole[0])
    )
    return whole if starts and 2 <= len(whole) <= MOST else []


def tells(text: str) -> bool:
    """Whether somebody tells of something that they did, or that is done."""
    return _TELLS.match(text) is not None


def points(text: str) -> bool:
    """Whether it speaks of a thing that was named before."""
    return any(word.strip(",.;!?'").lower() in _POINTING for word in text.split())


def orders_it(text: str) -> bool:
    """Whether something is ordered within that only points: "Priya: make it half three" is no name."""
    words = [word.strip(",:;.").lower() for word in text.split()]
    return _SAYS_TO.search(text) is not None or any(
        word in _CHANGING and after in _POINTING for word, after in pairwise(words)
    )


def orders(text: str) -> bool:
    """Whether a sentence begins like one that is said to us."""
    said = _FIRST.sub("", text).split(maxsplit=1)
    return bool(said) and said[0].lower().strip(",:") in ORDERS


def points_back(wish: str) -> bool:
    """Whether a wish needs what was said or done before it: "and send it to Ana"."""
    return _BACK.search(wish) is not None


def _is_about_it(told: str, order: str) -> bool:
    """ "I paid 64 for the shop, add it to …": what is told is what the order is about."""
    words = _CLAUSE_END.split(order, maxsplit=1)[0].lower().split()[1:]
    only_points = bool(_POINTING & set(words)) and set(words) <= _POINTING | _SMALL
    return (only_points or _POINTS.match(order) is not None) and _TELLS.match(told) is not None


def parts_of(text: str) -> Sequence[str]:
    """The wishes that the form of a message parts; empty where it is one."""
    return enumerated(text) or ordered(text) or gapped(text)


def gapped(text: str) -> Sequence[str]:
    """Two wishes that share their verb: "move physio to monday and the notes to tuesday"."""
    found = _GAPPED.match(text) if len(text) <= LONGEST else None
    if found is None or found["other"].split()[0].lower() in {*ORDERS, "it", "them", "that"}:
        return ()
    return [f"{found['verb']} {found['one']}", f"{found['verb']} {found['other']}"]


def halves(text: str) -> Sequence[str]:
    """The two sides of the one "and" or the one pause of a sentence; empty for none, or several."""
    if len(text) > LONGEST:
        return ()
    free = outside_quotes(text)
    joints = [found for found in _HALF.finditer(text) if free[found.start()]]
    if len(joints) != 1 or _THEIRS.search(text[: joints[0].start()]):
        return ()
    sides = text[: joints[0].start()].strip(), text[joints[0].end() :].strip()
    return sides if all(len(side.split()) >= LEAST_WORDS for side in sides) else ()
