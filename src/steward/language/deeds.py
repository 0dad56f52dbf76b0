"""Several things in one sentence, where the form parts them: what was done, and what gets a day of its own.

"I paid Ann and sent back the shoes, so tick both off" ends two things; "physio to wednesday, tyre change to
thursday" gives each its own day, with one verb or none. Owns the form only. Pure.
"""

from collections.abc import Sequence
from datetime import datetime

from steward.contract import linear_re as re
from steward.language.dates.find import find_dates
from steward.language.wishes import orders

_I = re.IGNORECASE
LONGEST = 600  # characters
MOST_SENTENCES = 12  # that are listened to one by one; what is longer is a text
MOST_WORDS = 8  # that name one thing
_THEM = (
    r"(?:them both|both|them(?: all)?|those(?: two)?|these(?: two)?|all(?: of)?|the two|all three)"
    r"(?: of (?:them|those|these))?"
)
_AFTER = (
    r"(?:\s+(?:off|as|to|down|done|finished|complete|completed|closed|my|the|list|from|please|for me|now))*"
)
_CLOSED = re.compile(
    r"^(?P<told>\S.*?)(?:\s*[,;.!:]+\s*|\s+)(?:(?:so|and|then|now|please|can you|could you|would you|"
    r"kindly|just)\b[\s,]*)*(?:mark|tick|check|cross|strike|complete|finish|close|set|take|count|put)\s+(?:off\s+)?(?:to\s+)?"
    rf"{_THEM}{_AFTER}[\s.!?]*$",
    _I,
)
_SUBJECT = re.compile(
    r"^(?P<who>(?:i|we)(?:'ve| have)?(?: (?:just|already|finally|also|now))*)\s+(?P<rest>\S.*)$", _I
)
_JOINT = re.compile(r"\s*[,;]\s*(?:and\s+|then\s+|also\s+)*|\s+(?:and|&|plus)\s+(?:also\s+|then\s+)*", _I)
_THING = re.compile(r"^(?:the|my|our|your|his|her|their|an?|some|both|all)\s", _I)
# What stands between a verb and its thing: where the first word has it behind it, that word is a verb.
_LED = re.compile(
    r"^[a-z]+(?:ed\b|\s+(?:(?:up|out|off|in|back|away|down|over|to|with|for|through)\s+)*(?:the|my|our|your|his|her|their"
    r"|an?|some)\s|\s+(?:up|out|off|back|away|down|over|to)\s)",
    _I,
)


def deeds(text: str) -> Sequence[str]:
    """Each of the things that were done, where a sentence tells of them and wants them all closed."""
    found = _CLOSED.match(text) if len(text) <= LONGEST else None
    first = _SUBJECT.match(found["told"]) if found else None
    if found is None or first is None:
        return ()
    told: list[str] = []
    verb = ""
    for piece in _JOINT.split(first["rest"]):
        own = _SUBJECT.match(piece)
        said = own["rest"] if own else piece
        does = not _THING.match(said) and (not told or _LED.match(said) is not None)
        verb = said.split(maxsplit=1)[0] if does else verb
        told.append(f"{first['who']} {said}" if does else f"{first['who']} {verb} {said}")
    return told if len(told) > 1 else ()


# --- a day for each ---

_MOVES = re.compile(
    r"^(?P<verb>(?:(?:please|can you|could you|also|and)\s+)*(?:move|push|shift|reschedule|"
    r"postpone|put|set|change|bump)\b)\s+(?=\S)",
    _I,
)
_TO_DAY = re.compile(
    r"^(?:and\s+)?(?P<what>\S.*?)\s+(?:to|till|until|onto|over to|->|→)\s+(?P<when>\S.*)$", _I
)
_ON_DAY = re.compile(
    r"^(?:and\s+)?(?P<what>\S.*?)\s+(?:to|till|until|onto|over to|on|for|->|→)\s+(?P<when>\S.*)$", _I
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\s*:\s+|\n+")
_COURTEOUS = re.compile(
    r"(?:[\s,.!?]+(?:please|pls|plz|thanks|thank you|thx|cheers|instead|then))*[\s.!?,]*$", _I
)


def moved_each(text: str, now: datetime) -> Sequence[str]:
    """An order to move each of several things, where each has a day of its own; empty for none."""
    if len(text) > LONGEST:
        return ()
    last = _COURTEOUS.sub("", text)
    led = _MOVES.match(last)
    form = _TO_DAY if led is None else _ON_DAY
    pieces = _JOINT.split(last[led.end() :] if led else last)
    parted = [form.match(piece) for piece in pieces]
    if len(pieces) < 2:
        return ()
    orders: list[str] = []
    for each in parted:
        if each is None or len(each["what"].split()) > MOST_WORDS or not _is_day(each["when"], now):
            return ()
        orders.append(f"move {each['what']} to {each['when']}")
    return orders


def moved_last(text: str, now: datetime) -> tuple[Sequence[str], Sequence[str]]:
    """The same for the last sentence of a message, and the sentences before it, where those order nothing."""
    *before, last = sentences_of(text) or ("",)
    listened_to = 0 < len(before) < MOST_SENTENCES and not any(map(orders, before))
    moved = moved_each(last, now) if listened_to else ()
    return (before, moved) if moved else ((), ())


def _is_day(words: str, now: datetime) -> bool:
    """Whether these are a date and nothing else."""
    said = words.strip(" .,!?")
    return any(each.span == (0, len(said)) for each in find_dates(said, now))


def sentences_of(text: str) -> Sequence[str]:
    """The sentences of a message, and what stands before a colon as one of its own."""
    return [piece.strip() for piece in _SENTENCE.split(text) if piece.strip()]
