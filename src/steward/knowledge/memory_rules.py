"""What is worth remembering, and when a new statement takes an old one's place. Pure rules on words."""

from dataclasses import dataclass

from steward.contract import linear_re as re
from steward.knowledge.terms import terms

_SMALL_TALK = frozenset(
    terms("""
hey hi hello thanks thank welcome good great nice wow cool awesome amazing sweet lovely perfect sure
see ok okay yes yeah yep no nope bye goodbye night morning afternoon evening care sounds sound
really glad happy please sorry haha lol right exactly absolutely definitely totally hope talk soon
later well oh ah hmm know mean got get it's that's i'm you're let's let fine""")
)
_OF_ONESELF = re.compile(r"\W*(?:i|we)['\u2019]", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SPEAKER = re.compile(r"^[A-Z][\w .'-]{0,30}:\s+")
_NEGATION = re.compile(
    r"\b(not|no longer|never|isn't|aren't|doesn't|don't|won't|stopped|quit|any ?more)\b|n't\b", re.IGNORECASE
)
# Words that tie a subject to a value, each with the relation it means: moving somewhere is living there.
_RELATIONS = {
    **dict.fromkeys(("is", "are", "was", "were"), "is"),
    **dict.fromkeys(("has", "have"), "have"),
    **dict.fromkeys(("live", "lives", "moved"), "live"),
    **dict.fromkeys(("work", "works"), "work"),
    **dict.fromkeys(("prefer", "prefers"), "prefer"),
    **dict.fromkeys(("like", "likes"), "like"),
    **dict.fromkeys(("use", "uses"), "use"),
    **dict.fromkeys(("cost", "costs"), "cost"),
    **dict.fromkeys(("become", "becomes", "became"), "become"),
    **dict.fromkeys(("named", "called"), "call"),
    ":": "value",
}
_HOLDS = re.compile(
    rf"\b(?:(?:is|are|was|were)\s+)?(named|called)\b|\b({'|'.join(k for k in _RELATIONS if k != ':')})\b|(:)",
    re.IGNORECASE,
)
_MANY = frozenset({"have", "like", "use"})  # a second value stands beside the first
_ARTICLES, _PLACES = frozenset({"a", "an", "the"}), frozenset({"in", "at", "to", "into", "near"})
_PREPOSITIONS = frozenset({"on", "from", "for", "with", "by", "after", "before", "until", "since"})
_A_THING, _NAMED = re.compile(r"\s*(the|my|our|your)\s", re.IGNORECASE), re.compile(r"\s*[A-Z]")
_LONGEST_VALUE = 4  # terms; what is longer tells a story and replaces nothing


@dataclass(frozen=True, slots=True)
class _Statement:
    subject: frozenset[str]  # with the relation, unless that is a form of "to be"
    relation: str
    lead: str  # the kind of word that the value begins with
    value: frozenset[str]
    particular: bool  # whether it names one thing or amount: "the deadline is Friday", "is 900"

    @property
    def exclusive(self) -> bool:
        """Whether another value cannot hold beside this one, as with an address; a dog allows for a cat."""
        if self.relation in _MANY or not 0 < len(self.value) <= _LONGEST_VALUE:
            return False
        if self.relation != "is":
            return True
        # "The rent is 900" names one attribute; "Ana is kind" is one of many things that Ana is.
        bare = not self.lead and len(self.subject) == 1 and not self.particular
        return not bare and self.lead != "to"  # "the plan is to ...": one of many things that are planned


def worth_keeping(text: str) -> bool:
    """Whether a sentence in it states something: not a greeting, a thank-you or only a question."""
    body = _SPEAKER.sub("", text.strip())
    return any(_states(sentence) for sentence in _SENTENCE.split(body))


def _states(sentence: str) -> bool:
    words = terms(sentence)
    if sentence.rstrip().endswith("?") or all(word in _SMALL_TALK for word in words):
        return False
    # "Hey Mel!", and not "I'm vegetarian".
    greets = words[0] in _SMALL_TALK and _OF_ONESELF.match(sentence) is None
    return not (greets and len(sentence.split()) <= 3)


def contradicts(new: str, old: str) -> bool:
    """Whether `new` states another value for the same thing: one sentence each, same subject and relation.

    Made to miss rather than to hide a fact that still holds.
    """
    if max(len(new), len(old)) > 300 or new.strip().casefold() == old.strip().casefold():
        return False
    stated, before = _statement(new), _statement(old)
    if stated is None or before is None or not stated.subject or stated.subject != before.subject:
        return False
    if bool(_NEGATION.search(new)) != bool(_NEGATION.search(old)):
        return stated.value == before.value or bool(stated.value & before.value)
    # A value that shares words with the old one adds to it ("allergic to nuts", "allergic to eggs").
    return _of_one_kind(stated, before) and not stated.value & before.value


def replaces(new: str, old: str) -> bool:
    """Whether `new`, of which it is said that it is so now, states the same thing as `old` otherwise."""
    stated, before = _statement(new), _statement(old)
    if stated is None or before is None or not stated.subject or stated.subject != before.subject:
        return False
    return _of_one_kind(stated, before) and stated.value != before.value


def _of_one_kind(stated: _Statement, before: _Statement) -> bool:
    return stated.exclusive and before.exclusive and stated.lead == before.lead


def _statement(text: str) -> _Statement | None:
    body = _SPEAKER.sub("", text.strip())
    sentences = [sentence for sentence in _SENTENCE.split(body) if sentence.strip()]
    if len(sentences) != 1 or body.endswith("?"):
        return None
    plain = _NEGATION.sub(" ", body)
    match = _HOLDS.search(plain)
    if match is None:
        return None
    relation = _RELATIONS[next(filter(None, match.groups())).lower()]
    before, right = plain[: match.start()], plain[match.end() :]
    subject = frozenset(terms(before)) or frozenset(re.findall(r"\w+", before.lower()))
    tied = frozenset({relation}) - {"is", "value"}
    value = frozenset(terms(right))
    particular = any(map(str.isdigit, value)) or bool(_A_THING.match(before) and _NAMED.match(right))
    return _Statement(subject | tied, relation, _lead(right, relation), value, particular)


def _lead(value: str, relation: str) -> str:
    """Places alike, articles alike, every other preposition for itself; nothing for a bare value."""
    first = next(iter(re.findall(r"\w+", value.lower())), "")
    if first == "to" and relation == "is":
        return first
    if first in _PLACES:
        return "place"
    return "article" if first in _ARTICLES else first if first in _PREPOSITIONS else ""
