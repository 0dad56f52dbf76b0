"""The knowledge base beside chromadb and sqlite-vec, at 5,000 and 100,000 chunks, in one run.

Every store gets the same chunks with the same vectors (passages.py says what they are like), so that
embedding stays out of the ingest rate, which ends when everything is indexed. Vector queries count against an
exact search. Ours tokenises and indexes terms as well and writes one transaction a document of 20 chunks; the
peers do neither. `query` is the whole question as users ask it: embedding, search, folding, refinement,
history. The processor's time is shown too, because a busy machine stretches the other (`chrt -r 10` in front
keeps its other programs away). The peers live in an environment of their own, made on the first run. Both
sizes take four minutes on two cores, three of them chromadb's.

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
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import uvloop
from passages import DOCUMENT, Corpus, made_up

from steward.contract.places import Places
from steward.documents.pool import DocumentReaders
from steward.knowledge.ingest import IN_FLIGHT
from steward.knowledge.model import Chunk, CollectionKind, ContentType, Document, EmbeddedChunk
from steward.knowledge.service import KnowledgeBase
from steward.knowledge.terms import term_counts
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder
from steward.storage.database.postgres import Database, Embedded
from steward.storage.library.documents import PostgresKnowledgeStore

ROOT = Path(__file__).parent.parent
PEERS = ROOT / ".peers" / "vectors"
PEER_PACKAGES = ("chromadb==1.3.4", "sqlite-vec==0.1.6", "pysqlite3-binary", "numpy")
QUERIES, REREAD = 100, 30
EMBEDDER = MiniLMEmbedder()


def recall(found: list[list[int]], vectors: np.ndarray, queries: np.ndarray) -> float:
    exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    return statistics.fmean(
        len(set(row) & set(best)) / 10 for row, best in zip(found, exact.tolist(), strict=True)
    )


class Clock:
    """Seconds on the wall and of the processors, our own and the database server's."""

    def __init__(self, folder: Path) -> None:
        pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        self._server = psutil.Process(pid)
        self.wall = self.processor = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        wall, processor = time.perf_counter(), self._spent()
        yield
        self.wall += time.perf_counter() - wall
        self.processor += self._spent() - processor

    def _spent(self) -> float:
        ended = self._server.cpu_times()
        living = [process.cpu_times() for process in self._server.children()]
        server = ended.children_user + ended.children_system + sum(t.user + t.system for t in living)
        return time.process_time() + server


async def ours(corpus: Corpus) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "database"
        async with Database(Embedded(place)) as database, DocumentReaders() as readers:
            store = PostgresKnowledgeStore(database)
            collection = await store.create_collection("bench", CollectionKind.FUNDAMENTAL)
            clock = Clock(place)
            with clock.running():
                await load(store, collection.id, corpus)
                await store.settle(collection.id)
            rows = await database.fetch("SELECT id, content FROM kb_chunks")
            index = {text: n for n, text in enumerate(corpus.texts)}
            place_of = {row["id"]: index[row["content"]] for row in rows}
            found: list[list[int]] = []

            async def look(vector: np.ndarray) -> None:
                ids = await store.nearest(vector, [collection.id], embedder=EMBEDDER.name, limit=10)
                found.append([place_of[chunk] for chunk in ids])

            vector_ms = await _median_ms(look, corpus.near)
            found = found[-len(corpus.near) :]
            reranker = CrossEncoder()
            plain, read = (
                KnowledgeBase(store, embedder=EMBEDDER, reranker=reader, readers=readers, places=Places(()))
                for reader in (None, reranker)
            )
            return {
                "ingest/s": len(corpus.texts) / clock.wall,
                "processor us/chunk": clock.processor / len(corpus.texts) * 1e6,
                "vector query ms": vector_ms,
                "recall@10": recall(found, corpus.vectors, corpus.near),
                "query ms": await _median_ms(plain.query, corpus.questions),
                "query ms, re-ranked": await _median_ms(read.query, corpus.questions[:REREAD]),
            }


async def load(store: PostgresKnowledgeStore, collection: int, corpus: Corpus) -> None:
    starts = iter(range(0, len(corpus.texts), DOCUMENT))

    async def some() -> None:
        for start in starts:
            await store.replace(collection, *_document(start, corpus), embedder=EMBEDDER.name)

    await asyncio.gather(*(some() for _ in range(IN_FLIGHT)))


async def _median_ms(ask: Callable[..., Awaitable[object]], questions: "list[str] | np.ndarray") -> float:
    for question in questions[:10]:
        await ask(question)
    times: list[float] = []
    for question in questions:
        started = time.perf_counter()
        await ask(question)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def _document(start: int, corpus: Corpus) -> tuple[Document, list[EmbeddedChunk]]:
    document = Document(
        source=f"d{start}",
        title=f"d{start}",
        media_type="text/plain",
        sha256=str(start),
        size=DOCUMENT * 1_000,
    )
    chunks = [
        EmbeddedChunk(
            chunk=Chunk(
                sequence=n - start,
                text=corpus.texts[n],
                kind=ContentType.PROSE,
                header_path="",
                start=0,
                end=len(corpus.texts[n]),
            ),
            vector=corpus.vectors[n],
            counts=term_counts(corpus.texts[n]),
        )
        for n in range(start, min(start + DOCUMENT, len(corpus.texts)))
    ]
    return document, chunks


def peers(corpus: Corpus) -> dict[str, dict[str, float]]:
    python = PEERS / "bin" / "python"
    installed = PEERS / ".installed"
    if not installed.exists():
        print("Setting up the peers (once)")
        uv = ROOT / ".tools" / "bin" / "uv"
        own = {**os.environ, "UV_SYSTEM_CERTS": os.environ.get("UV_SYSTEM_CERTS", "true")}  # as the Makefile
        made = [uv, "venv", "-q", "--clear", "--python", sys.executable, PEERS]
        subprocess.run(made, check=True, env=own)
        filled = [uv, "pip", "install", "-q", "--python", python, *PEER_PACKAGES]
        subprocess.run(filled, check=True, env=own)
        installed.touch()
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "data.npz", vectors=corpus.vectors, queries=corpus.near)
        (Path(folder) / "texts.json").write_text(json.dumps(corpus.texts))
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
            results[peer] = {**said, "recall@10": recall(found, corpus.vectors, corpus.near)}
        return results


async def main() -> None:
    for size in [int(argument) for argument in sys.argv[1:]] or [5_000, 100_000]:
        corpus = made_up(size, QUERIES)
        results = {**peers(corpus), "steward": await ours(corpus)}
        print(f"\n{size:,} chunks")
        for name, numbers in results.items():
            print(f"  {name:12}", "  ".join(f"{key} {value:,.4g}" for key, value in numbers.items()))
        compare(results)


def compare(results: dict[str, dict[str, float]]) -> None:
    mine = results["steward"]
    for peer in ("chromadb", "sqlite-vec"):
        theirs = results[peer]
        print(
            f"  beside {peer}: ingest {mine['ingest/s'] / theirs['ingest/s']:.2g} times as fast with"
            f" {mine['processor us/chunk'] / theirs['processor us/chunk']:.2g} of its processor time,"
            f" vector query {theirs['vector query ms'] / mine['vector query ms']:.2g} times as fast"
        )
    print(
        f"  budgets: ingest {mine['ingest/s'] / results['chromadb']['ingest/s']:.1f} (5) times chromadb,"
        f" query {mine['query ms']:.1f} (25) ms, re-ranked {mine['query ms, re-ranked']:.0f} (250) ms"
    )


if __name__ == "__main__":
    uvloop.run(main())  # as `steward up` does
