"""How well memory recalls: the suite `memory`.

Stores every memory in order through the manager that agents use and asks every query of its scope. What the
manager refuses to keep (greetings, questions) counts as lost.
"""

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steward.contract import linear_re as re
from steward.contract.errors import InputError
from steward.evaluation.data import read_rows
from steward.knowledge.memory import MemoryManager, Scope
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder
from steward.storage.database.postgres import Database, Embedded
from steward.storage.library.memory import PostgresMemoryStore

DEPTH = 5
_FORMS = ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%d %B %Y", "%B %d, %Y", "%Y-%m-%d")


def evaluate(path: Path) -> dict[str, Any]:
    """The share of queries with any evidence among the first five, and the median time of a query."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder.", fix="Give one with memories.jsonl and queries.jsonl.")
    memories, queries = (read_rows(path / f"{name}.jsonl") for name in ("memories", "queries"))
    with tempfile.TemporaryDirectory() as folder:
        hits, times = asyncio.run(_run(Path(folder), memories, queries))
    kinds = Counter(str(row.get("category", "all")) for row in queries)
    right = Counter(str(row.get("category", "all")) for row, hit in zip(queries, hits, strict=True) if hit)
    return {
        "n": len(queries),
        "hit@5": round(sum(hits) / len(hits), 4),
        "p50_ms": round(statistics.median(times) * 1000, 1),
        "per_category": {kind: round(right[kind] / total, 4) for kind, total in sorted(kinds.items())},
    }


async def _run(
    folder: Path, memories: Sequence[Mapping[str, Any]], queries: Sequence[Mapping[str, Any]]
) -> tuple[list[bool], list[float]]:
    embedder, reranker = MiniLMEmbedder(), CrossEncoder()
    async with Database(Embedded(folder / "database")) as database:
        store = PostgresMemoryStore(database)

        def manager(scope: str) -> MemoryManager:
            return MemoryManager(
                store,
                embedder=embedder,
                reranker=reranker if reranker.installed else None,
                scope=Scope(user=scope),
            )

        previous: tuple[str, str, str] = ("", "", "")
        for row in memories:
            scope, text, date = str(row["scope"]), str(row["text"]), str(row.get("date") or "")
            metadata = {"evidence": str(row["id"]), "source": "conversation", "timestamp": _moment(date)}
            if previous[:2] == (scope, date):
                metadata["context"] = previous[2]
            with suppress(InputError):  # not worth keeping
                await manager(scope).store_document(text, metadata)
            previous = (scope, date, text)
        hits: list[bool] = []
        times: list[float] = []
        for row in queries:
            started = time.perf_counter()
            found = await manager(str(row["scope"])).semantic_search(str(row["query"]), DEPTH)
            times.append(time.perf_counter() - started)
            hits.append(
                bool({item["metadata"]["evidence"] for item in found} & {str(e) for e in row["evidence"]})
            )
        return hits, times


def _moment(date: str) -> datetime:
    for form in _FORMS:
        with suppress(ValueError):
            return datetime.strptime(re.sub(r"\s+", " ", date.strip()), form).replace(tzinfo=UTC)
    return datetime(2000, 1, 1, tzinfo=UTC)
