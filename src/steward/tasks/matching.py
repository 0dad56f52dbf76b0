"""Which task a person means: by substring, by the stems of words, by what words are made of, across typos.

Owns matching only: it never touches a task, and it never guesses between several.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Generic, TypeVar

from steward.contract import linear_re as re
from steward.contract.stems import english_stem

T = TypeVar("T")

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Words that say nothing about which task is meant.
_EMPTY = frozenset({
    "the", "a", "an", "my", "our", "your", "that", "this", "these", "those", "to", "of", "for", "on", "in",
    "at", "and",
    "about", "with", "from", "task", "tasks", "todo", "item", "items", "one", "thing", "reminder",
    "reminders", "entry",
    "some", "please", "it", "is", "me", "i", "up", "off", "out", "new", "get", "do", "all",
})  # fmt: skip
_ALIKE = 0.8
# What English makes a noun of a verb with.
_OF_VERBS = frozenset({
    "ment", "al", "ance", "ence", "ation", "ication", "ition", "tion", "sion", "ion", "ing", "y", "ery",
    "ure", "age",
})  # fmt: skip
SHORTEST_VERB = 3
LONGEST = 1_000  # characters of a reference; no title is as long, and every task is compared with it


@dataclass(frozen=True, slots=True)
class OneMatch(Generic[T]):
    task: T


@dataclass(frozen=True, slots=True)
class SeveralMatches(Generic[T]):
    tasks: tuple[T, ...]


@dataclass(frozen=True, slots=True)
class NoMatch:
    """Nothing fits."""


def match(
    reference: str, tasks: Sequence[T], *, title: Callable[[T], str], hint: str = ""
) -> OneMatch[T] | SeveralMatches[T] | NoMatch:
    """The tasks whose title fits the reference, by the first way that finds any.

    `hint` is a word that may decide between several, such as the verb in "I called mom".
    """
    if len(reference) > LONGEST:
        return NoMatch()
    for way in (_same, _contains, _stems, _derived, _near):
        found = tuple(task for task in tasks if way(reference, title(task)))
        if found:
            return _decide(found, title=title, hint=hint)
    return NoMatch()


def matching(reference: str, tasks: Sequence[T], *, title: Callable[[T], str], hint: str = "") -> list[T]:
    """The same as a list: none, one or several."""
    found = match(reference, tasks, title=title, hint=hint)
    match found:
        case OneMatch(task=task):
            return [task]
        case SeveralMatches(tasks=several):
            return list(several)
        case NoMatch():
            return []


def _decide(found: tuple[T, ...], *, title: Callable[[T], str], hint: str) -> OneMatch[T] | SeveralMatches[T]:
    if len(found) > 1 and hint:
        hinted = tuple(task for task in found if stems(hint) & stems(title(task)))
        found = hinted or found
    return OneMatch(found[0]) if len(found) == 1 else SeveralMatches(found)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold().replace("\u2019", "'")))


def _same(reference: str, title: str) -> bool:
    return bool(_plain(reference)) and _plain(reference) == _plain(title)


def _contains(reference: str, title: str) -> bool:
    """Case-insensitive substring, as written and without "the" and the like."""
    wanted, has = _plain(reference), _plain(title)
    if not wanted:
        return False
    core = " ".join(word for word in wanted.split() if word not in _EMPTY)
    return wanted in has or (bool(core) and core in has)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    irregular = _IRREGULAR.get(word, word)
    return english_stem(irregular)


def stems(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning."""
    return frozenset(stem(word) for word in _plain(text).split() if word not in _EMPTY)


def _stems(reference: str, title: str) -> bool:
    wanted = stems(reference)
    return bool(wanted) and wanted <= stems(title)


def _derived(reference: str, title: str) -> bool:
    """Every word of the reference is a word of the title, or made from one: "payment" from "pay"."""
    wanted, has = _words(reference), _words(title)
    return bool(wanted) and all(
        any(stem(word) == stem(other) or _made_from(word, other) or _made_from(other, word) for other in has)
        for word in wanted
    )


def _words(text: str) -> list[str]:
    return [_IRREGULAR.get(word, word) for word in _plain(text).split() if word not in _EMPTY]


def _made_from(noun: str, verb: str) -> bool:
    """ "Payment" of "pay", "reservation" of "reserve", "application" of "apply"."""
    if len(verb) < SHORTEST_VERB or len(noun) <= len(verb):
        return False
    roots = {verb, verb[:-1]} if verb.endswith(("e", "y")) else {verb}
    return any(noun.removeprefix(root) in _OF_VERBS for root in roots if noun.startswith(root))


def _near(reference: str, title: str) -> bool:
    """Every word of the reference has a near twin in the title; short words must be the same."""
    wanted, has = stems(reference), stems(title)
    return bool(wanted) and all(any(_twins(word, other) for other in has) for word in wanted)


def _twins(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < 4 or abs(len(one) - len(other)) > 2:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= _ALIKE


# The past of strong verbs: a closed class of English. The last ones are other words for the same act.
_STRONG = """
begin began begun; bite bit bitten; blow blew blown; break broke broken; bring brought; build built; buy
bought; catch caught; choose chose chosen; creep crept; deal dealt; dig dug; do did done; draw drew drawn;
drink drank drunk; drive drove driven; eat ate eaten; feed fed; fight fought; find found; fly flew flown;
forget forgot forgotten; freeze froze frozen; get got gotten; give gave given; go went gone; grind ground;
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; lay laid; lead
led; leave left; lend lent; light lit; lose lost; make made; mean meant; meet met; pay paid; ride rode
ridden; ring rang rung; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn; shake
shook shaken; shoot shot; show shown; sing sang sung; sink sank sunk; sit sat; sleep slept; sow sown; speak
spoke spoken; spend spent; spin spun; steal stole stolen; stick stuck; strike struck; sweep swept; swim swam
swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw
thrown; understand understood; wake woke woken; wear wore worn; weave wove woven; win won; wind wound; write
wrote written; buy purchased; call phoned rang rung; child children; kid kids
"""
_IRREGULAR = {
    past: present for line in _STRONG.split(";") for present, *others in [line.split()] for past in others
}
