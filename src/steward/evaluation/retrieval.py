"""How well search finds documents: the suite `retrieval`.

Ingests the corpus into a database of its own and asks every query through the searcher that answers users;
the one difference is that nothing is left out for being irrelevant, because the measures want full lists.
"""

import asyncio
import math
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steward.contract.errors import InputError
from steward.contract.places import Places
from steward.documents.pool import DocumentReaders
from steward.evaluation.data import read_rows
from steward.knowledge.ingest import Ingester, Text
from steward.knowledge.model import CollectionKind
from steward.knowledge.ports import PassageFilters
from steward.knowledge.search import Searcher
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder
from steward.storage.database.postgres import Database, Embedded
from steward.storage.library.documents import PostgresKnowledgeStore

DEPTH = 100


def evaluate(path: Path) -> dict[str, Any]:
    """nDCG@10 with the judgements' own grades as gains, recall@100, and the median time of a query."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder.", fix="Give one with corpus, queries and qrels.jsonl.")
    corpus, queries, qrels = (read_rows(path / f"{name}.jsonl") for name in ("corpus", "queries", "qrels"))
    judged: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in qrels:
        if float(row["score"]) > 0:
            judged[str(row["query"])][str(row["doc"])] = float(row["score"])
    asked = [row for row in queries if str(row["_id"]) in judged]
    with tempfile.TemporaryDirectory() as folder:
        found, times = asyncio.run(_run(Path(folder), corpus, asked))
    pairs = [(found[str(row["_id"])], judged[str(row["_id"])]) for row in asked]
    return {
        "n": len(asked),
        "ndcg@10": round(statistics.fmean(ndcg(ranked, gains) for ranked, gains in pairs), 4),
        "recall@100": round(
            statistics.fmean(len(set(ranked[:DEPTH]) & gains.keys()) / len(gains) for ranked, gains in pairs),
            4,
        ),
        "p50_ms": round(statistics.median(times) * 1000, 1),
    }


def ndcg(ranked: Sequence[str], gains: Mapping[str, float], *, depth: int = 10) -> float:
    got = sum(gains.get(name, 0.0) / math.log2(i + 2) for i, name in enumerate(ranked[:depth]))
    best = sorted(gains.values(), reverse=True)[:depth]
    return got / sum(gain / math.log2(i + 2) for i, gain in enumerate(best))


async def _run(
    folder: Path, corpus: Sequence[Mapping[str, Any]], queries: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, list[str]], list[float]]:
    embedder, reranker = MiniLMEmbedder(), CrossEncoder()
    async with Database(Embedded(folder / "database")) as database, DocumentReaders() as readers:
        store = PostgresKnowledgeStore(database)
        collection = await store.create_collection("evaluation", CollectionKind.FUNDAMENTAL)
        ingester = Ingester(store, embedder, readers, places=Places())
        texts = (
            Text(
                content=str(row.get("text") or row["title"]),
                source=str(row["_id"]),
                title=str(row.get("title") or ""),
            )
            for row in corpus
            if row.get("text") or row.get("title")
        )
        await ingester.add_texts(texts, collection)
        searcher = Searcher(store, embedder, reranker if reranker.installed else None)
        filters = PassageFilters(collections=(collection.id,))
        found: dict[str, list[str]] = {}
        times: list[float] = []
        for row in queries:
            started = time.perf_counter()
            hits = await searcher.search(str(row["text"]), filters, top_k=DEPTH, least_relevance=0.0)
            times.append(time.perf_counter() - started)
            found[str(row["_id"])] = list(dict.fromkeys(hit.citation.document for hit in hits))
        return found, times
