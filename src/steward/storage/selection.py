"""What tool search keeps in PostgreSQL: vectors of texts, and the requests that tools served."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from steward.storage.database import sql
from steward.storage.database.postgres import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SQL = sql.load("selection")


class PostgresSelectionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def vectors(self, embedder: str, digests: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        rows = await self._database.fetch(SQL.vectors, embedder, list(digests)) if digests else []
        return {row["digest"]: row["vector"] for row in rows}

    async def keep_vectors(self, embedder: str, vectors: "Mapping[str, NDArray[np.float32]]") -> None:
        rows = [(embedder, digest, vector) for digest, vector in vectors.items()]
        await self._database.executemany(SQL.keep_vectors, rows)

    async def learn(self, requests: Iterable[tuple[str, str, str]]) -> None:
        """(user, tool, request) of calls that did what was asked."""
        await self._database.executemany(SQL.learn, list(requests))

    async def forget(self, user: str) -> None:
        await self._database.execute(SQL.forget, user)

    async def learned(self, limit: int) -> list[tuple[str, str]]:
        """(request, tool), oldest first."""
        rows = await self._database.fetch(SQL.learned, limit)
        return [(row["request"], row["tool"]) for row in reversed(rows)]
