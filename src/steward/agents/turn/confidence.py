"""How sure we are of a call, by our own evidence. A model's opinion of itself counts for nothing.

Two things are looked at: how well the tool fits what the person said (the ranker's score), and how much
of the arguments comes from what was said or from what tools returned, rather than from nowhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from steward.contract import linear_re as re
from steward.contract.ports import ToolRanker
from steward.contract.tool import ToolSpec

GROUNDED_SHARE = 0.8  # of the words of a text that were seen before, for it to count as seen
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    tool: ToolSpec
    arguments: Mapping[str, Any]
    utterance: str
    results: Sequence[str]  # what tools returned in this conversation, as text


Confidence = Callable[[Evidence], float]


def no_confidence(_: Evidence) -> float:
    """Absent means none: what asks below a threshold asks."""
    return 0.0


def grounded_confidence(ranker: ToolRanker) -> Confidence:
    def confidence(evidence: Evidence) -> float:
        ranked = ranker.rank(evidence.utterance, [evidence.tool], limit=1)
        fit = ranked[0].score if ranked else 0.0
        return round(max(0.0, min(1.0, fit)) * grounded_share(evidence), 4)

    return confidence


def grounded_share(evidence: Evidence) -> float:
    """The part of the arguments that somebody said or some tool returned; 1 when there are none."""
    seen = set(_words(evidence.utterance))
    for result in evidence.results:
        seen.update(_words(result))
    checks = [_is_seen(leaf, seen) for leaf in leaves(evidence.arguments)]
    return sum(checks) / len(checks) if checks else 1.0


def leaves(value: Any) -> Iterator[str]:
    """The texts and numbers inside arguments. Truth values are choices, not facts."""
    match value:
        case bool() | None:
            return
        case Mapping():
            for inner in cast("Mapping[str, Any]", value).values():
                yield from leaves(inner)
        case list() | tuple():
            for inner in cast("Sequence[Any]", value):
                yield from leaves(inner)
        case _:
            yield str(value)


def _is_seen(leaf: str, seen: set[str]) -> bool:
    words = _words(leaf)
    return not words or sum(word in seen for word in words) / len(words) >= GROUNDED_SHARE


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
