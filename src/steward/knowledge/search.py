"""Search: a question in, passages with citations out.

Owns the steps: terms and vector of the query, candidates from the store, fusion, re-ranking, relevance,
folding of near-duplicates. Does not own the arithmetic (ranking, relevance), where candidates come from, or
which models run.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from steward.contract.ports import Embedder, Reranker
from steward.knowledge import ranking
from steward.knowledge.model import Hit, QueryError
from steward.knowledge.ports import Candidates, KnowledgeStore, Passage, PassageFilters
from steward.knowledge.ranking import Scores, Weights
from steward.knowledge.relevance import NOTHING, in_order, relevance
from steward.knowledge.terms import terms
from steward.knowledge.wording import with_headers

LONGEST_QUERY = 10_000
CANDIDATES = 100  # of each kind
POOL = 50  # the fusion's best, among which the order is refined
READING = 14_000  # characters of passages that the cross-encoder reads for one query, 0.1 s on two free cores
READING_SECONDS = 2.0  # and no longer than this on a busy or slow machine
_CONTEXT_SHARE = 0.6
_CONTEXT_TERMS = 4
_CONTEXT_READ = 200  # characters of it that the cross-encoder reads
_ALIKE = 0.97


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """One candidate's place: its index in the candidates, and how relevant it is."""

    index: int
    relevance: float


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    text: str  # as the cross-encoder reads it
    terms: Mapping[str, int]


class Searcher:
    def __init__(self, store: KnowledgeStore, embedder: Embedder, reranker: Reranker | None) -> None:
        self._store = store
        self._embedder = embedder
        self._reranker = reranker

    async def search(
        self,
        query: str,
        filters: PassageFilters,
        *,
        top_k: int,
        context: str | None = None,
        least_relevance: float = NOTHING,
    ) -> list[Hit]:
        asked = parsed(query, context)
        vector = asyncio.ensure_future(asyncio.to_thread(self._vector, check_query(query), context))
        narrowed = bool(filters.kinds or filters.metadata)
        try:
            candidates = await self._store.candidates(
                asked.terms,
                vector,
                filters,
                embedder=self._embedder.name,
                limit=CANDIDATES * (5 if narrowed else 1),
            )
        finally:
            vector.cancel()  # nobody waits for it any more
        if not candidates.passages:
            return []
        ranked = await asyncio.to_thread(self._rank, asked, vector.result(), candidates)
        kept = [item for item in ranked if item.relevance >= least_relevance]
        return _folded(kept, candidates, top_k)

    def _vector(self, query: str, context: str | None) -> NDArray[np.float32]:
        vector = self._embedder.embed([query])[0]
        if not _tells(context):
            return vector
        vector = vector + _CONTEXT_SHARE * self._embedder.embed([context[:LONGEST_QUERY]])[0]
        return vector / np.linalg.norm(vector)

    def _rank(
        self, asked: ParsedQuery, vector: NDArray[np.float32], found: Candidates
    ) -> list[RankedCandidate]:
        similarity = ranking.similarity(found.vectors, vector)
        lexical = ranking.bm25(asked.terms, found.counts, found.lengths, found.statistics)
        fused = ranking.fuse(lexical, similarity, weight=ranking.DOCUMENTS.lexical)
        order = np.argsort(-fused, kind="stable")
        covered = ranking.coverage(asked.terms, found.counts, found.statistics)
        texts = [reading_text(passage) for passage in found.passages]
        place, logits = refine_order(
            asked.text,
            order,
            fused=fused,
            vectors=found.vectors,
            texts=texts,
            reranker=self._reranker,
            weights=ranking.DOCUMENTS,
        )
        read = len(logits)
        values = np.concatenate(
            [
                relevance(logits, similarity[order[:read]], covered[order[:read]]),
                relevance(None, similarity[order[read:]], covered[order[read:]]),
            ]
        )
        by_index = dict(zip(order.tolist(), values.tolist(), strict=True))
        shown = in_order(np.array([by_index[index] for index in place]))
        return [RankedCandidate(index=i, relevance=float(v)) for i, v in zip(place, shown, strict=True)]


def refine_order(
    query: str,
    order: NDArray[np.intp],
    *,
    fused: Scores,
    vectors: NDArray[np.float32],
    texts: Sequence[str],
    reranker: Reranker | None,
    weights: Weights,
    bonus: Scores | None = None,
) -> tuple[list[int], Scores]:
    """The final order, and the cross-encoder's log-odds for the first of `order` that it read."""
    pool = order[:POOL]
    logits = np.empty(0)
    if reranker is not None:
        read = _within([texts[int(i)] for i in pool], READING)
        logits = reranker.score(query, read, seconds=READING_SECONDS).astype(np.float64)
    scores = ranking.blend(fused[pool], logits, weight=weights.reranked)
    scores = ranking.lean_on_neighbours(scores, vectors[pool], share=weights.neighbours)
    if bonus is not None:
        scores = scores + bonus[pool]
    best = pool[np.argsort(-scores, kind="stable")]
    return [*best.tolist(), *order[POOL:].tolist()], logits


def parsed(query: str, context: str | None = None) -> ParsedQuery:
    text = check_query(query)
    words = Counter(terms(text))
    if not _tells(context):
        return ParsedQuery(text, words)
    common = Counter(terms(context[:LONGEST_QUERY])).most_common(_CONTEXT_TERMS)
    # The query's own words weigh three times as much as what stands around them.
    weighed = Counter({term: 3 * count for term, count in words.items()}) + Counter(
        {term: 1 for term, _ in common if term not in words}
    )
    return ParsedQuery(f"{text} ({' '.join(context.split())[:_CONTEXT_READ]})", weighed)


def _tells(context: str | None) -> TypeGuard[str]:
    return bool(context and context.strip())


def check_query(query: str) -> str:
    text = query.strip()
    if not text:
        raise QueryError("The query is empty.", fix="Say what you are looking for.")
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            f"The query has {len(text):,} characters; at most {LONGEST_QUERY:,} are read.",
            fix="Ask in a few sentences, and give the rest as document_context.",
        )
    if "\0" in text:
        raise QueryError("The query holds a NUL character.", fix="Remove it and ask again.")
    return text


def reading_text(passage: Passage) -> str:
    """What stands in the embedder's and the cross-encoder's view: where it is said, then what."""
    return with_headers(passage.citation.title, passage.citation.header_path, passage.text)


def _within(texts: Sequence[str], limit: int) -> list[str]:
    """The first texts that fit together; always at least one."""
    kept: list[str] = []
    for text in texts:
        limit -= len(text)
        if limit < 0 and kept:
            break
        kept.append(text)
    return kept


def _folded(ranked: Sequence[RankedCandidate], found: Candidates, top_k: int) -> list[Hit]:
    head = ranked[: top_k * 2 + 20]
    if not head:
        return []
    rows = [item.index for item in head]
    twins = ranking.duplicates(found.vectors[rows], [found.passages[i].text for i in rows], alike=_ALIKE)
    repeats: dict[int, list[str]] = {}
    for twin, item in zip(twins, head, strict=True):
        if twin is not None:
            repeats.setdefault(twin, []).append(found.passages[item.index].citation.document)
    hits: list[Hit] = []
    for position, (twin, item) in enumerate(zip(twins, head, strict=True)):
        if twin is None and len(hits) < top_k:
            hits.append(_hit(found.passages[item.index], item.relevance, repeats.get(position, [])))
    return hits


def _hit(passage: Passage, relevant: float, repeats: Sequence[str]) -> Hit:
    return Hit(
        chunk_id=passage.chunk_id,
        document_id=passage.document_id,
        collection=passage.collection,
        text=passage.text,
        relevance=round(relevant, 4),
        kind=passage.kind,
        sequence=passage.sequence,
        citation=passage.citation,
        also_in=tuple(dict.fromkeys(name for name in repeats if name != passage.citation.document)),
        metadata=passage.metadata,
    )
