"""Passages searched with the product's own arithmetic, without its database: to fit the relevance score."""

import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steward.knowledge import ranking
from steward.knowledge.relevance import READ
from steward.knowledge.search import CANDIDATES
from steward.knowledge.terms import term_counts
from steward.models.embedding import MiniLMEmbedder

# Of a passage that was read for a question; `elsewhere`: in a library on another subject.
COLUMNS = ("question", "elsewhere", "rank", "logit", "similarity", "covered", "right")


class Library:
    """A source's passages, searched as the product does."""

    def __init__(self, texts: Sequence[str], embedder: MiniLMEmbedder) -> None:
        self.texts, self.embedder = texts, embedder
        self.vectors = embedder.embed(texts)
        self.counts = [term_counts(text) for text in texts]
        self.lengths = np.array([max(1, sum(count.values())) for count in self.counts], np.float64)
        frequency: defaultdict[str, int] = defaultdict(int)
        for count in self.counts:
            for term in count:
                frequency[term] += 1
        self.statistics = ranking.Statistics(len(texts), float(self.lengths.mean()), frequency)

    def ask(self, question: str) -> tuple[list[int], np.ndarray]:
        """What to read, in order, and for each its similarity and covered share."""
        words = term_counts(question)
        counts = np.array([[count.get(term, 0) for term in words] for count in self.counts], np.float64)
        counts = counts.reshape(len(self.texts), len(words))
        similarity = (self.vectors @ self.embedder.embed([question])[0]).astype(np.float64)
        lexical = ranking.bm25(words, counts, self.lengths, self.statistics)
        best = (np.argsort(-scores)[:CANDIDATES].tolist() for scores in (lexical, similarity))
        found = np.array(sorted({index for some in best for index in some}))
        fused = ranking.fuse(lexical[found], similarity[found], weight=ranking.DOCUMENTS.lexical)
        covered = ranking.coverage(words, counts[found], self.statistics)
        first = np.argsort(-fused, kind="stable")[:READ]
        return found[first].tolist(), np.stack([similarity[found][first], covered[first]], axis=1)


def rows(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines()]
