"""Which of several tools that all seem to fit is to be preferred: by what their descriptions say about it.

Owns whether the condition of such an instruction holds for what was said, and what that does to the ranks.
An instruction decides between tools that fit anyway; it never makes one fit.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from steward.contract import linear_re as re
from steward.contract.preferences import Preference
from steward.models.planner.words import STOP, split_name, stem, stems, word_set

REACH = 0.3  # tools this far behind the best may be what is meant, where a description says so
NEAR = 0.12  # this close, a condition that does not hold speaks for the other one
ALWAYS, BY_DEFAULT = 0.5, 0.2  # what an instruction is worth without a condition, and where it does not hold
HOLDS = 0.5  # the share of a condition that must be met
APART = 0.07  # the distance that a preference makes
_ALTERNATIVES = re.compile(r"\s*(?:,|;|\bor\b|/)\s*(?:or\s+)?", re.IGNORECASE)
_FILLER = frozenset(
    map(
        stem,
        word_set(
            """person user you they somebody someone ask asks asked want wants need needs request requests
            question questions something anything thing things case cases word words tool tools other already
            kind kinds sort given use used using"""
        ),
    )
)

Likeness = Callable[[str, str], float]  # of two texts, 0 to 1


class PreferableTool(Protocol):
    """A tool as far as preferences look at it."""

    @property
    def name(self) -> str: ...
    @property
    def own_words(self) -> frozenset[str]: ...
    @property
    def preferences(self) -> Sequence[Preference]: ...


T = TypeVar("T", bound=PreferableTool)


def preferred(
    said: str, ranked: Sequence[tuple[T, float]], *, fits: float, likeness: Likeness | None = None
) -> list[tuple[T, float]]:
    """The same tools; scores change hands where a description says which tool is to be preferred."""
    best = max((score for _, score in ranked), default=0.0)
    group = {tool.name: score for tool, score in ranked if score >= max(fits, best - REACH)}
    tools = [tool for tool, _ in ranked if tool.name in group]
    if len(tools) < 2 or not any(tool.preferences for tool in tools):
        return list(ranked)
    judge = _Judge(said, likeness)
    for first in tools:
        for second in tools:
            if first is second or group[first.name] - group[second.name] > APART:
                continue
            near = abs(group[first.name] - group[second.name]) < NEAR
            if judge.speaks_for(first, second, near=near) > 0:
                higher = max(group[first.name], group[second.name])
                group[first.name] = higher
                group[second.name] = min(group[second.name], round(higher - APART, 4))
    return [(tool, group.get(tool.name, score)) for tool, score in ranked]


class _Judge:
    """What the instructions of two tools are worth for one utterance."""

    def __init__(self, said: str, likeness: Likeness | None) -> None:
        self._said = said
        self._stems = frozenset(stems(said))
        self._likeness = likeness

    def speaks_for(self, first: PreferableTool, second: PreferableTool, *, near: bool) -> float:
        """How much both descriptions together say for the first one; below zero, for the second."""
        common = first.own_words & second.own_words
        own = (each for each in first.preferences if _means(each, second))
        others = (each for each in second.preferences if _means(each, first))
        worth = [self._worth(each, common, near=near) * (1 if each.favours else -1) for each in own]
        worth += [-self._worth(each, common, near=near) * (1 if each.favours else -1) for each in others]
        return sum(worth)

    def _worth(self, said: Preference, common: frozenset[str], *, near: bool) -> float:
        if not said.when:
            return ALWAYS
        share = self._share(said.when, common)
        holds = share >= HOLDS
        if said.unless:
            return -share if holds else ALWAYS
        if holds:
            return share
        return -BY_DEFAULT if said.only or (near and said.other is not None) else 0.0

    def _share(self, when: str, common: frozenset[str]) -> float:
        """How much of the condition is met by what was said; of alternatives, the one that is met best.

        Words that both tools have in common tell nothing.
        """
        told = [frozenset(stems(each)) - common - _FILLER for each in _ALTERNATIVES.split(when)]
        by_words = max(len(each & self._stems) / len(each) if each else 0.0 for each in told)
        if by_words >= HOLDS or self._likeness is None:
            return by_words
        said = _telling(self._said, common)
        return max(by_words, self._likeness(_telling(when, common), said) if said else 0.0)


def _telling(text: str, common: frozenset[str]) -> str:
    """The words of a text that tell two tools apart."""
    words = split_name(text)
    return " ".join(word for word in words if word not in STOP and stem(word) not in common | _FILLER)


def _means(said: Preference, other: PreferableTool) -> bool:
    """Whether an instruction speaks of this other tool. A server's name in front may be left out."""
    if said.other is None:
        return True
    named, name = said.other.casefold(), other.name.casefold()
    return name == named or name.rpartition("__")[2] == named
