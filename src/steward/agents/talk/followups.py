"""Sentences that only mean something after another one: "the other one", "same for bread", "change it back".

Owns telling them from whole requests, and what is left of them to look up. Pure: what they refer to is found
by whoever follows them (`following`).
"""

from dataclasses import dataclass

from steward.agents.talk.taking_back import TakeBack, how_many, read_take_back
from steward.agents.talk.whole import of_the_list
from steward.contract import linear_re as re
from steward.language.corrections import said_of_it, what_was_wrong, without_and
from steward.language.tidy import with_apostrophes
from steward.language.wishes import ORDERS
from steward.models.planner.words import intention, is_question
from steward.tasks.matching import stem
from steward.tasks.verbs import TASK_VERBS

LONGEST = 8  # words; whoever says more says it whole
MOST_SAID = 1_000  # characters, with all that is said around it
SHORT = 4  # words of a bare date or a bare priority: "tomorrow please"


@dataclass(frozen=True, slots=True)
class Instead:
    """Something else than what was taken last: a thing, a date or a value."""

    rest: str
    other: bool = False  # "the other one"
    old: str = ""  # what was wrong, where that is said: "Tim, not Tom"
    sure: bool = True  # something was taken back in so many words
    did: str = ""  # how what was done in truth was done: "paid" the vet
    field: str = ""  # what was wrong, where it was named: the name, the day


@dataclass(frozen=True, slots=True)
class SameFor:
    """What was done or asked last, for something more."""

    rest: str
    more: tuple[str, ...] = ()  # further things: "the milk too, and the eggs"
    does: bool = False  # something of its own to do: another task, after one was added
    other: bool = False  # "the other call": what is left of its kind


@dataclass(frozen=True, slots=True)
class Naming:
    """What was spoken of last is to be called so."""

    title: str


@dataclass(frozen=True, slots=True)
class Valued:
    """What was spoken of last is for then, or so urgent."""

    value: str
    bare: bool = False  # nothing else was said: "tomorrow please"
    count: int | None = None  # so many of the last things; 0 is all of them


@dataclass(frozen=True, slots=True)
class Repeating:
    """What was done last is to come again."""

    rule: str


FollowUp = TakeBack | Instead | SameFor | Naming | Valued | Repeating

_I = re.IGNORECASE
_OPENING = re.compile(
    r"^(?:(?:oh|ah|ok|okay|well|hm+|oops|whoops|sorry|please|wait|hold on|hang on|actually|my mistake|my "
    r"bad|i lied|scratch that|strike that|correction|on second thoughts?)\b[\s,.:!-]*)+",
    _I,
)
_DROPPED = re.compile(
    r"^(?:(?:oh|no|ok|actually)\b[\s,]*)*(?:never ?mind|forget (?:it|"
    r"that))\s*[,;.]\s*(?P<rest>\S+\s+\S.*)$",
    _I,
)
_DENIAL = re.compile(
    r"^(?:no|nope|nah|wrong one|wrong|(?:that|this|it)(?:'s| is| was) the wrong (?:one|task|thing)|"
    r"not (?:that|this)(?: one)?|(?:that|this|it)(?:'s| is| was) (?:wrong|"
    r"not right|not "
    r"correct|incorrect|not it))\b[\s,.!-]*(?=\S)",
    _I,
)
_MEANT = re.compile(
    r"^(?:(?:but|rather|i (?:mean|meant|said|wanted)(?: to say)?|it(?:'s| is| was)|(?:that|"
    r"it) should (?:be|say|read)|"
    r"make (?:it|that))\b[\s,]*)+",
    _I,
)
_REGRET = re.compile(r"^(?:oops|whoops|sorry|actually|my mistake|my bad|wait|hold on|oh no)\b", _I)
_BETTER = re.compile(
    r"\s+(?:(?:is|would be|'s|works|suits me|fits|might be)\s+(?:much |a bit )?"
    r"(?:better|enough|fine|plenty)(?: for me)?|will do|"
    r"instead|rather|please|then)$|,?\s+(?:i mean(?:t)?|with an? \w{1,2})$",
    _I,
)
_DENIED = re.compile(
    r"^(?:.{0,20}\b(?:no|nope|nah|wrong|sorry|oops|whoops|correction|mistake|bad|actually|not)\b|"
    r".{0,30}\b(?:i mean|i meant|i said|i wanted|should (?:be|say)))",
    _I,
)
_LATE_HEDGE = re.compile(r",?\s+(?:sorry|my mistake|i mean(?:t)?|actually)$", _I)
_OTHER_NAMED = re.compile(r"^(?:the )?other (?:one|task|thing)\s*[,:]\s*(?=\S)", _I)
# What is said of it beside its name: "the tape as well, I need both".
_BESIDE = re.compile(r",\s+(?:because\s+)?(?:i|we|it|they|that|those|she|he|both)(?:'\w+)?\s.*$", _I)
_ALSO = re.compile(r"\s+(?:too|as well|also)(?=\s*(?:,|$))", _I)
_PARTS = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_OTHER = re.compile(r"^(?:the )?other(?: one)?\W*$", _I)
_OTHER_OF_KIND = re.compile(r"^(?:the |my )?others?\b\s*(?P<kind>.*)$", _I)
_SAME = re.compile(
    r"^(?:and )?(?:(?:do )?(?:the )?same (?:thing )?(?:again )?(?:for|with|to|goes for|about)|"
    r"(?:what|how) about|"
    r"(?:and )?(?:do|finish|complete|mark|delete|remove) that (?:for|with|to)|likewise(?: for)?|"
    r"ditto(?: for)?)\s+"
    r"(?P<rest>.+)$",
    _I,
)
_AND = re.compile(r"^(?:and|also|plus)(?: also)?\s+(?P<rest>.+)$", _I)
_TOO = re.compile(r"^(?P<rest>.+?,?\s+(?:too|as well|also)(?:,.*)?)$", _I)
_ONLY = re.compile(r"^(?:only|just)\s+(?P<rest>(?:the )?.+)$", _I)
_REPEATING = re.compile(
    r"^(?:(?:make|have|let|set) )?(?:it|that|this|that one|this one) (?:to )?(?:be )?(?:a )?"
    r"(?:(?:recur(?:ring)?|repeat(?:ing|ed)?|repeats?|come back)\b[\s,]*)?(?:task )?"
    r"(?P<rule>(?:every|each|daily|weekly|monthly|yearly)\b.*)$"
    r"|^repeat (?:it|that|this) (?P<also>(?:every|each|daily|weekly|monthly|yearly)\b.*)$",
    _I,
)
_ARTICLE = re.compile(r"^(?:the|my|our)\s+(?=\S)", _I)
_FINITE = re.compile(r"\s(?:is|are|was|were|do|does|did|have|has|had|will|can|could|should)\s", _I)
_NOT_BUT = re.compile(r"^not (?P<old>[^,]{1,60}?)(?:,\s*(?:but )?|\s+but\s+)(?P<new>.+)$", _I)
_BUT_NOT = re.compile(
    r"^(?P<new>[^,]{1,60}?)(?:,\s*(?:and )?not|\s+(?:and )?not|,?\s+instead of|"
    r",?\s+rather than)\s+(?P<old>(?!yet\b|now\b|today\b).{1,60})$",
    _I,
)
_STILL = re.compile(
    r"^(?P<what>[^,;]{2,80}?)\s*[,;]\s*(?:and |but )?.*\b(?:still|yet|not done|haven't|isn't done)\b.*$", _I
)
_I_DID = re.compile(
    r"^(?P<what>.+?)\s+(?:that |which )?(?:i|we)(?:'ve| have)? (?:just )?(?P<verb>[a-z]+)$", _I
)
_HAVENT = re.compile(
    r"^i (?:haven't|didn't|have not|did not)(?: yet)?(?: (?:do|done) (?:it|"
    r"that))?\s*[,;]\s*(?:but )?(?=i\b)",
    _I,
)
_COURTEOUS = re.compile(r"(?:[\s,]+(?:please|thanks|thank you|then))+$", _I)
_I_HAVE = re.compile(
    r"^(?:i|we)(?:'ve| have)?(?: just| actually|"
    r" only)*\s+(?P<verb>[a-z]+)\s+(?P<what>\S.*)$",
    _I,
)
_SAY_SO = re.compile(r"^(?:that(?:'s| is| was)|it(?:'s| is| was))\s+", _I)
_NAMING = re.compile(
    r"^(?:(?:and|but|please|can you|could you)\s+)*(?:call|name|rename|title|label)\s+(?:it|that|this|"
    r"that one)\s+"
    r"(?:(?:to|as)\s+)?(?P<title>\S.*?)(?:\s+instead)?$",
    _I,
)
_ALL_VALUED = re.compile(
    r"^(?:and |but )*(?:make|set|move|put|give|push) (?P<them>them both|both(?: of (?:them|those))?|"
    r"all (?:two|three|four|five)(?: of (?:them|those))?|them all|all of (?:them|those)|them) "
    r"(?:an? |to |for |on |as |at |be |due )*(?P<value>\S.*)$",
    _I,
)
_FIRST = re.compile(r"^(?:and |but )*(?:do|put) (?:it|that|this)(?: one)? first\b", _I)
_RULE = re.compile(
    r"^(?:and )?(?P<rule>(?:every|each)\s+\S.*?|daily|weekly|monthly|yearly)(?:,?\s+(?:in fact|"
    r"actually|really|please|from now on))?$",
    _I,
)
_COURTESY = re.compile(
    r"^(?:thanks?|thank you|cheers|please|not now|not yet|later|never ?mind|problem|way|need|idea|"
    r"worries|more|"
    r"nothing|none|good|fine|great|all good|enough|that(?:'s| is) (?:it|all|fine|ok)|ok(?:ay)?|yes|no)\b",
    _I,
)
_WHOLE = re.compile(
    r"^(?:i|we|you|it|there|please|can|could|would|will|do|does|did|is|are|was|were|let's|let)\b", _I
)


def read_follow_up(text: str) -> FollowUp | None:  # noqa: PLR0911 - one line a kind
    """What a sentence asks of the turn before; None where it stands on its own."""
    if len(text) > MOST_SAID:
        return None
    said = _COURTEOUS.sub("", " ".join(with_apostrophes(text).split()).strip(" .!?"))
    dropped = _DROPPED.match(said)
    said = dropped["rest"] if dropped else said
    further = without_and(said)  # "and make it urgent" is of the last thing, and no further one
    said = further if _MEANT.match(further) or said_of_it(further) else said
    opened = _OPENING.sub("", said)
    bare, hedged = _without_hedges(said)
    back = read_take_back(said)
    if back is not None:
        return back
    again = _REPEATING.match(opened) or _RULE.match(opened)
    if again is not None:
        return Repeating(next(rule for rule in again.groupdict().values() if rule))
    named = _NAMING.match(opened)
    if named is not None:
        return Naming(named["title"].strip(" \"'"))
    wrong = what_was_wrong(said)
    if wrong is not None and len(wrong.rest.split()) <= LONGEST:
        return Instead(wrong.rest, field=wrong.field)
    found = _instead(said, bare, hedged=hedged)
    if found is not None:
        return found
    several = _ALL_VALUED.match(opened)
    if several is not None:
        return Valued(several["value"], count=how_many(several["them"]))
    if _FIRST.match(opened):
        return Valued("high priority")
    new = _BUT_NOT.match(opened)
    of_it = said_of_it(new["new"] if new else opened)
    if of_it is not None and len(of_it.value.split()) <= LONGEST:
        rule = _RULE.match(of_it.value)
        if rule is not None and of_it.count == 1:
            return Repeating(rule["rule"])
        return Valued(of_it.value, count=None if of_it.count == 1 else of_it.count)
    short = (
        len(opened.split()) <= SHORT and not hedged and not _AND.match(opened) and _names_something(opened)
    )
    return Valued(opened, bare=True) if short else None


def _instead(said: str, bare: str, *, hedged: bool) -> Instead | SameFor | None:  # noqa: PLR0911 - one line a form
    """Something else than what was taken; or the same for something more, where nothing was taken back."""
    if not bare:
        return None
    still = _STILL.match(bare) if hedged else None
    named = still["what"] if still else bare
    of_it = said_of_it(named) if hedged else None
    named = of_it.value if of_it else named
    if len(named.split()) > LONGEST:
        return None
    if _OTHER.match(named):
        return Instead(named, other=True)
    same = None if hedged else _same(_OPENING.sub("", said))
    if same is not None:
        return same
    either = _NOT_BUT.match(named) or _BUT_NOT.match(named)
    new, old = (either["new"], either["old"]) if either else (named, "")
    preferred = _BETTER.sub("", new)
    if not hedged and not old and preferred == new:
        return None
    if hedged and _REGRET.match(said):
        preferred = _SAY_SO.sub("", preferred)
    did = _I_DID.match(preferred) if hedged else None
    preferred = did["what"] if did else preferred
    have = _I_HAVE.match(preferred) if hedged else None
    if have is not None and stem(have["verb"].lower()) != have["verb"].lower():
        return Instead(have["what"], old=old, did=have["verb"])
    sure = bool(old) or _DENIED.search(said) is not None or preferred != new
    if not _names_something(preferred, orders=not hedged):
        return None
    return Instead(preferred, old=old, sure=sure)


def _without_hedges(said: str) -> tuple[str, bool]:
    """What is left of a sentence without what opens it, and whether that took something back."""
    left, hedged = said, False
    while True:
        shorter = _OPENING.sub("", left)
        denied = _HAVENT.sub("", _MEANT.sub("", _DENIAL.sub("", _LATE_HEDGE.sub("", shorter))))
        denied = _OTHER_NAMED.sub("", denied)
        hedged = hedged or denied != shorter or _REGRET.match(left) is not None
        if denied == left:
            return left, hedged
        left = denied


def _same(said: str) -> SameFor | None:
    said = _BESIDE.sub("", said) if _ALSO.search(_BESIDE.sub("", said)) else said
    for pattern in (_SAME, _AND, _TOO, _ONLY):
        found = pattern.match(said)
        if found is not None:
            named = _ALSO.sub("", found["rest"])
            again = _SAME.match(named)  # "and the same for bread"
            named = again["rest"] if again else named
            other = _OTHER_OF_KIND.match(named)
            if other is not None and not of_the_list(named):
                return SameFor(other["kind"], other=True)
            if of_the_list(named) or _names_something(named):
                several = _PARTS.split(named) if _ALSO.search(found.group()) else []
                return SameFor(named, more=tuple(several) if len(several) > 1 else ())
            return SameFor(named, does=True) if pattern in (_AND, _TOO) and _is_to_do(named) else None
    return None


def _is_to_do(words: str) -> bool:
    """Whether these say what is to be done, and not by us: "hire a rotavator"."""
    first = words.split(maxsplit=1)[0].lower()
    return first in TASK_VERBS and first not in ORDERS and " " in words and not _COURTESY.match(words)


def _names_something(words: str, *, orders: bool = True) -> bool:
    """Whether these are no sentence of their own, which would say what is to be done.

    `orders`: verbs of tasks make an order of it; else only those that are said to us.
    """
    asks = is_question(words) and not re.match(r"^(?:what|how) about\b", words, _I)
    if asks or _COURTESY.match(words) or _WHOLE.match(words) or _FINITE.search(words):
        return False
    first = words.split(maxsplit=1)[0].lower() if words.split() else ""
    ordered = first in ORDERS or (orders and (intention(first) is not None or first in TASK_VERBS))
    return bool(first) and (_ARTICLE.match(words) is not None or not ordered)
