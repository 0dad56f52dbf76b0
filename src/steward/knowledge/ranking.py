"""How candidates are put in order: pure arithmetic on scores, the same for documents and memories.

Owns BM25, the fusion of lexical and vector scores, and the pull that similar candidates have on one another.
Knows nothing of storage, of models or of what a passage is. The weights were chosen by measurement:
docs/decisions/0031-search-fusion.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
K1, B = 1.5, 0.75
# Term counts are kept as four classes (a tsvector's weights); BM25 saturates, so that nothing is lost.
COUNT_CLASSES = (1.0, 2.0, 3.4, 6.0)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 must know of the whole collection."""

    passages: int
    average_length: float
    frequency: Mapping[str, int]  # in how many passages a term occurs

    def weight(self, term: str) -> float:
        found = min(self.frequency.get(term, 0), self.passages)
        return math.log(1 + (self.passages - found + 0.5) / (found + 0.5))


@dataclass(frozen=True, slots=True)
class Weights:
    lexical: float  # against the vector's share, which is the rest
    reranked: float  # the cross-encoder's share of the sum
    neighbours: float  # how much of a score comes from candidates like it


DOCUMENTS = Weights(lexical=0.45, reranked=0.35, neighbours=0.3)
MEMORIES = Weights(lexical=0.5, reranked=0.65, neighbours=0.0)
_NEIGHBOUR_SCALE = 0.05
_LOGIT_NOISE = 1.0


def count_class(count: int) -> int:
    """0 to 3: which of COUNT_CLASSES stands for this many occurrences."""
    return 0 if count <= 1 else 1 if count == 2 else 2 if count <= 4 else 3


def bm25(
    query: Mapping[str, int], counts: NDArray[np.float64], lengths: NDArray[np.float64], stats: Statistics
) -> Scores:
    """`counts` has a row a passage and a column a query term, in the mapping's order."""
    weight = np.array([stats.weight(term) * times for term, times in query.items()])
    norm = K1 * (1 - B + B * lengths / max(stats.average_length, 1.0))
    return (weight * counts * (K1 + 1) / (counts + norm[:, None])).sum(axis=1) if len(query) else norm * 0.0


def coverage(query: Mapping[str, int], counts: NDArray[np.float64], stats: Statistics) -> Scores:
    """How much of the query, by the weight of its terms, a passage mentions: 0 to 1."""
    weight = np.array([stats.weight(term) for term in query])
    total = weight.sum()
    return (counts > 0) @ weight / total if total else np.zeros(len(counts))


def similarity(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> Scores:
    """Cosines. A row of zeros stands for a missing vector and counts as the others do on average."""
    cosines = (vectors @ query).astype(np.float64)
    there = vectors.any(axis=1)
    if there.any():
        cosines[~there] = cosines[there].mean()
    return cosines


def standardise(scores: Scores, *, least_spread: float = 1e-9) -> Scores:
    """Mean 0, spread 1. A spread below the least is noise and is not blown up."""
    return (scores - scores.mean()) / max(float(scores.std()), least_spread)


def fuse(lexical: Scores, similarity: Scores, *, weight: float) -> Scores:
    return weight * standardise(lexical) + (1 - weight) * standardise(similarity)


def blend(fused: Scores, logits: Scores, *, weight: float) -> Scores:
    """The cross-encoder's view beside the fusion's; candidates it did not read count as its worst."""
    if not len(logits):
        return standardise(fused)
    read = standardise(logits, least_spread=_LOGIT_NOISE)
    unread = np.full(len(fused) - len(logits), read.min())
    return (1 - weight) * standardise(fused) + weight * np.concatenate([read, unread])


def lean_on_neighbours(scores: Scores, vectors: NDArray[np.float32], *, share: float) -> Scores:
    """Relevant passages resemble each other: each score moves towards those of its nearest candidates."""
    if share == 0 or len(scores) < 3:
        return scores
    nearness = np.exp((vectors @ vectors.T - 1) / _NEIGHBOUR_SCALE).astype(np.float64)
    np.fill_diagonal(nearness, 0)
    total = nearness.sum(axis=1)
    pulled = np.divide(nearness @ scores, total, out=scores.copy(), where=total > 1e-9)
    return (1 - share) * scores + share * pulled


def duplicates(vectors: NDArray[np.float32], texts: Sequence[str], *, alike: float) -> list[int | None]:
    """For each candidate in order, the earlier one that says the same, if any."""
    same = vectors @ vectors.T
    first: dict[str, int] = {}
    found: list[int | None] = []
    for index, text in enumerate(texts):
        twin = first.setdefault(" ".join(text.split()).casefold(), index)
        if twin == index:
            close = [i for i in range(index) if found[i] is None and same[index, i] >= alike]
            found.append(close[0] if close else None)
        else:
            found.append(twin)
    return found
