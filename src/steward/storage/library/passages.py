"""The search for candidates in PostgreSQL.

They come from two narrow tables: terms (GIN, BM25 scored in SQL) and vectors (exact while few, HNSW when
many), and are looked up side by side. Putting them in order is the domain's business.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence

import asyncpg
import numpy as np
from numpy.typing import NDArray

from steward.knowledge.model import Citation, ContentType
from steward.knowledge.ports import Candidates, Passage, PassageFilters
from steward.knowledge.ranking import Statistics
from steward.storage.database import sql
from steward.storage.library import lexemes
from steward.storage.library.spaces import PostgresSpaces

SQL = sql.load("knowledge")
COUNTED_SAMPLE = 2_000  # passages of a collection whose terms are counted
_EVALUATIONS = 8_000  # of a term in a passage, for one query
_SCORED_TERMS = 32  # of a query, the rarest
_RECOUNT_SHARE = 0.1


class PostgresPassages(PostgresSpaces):
    async def candidates(
        self,
        terms: Mapping[str, int],
        vector: Awaitable[NDArray[np.float32]],
        filters: PassageFilters,
        *,
        embedder: str,
        limit: int,
    ) -> Candidates:
        (statistics, lexical), (asked, nearest) = await asyncio.gather(
            self._by_words(terms, filters.collections, limit),
            self._by_meaning(vector, filters.collections, embedder=embedder, limit=limit),
        )
        space = await self.space(embedder, len(asked))
        rows = await self._database.fetch(
            SQL.passages,
            *(list(dict.fromkeys([*lexical, *nearest])), [lexemes.quoted(term) for term in terms]),
            *([kind.value for kind in filters.kinds], dict(filters.metadata), space.id),
        )
        missing = np.zeros_like(asked)  # of a document that the present model has not read yet
        vectors = [missing if row["embedding"] is None else row["embedding"] for row in rows]
        return Candidates(
            passages=[_passage(row) for row in rows],
            vectors=stacked(vectors),
            counts=np.array([row["counts"] for row in rows], np.float64).reshape(len(rows), len(terms)),
            lengths=np.array([row["length"] for row in rows], np.float64),
            statistics=statistics,
        )

    async def _by_words(
        self, terms: Mapping[str, int], collections: Sequence[int], limit: int
    ) -> tuple[Statistics, list[int]]:
        statistics = await self._statistics(collections, list(terms))
        if not statistics.passages:  # a load that was killed before it could count
            for collection in collections:
                await self.count_terms(collection)
            statistics = await self._statistics(collections, list(terms))
        return statistics, await self._lexical(terms, collections, statistics, limit)

    async def _by_meaning(
        self,
        vector: Awaitable[NDArray[np.float32]],
        collections: Sequence[int],
        *,
        embedder: str,
        limit: int,
    ) -> tuple[NDArray[np.float32], list[int]]:
        asked, many = await asyncio.gather(vector, self.counted(collections))
        return asked, await self.nearest_of(many, asked, collections, embedder=embedder, limit=limit)

    async def count_terms(self, collection: int) -> None:
        """Again, when enough has changed."""
        state = await self._database.fetchrow(SQL.uncounted, collection)
        if state is None or state["counted"] is None:
            return
        changed = abs(state["now"] - state["counted"])
        if changed > _RECOUNT_SHARE * state["counted"]:
            async with self._database.transaction() as session:
                await session.execute(SQL.forget_frequencies, collection)
                await session.execute(SQL.count_frequencies, collection, -(-state["now"] // COUNTED_SAMPLE))
                await session.execute(SQL.count_lengths, collection)

    async def _statistics(self, collections: Sequence[int], terms: Sequence[str]) -> Statistics:
        row = await self._database.fetchrow(
            SQL.statistics, list(collections), list(terms), [lexemes.quoted(term) for term in terms]
        )
        assert row is not None
        counted = zip(terms, row["frequencies"], strict=True)
        return Statistics(
            passages=row["passages"],
            average_length=row["average_length"],
            frequency={term: chunks for term, chunks in counted if chunks},
        )

    async def _lexical(
        self, terms: Mapping[str, int], collections: Sequence[int], statistics: Statistics, limit: int
    ) -> list[int]:
        known = sorted(statistics.frequency, key=statistics.frequency.__getitem__)[:_SCORED_TERMS]
        if not known:
            return []
        weights = [statistics.weight(term) * terms[term] for term in known]
        read = max(_EVALUATIONS // len(known), 2 * limit)
        rows = await self._database.fetch(
            SQL.lexical,
            *(
                list(collections),
                [lexemes.quoted(term) for term in known],
                weights,
                _telling(known, statistics, read),
            ),
            *(read, statistics.average_length, limit),
        )
        return [row["chunk_id"] for row in rows]

    async def related_terms(
        self, collections: Sequence[int], terms: Sequence[str], *, limit: int
    ) -> Sequence[str]:
        if not terms:
            return []
        query = " | ".join(map(lexemes.quoted, terms))
        rows = await self._database.fetch(SQL.related_terms, list(collections), query, list(terms), limit)
        return [row["lexeme"] for row in rows]

    async def header_paths(self, collections: Sequence[int], *, limit: int) -> Sequence[str]:
        rows = await self._database.fetch(SQL.header_paths, list(collections), limit)
        return [row["header_path"] for row in rows]


def _telling(known: Sequence[str], statistics: Statistics, read: int) -> str:
    """Which passages are worth scoring: those with the rarest terms, as many terms as can be read.

    When even the rarest is in too many, another term must stand beside it.
    """
    chosen: list[str] = []
    total = 0
    for term in known:
        total += statistics.frequency[term]
        if chosen and total > read:
            break
        chosen.append(lexemes.quoted(term))
    others = [lexemes.quoted(term) for term in known[1:]]
    if len(chosen) == 1 and others and statistics.frequency[known[0]] > read:
        return f"{chosen[0]} & ({' | '.join(others)})"
    return " | ".join(chosen)


def stacked(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.stack(vectors) if vectors else np.empty((0, 0), np.float32)


def _passage(row: asyncpg.Record) -> Passage:
    return Passage(
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        collection=row["collection"],
        text=row["content"],
        kind=ContentType(row["kind"]),
        sequence=row["sequence"],
        citation=Citation(
            document=row["source"],
            title=row["title"],
            header_path=row["header_path"],
            page=row["page"],
            start=row["span_start"],
            end=row["span_end"],
        ),
        metadata=row["metadata"],
    )
