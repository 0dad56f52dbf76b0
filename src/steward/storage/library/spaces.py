"""Vectors in PostgreSQL: each model's in a space of its own, so that none takes another's place.

Owns the spaces, their indexes, and which documents do not stand in one yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steward.knowledge.model import ConfigurationError
from steward.knowledge.ports import OutdatedDocument, StoredSpace
from steward.storage.database import sql
from steward.storage.database.postgres import Session

SQL = sql.load("knowledge")
EXACT_LIMIT = 20_000  # up to here a scan of all vectors is fast enough, and never wrong
MOST_DIMENSIONS = 4_000  # that a vector index takes
_BREADTH = 300  # candidates that the index follows
_GRAPH_BYTES = 1_300  # of memory that a vector takes while its index is built
_GRAPH_MEMORY = 1_024  # megabytes for it at most


@dataclass(frozen=True, slots=True)
class Space:
    id: int
    dimensions: int

    def fill_in(self, query: str) -> str:
        """An index of one space is used only where a query names that space and its dimensions outright."""
        return query.replace(":space", str(self.id)).replace(":dimensions", str(self.dimensions))


class PostgresSpaces:
    def __init__(self, database: Session) -> None:
        self._database = database
        self._spaces: dict[tuple[str, int], Space] = {}

    async def space(self, embedder: str, dimensions: int) -> Space:
        """Where this model's vectors stand."""
        known = self._spaces.get((embedder, dimensions))
        if known is not None:
            return known
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise ConfigurationError(
                f"The embedder '{embedder}' makes {dimensions} numbers a text.",
                fix=f"Choose one with at most {MOST_DIMENSIONS}.",
            )
        found = await self._database.fetchval(SQL.space, embedder, dimensions)
        if found is None:
            await self._database.execute(SQL.create_space, embedder, dimensions)
            found = await self._database.fetchval(SQL.space, embedder, dimensions)
        space = self._spaces[embedder, dimensions] = Space(found, dimensions)
        return space

    async def spaces(self) -> Sequence[StoredSpace]:
        return [StoredSpace(**row) for row in await self._database.fetch(SQL.spaces)]

    async def empty(self, embedder: str) -> int:
        """The space itself stays: another program that still uses this model may know it by its number."""
        removed = 0
        async with self._database.transaction() as session:
            await session.execute(SQL.lock_documents)
            for row in await session.fetch(SQL.spaces_of, embedder):
                space = Space(**row)
                await session.execute(space.fill_in(SQL.drop_vector_index))
                await session.execute(SQL.leave_space, space.id)
                removed += await session.fetchval(SQL.empty_space, space.id)
        return removed

    async def outdated(self, embedder: str) -> int:
        return await self._database.fetchval(SQL.outdated, embedder)

    async def next_outdated(self, embedder: str, *, after: int) -> OutdatedDocument | None:
        row = await self._database.fetchrow(SQL.next_outdated, embedder, after)
        if row is None:
            return None
        return OutdatedDocument(
            id=row["id"],
            collection=row["collection_id"],
            title=row["title"],
            chunk_ids=row["chunk_ids"],
            passages=list(zip(row["headers"], row["texts"], strict=True)),
        )

    async def renew(self, document: OutdatedDocument, vectors: NDArray[np.float32], *, embedder: str) -> None:
        space = await self.space(embedder, vectors.shape[1])
        async with self._database.transaction() as session:
            stands = await session.fetchval(
                SQL.renew_document, document.id, space.id, list(document.chunk_ids)
            )
            if stands is not None:
                await copy_vectors(session, space, document.collection, document.chunk_ids, list(vectors))

    async def nearest(
        self, vector: NDArray[np.float32], collections: Sequence[int], *, embedder: str, limit: int
    ) -> list[int]:
        """The chunks with the nearest vectors, by chunk id."""
        many = await self.counted(collections)
        return await self.nearest_of(many, vector, collections, embedder=embedder, limit=limit)

    async def counted(self, collections: Sequence[int]) -> int:
        return await self._database.fetchval(SQL.counted, list(collections))

    async def nearest_of(
        self,
        many: int,
        vector: NDArray[np.float32],
        collections: Sequence[int],
        *,
        embedder: str,
        limit: int,
    ) -> list[int]:
        """The same where it is known how many passages the collections have."""
        space = await self.space(embedder, len(vector))
        if many <= EXACT_LIMIT:
            rows = await self._database.fetch(SQL.nearest_exact, list(collections), vector, limit, space.id)
        else:
            breadth = str(min(max(limit, _BREADTH), 1_000))
            query = space.fill_in(SQL.nearest)
            rows = await self._database.fetch(query, list(collections), vector, limit, breadth)
        return [row["chunk_id"] for row in rows]

    async def build_indexes(self) -> None:
        """For each space that is large enough for one and has none."""
        for row in await self._database.fetch(SQL.large_spaces, EXACT_LIMIT):
            await self._build_index(Space(row["id"], row["dimensions"]), row["vectors"])

    async def _build_index(self, space: Space, vectors: int) -> None:
        """In memory as far as it goes: a graph that outgrows it is built many times slower."""
        megabytes = min(max(128, vectors * _GRAPH_BYTES >> 20), _GRAPH_MEMORY)
        async with self._database.transaction() as session:
            await session.execute(SQL.index_memory, f"{megabytes}MB")
            await session.execute(space.fill_in(SQL.drop_vector_index))
            await session.execute(space.fill_in(SQL.create_vector_index))


async def copy_vectors(
    session: Session,
    space: Space,
    collection: int,
    chunk_ids: Sequence[int],
    vectors: Sequence[NDArray[np.float32]],
) -> None:
    await session.copy_records(
        "kb_vectors",
        columns=("chunk_id", "collection_id", "space", "embedding"),
        records=[
            (chunk_id, collection, space.id, vector)
            for chunk_id, vector in zip(chunk_ids, vectors, strict=True)
        ],
    )
