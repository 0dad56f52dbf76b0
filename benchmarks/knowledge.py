"""The knowledge base beside chromadb and sqlite-vec, at 5,000 and 100,000 chunks, in one run.

Every store gets the same chunks with the same vectors (made up, in clusters), so that embedding stays out
of the ingest rate. Vector queries count against an exact search. Ours searches terms as well and writes one
transaction a document of 20 chunks; the peers do neither. The peers live in an environment of their own, made
on the first run.

    python benchmarks/knowledge.py [SIZE ...]
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from steward.knowledge.ingest import IN_FLIGHT
from steward.knowledge.model import Chunk, CollectionKind, ContentType, Document, EmbeddedChunk
from steward.knowledge.ports import Filters
from steward.knowledge.search import Searcher
from steward.knowledge.terms import terms
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder
from steward.storage.knowledge import PostgresKnowledgeStore
from steward.storage.postgres import Database, Embedded

ROOT = Path(__file__).parent.parent
PEERS = ROOT / ".peers" / "vectors"
PEER_PACKAGES = ("chromadb==1.3.4", "sqlite-vec==0.1.6", "pysqlite3-binary", "numpy")
QUERIES, DOCUMENT, DIMENSIONS = 50, 20, 384


def made_up(size: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    words = [
        f"{a}{b}"
        for a in ("al", "ber", "cor", "dun", "el", "fir")
        for b in ("ta", "mo", "ni", "ra", "su", "ke")
    ]
    words += [f"{w}{x}" for w in words for x in ("n", "st", "ling", "dor", "ver")]
    weights = 1 / np.arange(1, len(words) + 1)
    picked = rng.choice(len(words), (size, 90), p=weights / weights.sum())
    texts = [" ".join(words[i] for i in row) for row in picked]
    centres = rng.normal(size=(200, DIMENSIONS))

    def near(count: int) -> np.ndarray:
        vectors = centres[rng.integers(200, size=count)] + 0.8 * rng.normal(size=(count, DIMENSIONS))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    return texts, near(size), near(QUERIES)


def recall(found: list[list[int]], vectors: np.ndarray, queries: np.ndarray) -> float:
    exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    return statistics.fmean(
        len(set(row) & set(best)) / 10 for row, best in zip(found, exact.tolist(), strict=True)
    )


async def ours(texts: list[str], vectors: np.ndarray, queries: np.ndarray) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        async with Database(Embedded(Path(folder) / "database")) as database:
            store = PostgresKnowledgeStore(database)
            collection = await store.create_collection("bench", CollectionKind.FUNDAMENTAL)
            started = time.perf_counter()
            starts = iter(range(0, len(texts), DOCUMENT))

            async def load() -> None:
                for start in starts:
                    await store.replace(collection.id, *_document(start, texts, vectors), embedder="made up")

            await asyncio.gather(*(load() for _ in range(IN_FLIGHT)))
            loaded = time.perf_counter() - started
            await store.settle(collection.id)
            settled = time.perf_counter() - started
            filters = Filters(collections=(collection.id,))
            rows = await database.fetch("SELECT id, content FROM kb_chunks")
            index = {text: n for n, text in enumerate(texts)}
            place = {row["id"]: index[row["content"]] for row in rows}
            found: list[list[int]] = []
            times: list[float] = []
            for query in queries:
                started = time.perf_counter()
                rows = await store.nearest(query, filters.collections, limit=10)
                times.append(time.perf_counter() - started)
                found.append([place[row] for row in rows])
            return {
                "ingest/s": len(texts) / settled,
                "ingest/s without index": len(texts) / loaded,
                "vector query ms": statistics.median(times) * 1000,
                "recall@10": recall(found, vectors, queries),
                **await _searches(store, filters, texts),
            }


async def _searches(store: PostgresKnowledgeStore, filters: Filters, texts: list[str]) -> dict[str, float]:
    """The whole search that answers users, embedding of the query included."""
    embedder, reranker = MiniLMEmbedder(), CrossEncoder()
    embedder.embed(["warm"])
    reranker.score("warm", ["up"])
    numbers: dict[str, float] = {}
    for label, reader in (("search ms", None), ("search ms, re-ranked", reranker)):
        searcher = Searcher(store, embedder, reader)
        times: list[float] = []
        for text in texts[:QUERIES]:
            started = time.perf_counter()
            await searcher.search(" ".join(text.split()[:6]), filters, top_k=10, least_relevance=0.0)
            times.append(time.perf_counter() - started)
        numbers[label] = statistics.median(times) * 1000
    return numbers


def _document(start: int, texts: list[str], vectors: np.ndarray) -> tuple[Document, list[EmbeddedChunk]]:
    document = Document(
        source=f"d{start}", title=f"d{start}", media_type="text/plain", sha256=str(start), size=DOCUMENT * 500
    )
    chunks = [
        EmbeddedChunk(
            chunk=Chunk(
                sequence=n,
                text=texts[start + n],
                kind=ContentType.PROSE,
                header_path="",
                start=0,
                end=len(texts[start + n]),
            ),
            vector=vectors[start + n],
            counts=Counter(terms(texts[start + n])),
        )
        for n in range(min(DOCUMENT, len(texts) - start))
    ]
    return document, chunks


def peers(texts: list[str], vectors: np.ndarray, queries: np.ndarray) -> dict[str, dict[str, float]]:
    python = PEERS / "bin" / "python"
    if not python.exists():
        print("Setting up the peers (once)")
        uv = ROOT / ".tools" / "bin" / "uv"
        subprocess.run([uv, "venv", "-q", "--python", sys.executable, PEERS], check=True)
        subprocess.run([uv, "pip", "install", "-q", "--python", python, *PEER_PACKAGES], check=True)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "data.npz", vectors=vectors, queries=queries)
        (Path(folder) / "texts.json").write_text(json.dumps(texts))
        results: dict[str, dict[str, float]] = {}
        for peer in ("chromadb", "sqlite-vec"):
            done = subprocess.run(
                [python, Path(__file__).parent / "peers" / "vectors.py", peer, folder],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
            )
            said = json.loads(done.stdout.strip().splitlines()[-1])
            found = said.pop("found")
            results[peer] = {**said, "recall@10": recall(found, vectors, queries)}
        return results


async def main() -> None:
    for size in [int(argument) for argument in sys.argv[1:]] or [5_000, 100_000]:
        texts, vectors, queries = made_up(size)
        results = {**peers(texts, vectors, queries), "steward": await ours(texts, vectors, queries)}
        print(f"\n{size:,} chunks")
        for name, numbers in results.items():
            print(f"  {name:12}", "  ".join(f"{key} {value:,.3g}" for key, value in numbers.items()))
        ratio = results["steward"]["ingest/s"] / results["chromadb"]["ingest/s"]
        print(f"  ingest: {ratio:.1f} times chromadb")


if __name__ == "__main__":
    asyncio.run(main())
