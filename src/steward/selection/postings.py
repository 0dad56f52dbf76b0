"""An inverted index over tools' words: BM25F over name, opening, description and parameters.

Owns the arrays. A field's length is compared with a usual one instead of the average of the moment, so that a
tool's weights depend on nothing but the tool, and adding one touches no other.
"""

import math
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steward.selection.definitions import Definition
from steward.selection.lexical import words

SATURATION = 1.2
LENGTH = 0.6
# How much a word weighs where it stands, and how many words usually stand there.
FIELDS = {"names": (2.5, 3), "opening": (1.0, 9), "told": (0.6, 18), "parameters": (0.4, 12)}


@dataclass(frozen=True, slots=True)
class WordScores:
    """What the words of a request say for every tool."""

    score: NDArray[np.float32]  # BM25F as a share of what the request's words could give
    name: NDArray[np.float32]  # how much of the tool's name the request uses
    query: NDArray[np.float32]  # how much of the request the tool's words cover


class Postings:
    def __init__(self) -> None:
        self._count = 0
        self._rows: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._weights: defaultdict[str, array[float]] = defaultdict(lambda: array("f"))
        self._named: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._name_weights: NDArray[np.float32] | None = None  # until a tool is added

    def add(self, row: int, tool: Definition) -> None:
        """Rows are added in order, each once."""
        assert row == self._count
        self._count += 1
        fields = {
            "names": words(f"{tool.names} {' '.join(tool.spec.aliases)} {tool.spec.title or ''}"),
            "opening": words(tool.opening),
            "told": words(f"{tool.about} {tool.server} {tool.spec.category or ''}"),
            "parameters": words(tool.parameters),
        }
        weights: defaultdict[str, float] = defaultdict(float)
        for field, (weight, usual) in FIELDS.items():
            shortness = 1 - LENGTH + LENGTH * len(fields[field]) / usual
            for word, times in Counter(fields[field]).items():
                weights[word] += weight * times / shortness
        for word, weight in weights.items():
            self._rows[word].append(row)
            self._weights[word].append(weight / (weight + SATURATION))
        for word in dict.fromkeys(words(tool.names)):
            self._named[word].append(row)
        self._name_weights = None

    def find(self, query: str) -> WordScores:
        score, covered, named = (np.zeros(self._count, np.float32) for _ in range(3))
        total = 0.0
        for word, times in Counter(words(query)).items():
            rare = self._rarity(word)
            total += rare * times
            if word not in self._rows:
                continue
            rows = np.frombuffer(self._rows[word], np.int32)
            score[rows] += np.float32(rare * times) * np.frombuffer(self._weights[word], np.float32)
            covered[rows] += np.float32(rare * times)
            if word in self._named:
                named[np.frombuffer(self._named[word], np.int32)] += np.float32(rare)
        whole = np.float32(max(total, 1e-6))
        named /= self._worth_of_names()
        return WordScores(score / whole, np.minimum(named, 1), covered / whole)

    def _worth_of_names(self) -> NDArray[np.float32]:
        if self._name_weights is None:
            weights = np.full(self._count, 1e-6, np.float32)
            for word, rows in self._named.items():
                weights[np.frombuffer(rows, np.int32)] += np.float32(self._rarity(word))
            self._name_weights = weights
        return self._name_weights

    def _rarity(self, word: str) -> float:
        having = len(self._rows[word]) if word in self._rows else 0
        return math.log(1 + (self._count - having + 0.5) / (having + 0.5))
