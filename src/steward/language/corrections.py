"""What is said of the thing spoken of last: that it was wrong, and what it is instead.

Owns the form: a subject that only points ("its due on friday"), and a clause that only says what was wrong
("wrong day, should be …"). Whether what is left is a day, a name or a priority, its own grammar says. Pure.
"""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.language.references import read_ordinals

_I = re.IGNORECASE
_BE = (
    r"(?:is|are|was|were|(?:will|should|must|can|may|might|could|would)(?: really| just| now)? be|"
    r"(?:has|have|needs?|ought|is meant|are meant|is supposed|are supposed) to be|needs?|has|have)"
)
_FOR = (
    r"(?:(?:done|due|finished|ready|sorted|needed|wanted|planned|meant|happening|good|only|now|actually|really|"
    r"both|all|task|one|an?|by|on|for|at|before|until|till|in time for)\s+)*"
)
_ONE = r"(?:it|that|this)(?: (?:one|task|thing))?"
_ANY = (
    r"(?:they(?: both| all)?|both(?: of (?:them|those|these))?|(?:these|those)(?: two| three)?|all of them)"
)
# "Its" with nothing that it owns behind it is "it's".
_POINTED = re.compile(
    rf"^(?:and |but |oh |so )*(?:(?:(?P<one>{_ONE})|(?P<any>{_ANY}))(?:\s+{_BE}|'s|'re|'ll be)|its|theyre)\s+"
    rf"{_FOR}(?P<value>\S.*?)(?:\s+(?:one|task))?$",
    _I,
)
_OF_IT = re.compile(
    r"^(?:and |but |oh |so )*(?:the|its) (?:(?:due )?(?:date|day|time)|deadline|priority) (?:is|should be|"
    r"was|needs to be|has to be) (?:on |at )?(?P<value>\S.*)$",
    _I,
)
_JOINTS = re.compile(
    r"^(?:\W|\b(?:and|but|also|it's|its|it is|so|a|an)\b)+|(?:\W|\b(?:and|but|also|it's|its|it is|so)\b)+$",
    _I,
)
_AND = re.compile(r"^(?:(?:and|but|also|oh|plus)\b[\s,]*)+", _I)
_BOTH = re.compile(r"\b(?:both|two)\b", _I)


@dataclass(frozen=True, slots=True)
class SaidOfIt:
    """`count`: of how many of the last things it is said; 0 is all of them."""

    value: str
    count: int = 1


def said_of_it(text: str) -> SaidOfIt | None:
    """What a sentence says of something that it only points to; None where it names its subject."""
    owned = _OF_IT.match(text)
    if owned is not None:
        return SaidOfIt(owned["value"])
    found = _POINTED.match(text)
    if found is None:
        return None
    many = found["any"] is not None or text.lower().startswith("theyre")
    return SaidOfIt(found["value"], (2 if _BOTH.search(text) else 0) if many else 1)


def without_and(text: str) -> str:
    return _AND.sub("", text)


def without_joints(text: str) -> str:
    """What is left beside a value that was cut out, without the words that joined the two."""
    return _JOINTS.sub("", text)


_PLACED = re.compile(
    rf"^(?:and |but |oh |so )*(?P<which>(?:the |number |task |no\.? ?)?[\w-]+(?: (?:one|task|thing))?)"
    rf"(?:\s+{_BE}|'s)\s+{_FOR}(?P<value>\S.*)$",
    _I,
)


def said_of_place(text: str) -> tuple[str, str] | None:
    """What is said of one of a list by its place: "the second one is for saturday"."""
    found = _PLACED.match(text.strip(" .!"))
    return (found["which"], found["value"]) if found and read_ordinals(found["which"]) else None


# --- what was wrong ---

_FIELDS = {
    "due_date": "day date deadline weekday month year week time hour clock",
    "title": "name title word wording spelling person spelled spelt",
    "priority": "priority urgency importance",
    "": "number amount figure place thing bit part task item entry",
}
_FIELD = {word: field for field, words in _FIELDS.items() for word in words.split()}
_WRONG = frozenset("wrong bad incorrect false mistaken off misheard typo mistake mixed missing".split())  # noqa: SIM905
_WITH_WRONG = frozenset(
    """the a an that that's this it it's its was is were i i've we you you've got have has had gave said put
    typed wrote took chose picked entered up there again due my your in of completely totally quite just
    isn't wasn't aren't weren't sorry oh ah oops no nope hm hmm wait ugh argh not right correct
    and but also too as well""".split()  # noqa: SIM905
)
_RIGHT = ("right", "correct")
_TOKEN = re.compile(r"[\w']+|[,;:.!-]+")
_PAUSES = ",;:.!-"
_THEN = re.compile(
    r"^(?:(?:but|rather|so|please|it|that|this)\s+)*(?:(?:it|that)(?:'s| is| was)|its|should (?:be|have been|"
    r"say|read)|(?:needs|has|ought|was meant|is meant|was supposed) to (?:be|say|read)|must be|"
    r"make (?:it|that)|i (?:mean|meant|said|wanted)(?: to say)?|call it|use|take|let's (?:say|make it|"
    r"take|do)|say)\s+(?=\S)",
    _I,
)
_BEHIND = re.compile(r",?\s+(?:it (?:is|was|should be)|that is|instead|please|is right|is correct)$", _I)
MOST_WRONG = 12  # words and pauses of a clause that says what was wrong


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was wrong about the last change, as far as that is said, and what it should be."""

    field: str
    rest: str


def what_was_wrong(text: str) -> Wrong | None:
    """A correction that begins with a name for what was wrong: "wrong day, should be 1 december"."""
    field, wrong, negated, end, paused = None, "", False, 0, False
    for token in list(_TOKEN.finditer(text))[:MOST_WRONG]:
        word = token.group().lower()
        named = word.removesuffix("'s")
        negated = negated or word == "not" or word.endswith("n't")
        if word[0] in _PAUSES:
            paused = bool(wrong and field is not None)
        elif named in _FIELD:
            field = field or _FIELD[named]
        elif word in _WRONG or (negated and word in _RIGHT):
            wrong = wrong or word
        elif word not in _WITH_WRONG:
            break
        end = token.end()
        if paused:
            break
    if field is None or not wrong:
        return None
    said = text[end:].strip(" ,;:.!-")
    rest = _BEHIND.sub("", _THEN.sub("", said))
    # "Bad day, …" may be about a day; only what goes on like a correction is one.
    if not rest or (rest == said and (wrong in ("bad", "off") or not paused)):
        return None
    return Wrong(field, rest)
