"""What a question asks for: behind a remark, of nothing but a day, of the first one, which kind of thing.

"I lost track a bit, could you tell me what you did today?" asks "what you did today"; "what stays on friday?"
asks what there is on friday. Owns the form only. Pure.
"""

from collections.abc import Sequence
from datetime import datetime

from steward.contract import linear_re as re
from steward.language.dates.calendar import Grain
from steward.language.dates.find import find_dates
from steward.language.politeness import bare
from steward.language.wishes import orders

_I = re.IGNORECASE
LONGEST = 400  # characters
MOST_LEADING = 9  # words that lead to a question within a sentence
_PAUSE = re.compile(r"\s*(?:[,;:.!?]+\s+|\s[-–—]+\s|,?\s+(?:so|but|and)\s+)", _I)  # noqa: RUF001
# Whoever wants to be told says so of themselves: "run me through", "I'm not sure", "I'd love to know".
_OF_ONESELF = re.compile(r"\b(?:me|us|i|i'm|i'd|i've|we|we're|we'd)\b", _I)
_INNER = re.compile(
    r"\b(?P<ask>what|which (?:ones?|things|tasks|changes))(?: all| exactly| else)? (?=(?:you|steward)\b)", _I
)


def asked_in(text: str) -> Sequence[str]:
    """What a sentence may ask, the whole first: then without what is said before, then what stands inside."""
    pieces = [text]
    for pause in _PAUSE.finditer(text if len(text) <= LONGEST else ""):
        before = bare(text[: pause.start()])
        if orders(before) or text[: pause.end()].rstrip().endswith("?"):
            break
        pieces.append(text[pause.end() :])
    found = [each.strip() for each in pieces]
    for each in pieces:
        inner = _INNER.search(each)
        lead = each[: inner.start()] if inner else ""
        if inner and 0 < len(lead.split()) <= MOST_LEADING and _OF_ONESELF.search(lead):
            found.append(f"show me what {each[inner.end() :].strip()}")
    return tuple(dict.fromkeys(found))


# --- of a day ---

_ASKS = re.compile(
    r"^(?:(?:and|so|ok|okay|then|but|now)[\s,]+)*(?:what(?:'s| else| all)?|which(?: ones?| tasks| things)?|"
    r"anything|is anything)\b",
    _I,
)
_SMALL = frozenset(
    """and so ok okay then but now what what's else all which one ones tasks task things thing anything is are
    do does did i we have has had got there still on for by at in to the my our me us left over be to-do was
    were will would that it's""".split()  # noqa: SIM905 - a word list reads best as words
)
_WORD = re.compile(r"[\w'-]+")
_OTHERWISE = re.compile(r"(?:ed|did|was|were|about)$", _I)  # over and done, or the question before once more


def asks_of_day(text: str, now: datetime) -> str:
    """The words of the day that a question asks about, and of nothing else; empty for other questions."""
    said = text.strip(" ?.!")
    days = [each for each in find_dates(said, now) if each.grain.rank >= Grain.DAY.rank]
    if len(text) > LONGEST or len(days) != 1 or not _ASKS.match(said):
        return ""
    start, end = days[0].span
    left = _WORD.findall(f"{said[:start]} {said[end:]}")
    own = [word for word in left if word.lower() not in _SMALL]
    if len(own) > 1 or any(map(_OTHERWISE.search, left)) or any(word[:1].isupper() for word in own):
        return ""
    return said[start:end]


# --- of the first one ---

_THING = r"(?:thing|task|one|item|deadline|to-?do|job|errand|reminder|appointment|chore|date|duty|bit)"
_SOONEST = r"(?:next|first|earliest|soonest|nearest|closest)"
_FIRST_OF_ALL = re.compile(
    rf"\b(?:the|my|our)(?: very)? (?:{_SOONEST}|upcoming)(?: (?:due|open|upcoming|coming))* {_THING}\b"
    r"(?! on the list)|"
    rf"\b(?:due|up|comes?|coming|is|'s|do|happens?|expires?|needed)(?: up)? (?:the )?{_SOONEST}"
    r"(?= (?:on|in|for|of) (?:my|the|our)\b|\W*$)",
    _I,
)


def asks_for_first(text: str) -> bool:
    """Whether somebody wants to see the one thing that is due first. Dates are to be cut out before."""
    return len(text) <= LONGEST and _FIRST_OF_ALL.search(text.strip(" ?.!")) is not None


# --- the kind of thing that is asked for ---

_TENS = (
    "ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
)
_FIGURE = rf"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|{_TENS}|half|dozen|hundred|thousand)\b)"
_MEASURES = (
    r"pounds?|dollars?|euros?|pence|p|cents?|gbp|eur|usd|chf|kilos?|kg|g|mg|grams?|ml|cl|l|litres?|"
    r"liters?|tbsp|tsp|"
    r"spoons?|cups?|percent|seconds?|minutes?|hours?|days?|weeks?|months?|years?|miles?|km|cm|mm|m|"
    r"metres?|meters?"
)
_KINDS = (
    (
        re.compile(
            r"^(?:and |so )?(?:how much|what (?:does|do|did|will) .+ cost|what(?:'s|"
            r" is) the (?:price|cost))",
            _I,
        ),
        re.compile(rf"[£$€%]|{_FIGURE}[\d,.]*[\s-]*(?:{_MEASURES})\b", _I),
    ),
    (
        re.compile(
            r"^(?:and |so )?(?:how (?:many|long|old|far|often)|when|(?:at |on )?what (?:time|"
            r"day|date))\b",
            _I,
        ),
        re.compile(
            rf"{_FIGURE}|\b(?:daily|weekly|monthly|yearly|every|mon|tues|wednes|thurs|fri|satur|"
            rf"sun)(?:day)?s?\b|"
            r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
            r"spring|summer|autumn|winter|noon|midnight|always|never|once|twice)\b",
            _I,
        ),
    ),
    (
        re.compile(r"^(?:and |so )?(?:where\b.*\bfrom\W*$|from (?:what|which|where)\b)", _I),
        re.compile(r"\b(?:from|in|at|on|of)\b|@|\bwww\b|://", _I),
    ),
    (
        re.compile(r"^(?:and |so )?(?:where\b|(?:in|on|at|from|to|under|behind) (?:what|which)\b)", _I),
        re.compile(
            r"\b(?:in|inside|into|at|on|onto|under|underneath|behind|beside|by|near|next to|above|below|"
            r"between|beneath|among|against|opposite|outside|around|along|across|to|towards|through|beyond|upstairs|"
            r"downstairs|abroad|online|here|there|everywhere|nowhere)\b|@|\bwww\b|://",
            _I,
        ),
    ),
)


def may_answer(question: str, text: str) -> bool:
    """Whether a text holds the kind of thing that is asked for; any text may answer what asks for no kind."""
    wanted = next((kind for asks, kind in _KINDS if asks.match(question)), None)
    return wanted is None or wanted.search(text) is not None
