"""Finding tools by words: BM25F over name, description and parameters.

Pure and dependency-light. Owns no meaning beyond words: a ranker that understands more implements the same
port. The index is kept until the tools change.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from steward.contract.ports import RankedTool
from steward.contract.stems import english_stem
from steward.contract.tool import ToolSpec
from steward.selection.definitions import Definition, name_words

SATURATION = 1.2
LENGTH = 0.6
WEIGHTS = {"name": 4.0, "description": 1.5, "parameters": 0.5}
STOP = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "give", "has", "have",
    "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "please", "show", "that", "the", "this",
    "to", "use", "what", "when", "where", "which", "who", "will", "with", "you", "your",
})  # fmt: skip


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    return english_stem(word)


def words(text: str) -> list[str]:
    """Stems of a text: `getUserName`, `get_user_name` and `get user names` read the same."""
    return [stem(word) for word in name_words(text).split() if word not in STOP]


@dataclass(frozen=True, slots=True)
class _Index:
    tools: tuple[ToolSpec, ...]
    weights: Mapping[str, tuple[tuple[int, float], ...]]  # stem -> (tool, weighted frequency)
    rarity: Mapping[str, float]


class LexicalRanker:
    def __init__(self) -> None:
        self._key: tuple[str, ...] | None = None
        self._index = _Index((), {}, {})

    def rank(self, query: str, tools: Sequence[ToolSpec], *, limit: int) -> tuple[RankedTool, ...]:
        index = self._indexed(tools)
        asked = Counter(words(query))
        scores: defaultdict[int, float] = defaultdict(float)
        best = 0.0
        for word, times in asked.items():
            rarity = index.rarity.get(word)
            if rarity is None:
                best += times * math.log(1 + len(index.tools) + 0.5)  # a word nobody has counts against all
                continue
            best += times * rarity
            for position, frequency in index.weights[word]:
                scores[position] += times * rarity * frequency / (frequency + SATURATION)
        found = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
        return tuple(RankedTool(index.tools[position], min(1.0, score / best)) for position, score in found)

    def _indexed(self, tools: Sequence[ToolSpec]) -> _Index:
        key = tuple(tool.definition_hash for tool in tools)
        if key != self._key:
            self._index, self._key = _build(tools), key
        return self._index


def _build(tools: Sequence[ToolSpec]) -> _Index:
    fields = [_fields(tool) for tool in tools]
    usual = {
        name: max(1.0, sum(len(field[name]) for field in fields) / max(1, len(fields))) for name in WEIGHTS
    }
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for position, field in enumerate(fields):
        for word, frequency in _frequencies(field, usual).items():
            postings[word].append((position, frequency))
    count = len(tools)
    rarity = {
        word: math.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5))
        for word, found in postings.items()
    }
    return _Index(tuple(tools), {word: tuple(found) for word, found in postings.items()}, rarity)


def _frequencies(field: Mapping[str, list[str]], usual: Mapping[str, float]) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for name, weight in WEIGHTS.items():
        shortness = 1 - LENGTH + LENGTH * len(field[name]) / usual[name]
        for word, times in Counter(field[name]).items():
            found[word] += weight * times / shortness
    return found


def _fields(tool: ToolSpec) -> dict[str, list[str]]:
    definition = Definition(tool)
    names = " ".join((tool.name, *tool.aliases, tool.title or "", tool.category or ""))
    return {
        "name": words(names),
        "description": words(" ".join((definition.about, *tool.examples))),
        "parameters": words(definition.parameters),
    }
