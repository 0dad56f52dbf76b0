"""Memories in PostgreSQL."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

import asyncpg
import numpy as np
from numpy.typing import NDArray

from steward.knowledge.memory import (
    IndexedMemory,
    Memory,
    MemoryCandidates,
    MemoryPage,
    Scope,
    SimilarMemory,
)
from steward.knowledge.ranking import Statistics
from steward.storage import undo
from steward.storage.database import cursor, sql
from steward.storage.database.postgres import Database, Session
from steward.storage.library import lexemes
from steward.storage.library.passages import stacked

SQL = sql.load("memory")


class PostgresMemoryStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        item: IndexedMemory,
        *,
        embedder: str,
        supersedes: Sequence[str] = (),
        superseded_by: str | None = None,
    ) -> str:
        memory, scope = item.memory, item.memory.scope
        async with self._database.transaction() as session:
            await session.execute(SQL.lock_scope, scope.user)
            known = await session.fetchval(
                SQL.same_memory, scope.user, scope.agent, scope.project, memory.fingerprint
            )
            if known is not None and known not in supersedes:
                await session.execute(SQL.supersede, list(supersedes), known, memory.created_at)
                return known
            words = f"remembered '{memory.content}'"
            async with AsyncExitStack() as noted:
                for touched in (*supersedes, memory.id):
                    note = undo.noted(session, "memories", {"id": touched}, words=words, user=scope.user)
                    await noted.enter_async_context(note)
                await self._add(session, item, embedder)
                if superseded_by is not None:
                    await session.execute(SQL.supersede, [memory.id], superseded_by, memory.created_at)
                elif supersedes:
                    await session.execute(SQL.supersede, list(supersedes), memory.id, memory.created_at)
        return memory.id

    async def _add(self, session: Session, item: IndexedMemory, embedder: str) -> None:
        memory, scope = item.memory, item.memory.scope
        await session.execute(
            SQL.add_memory,
            *(memory.id, scope.user, scope.agent, scope.project, memory.conversation, memory.content),
            *(memory.context, memory.source, memory.metadata, memory.happened_at, memory.created_at),
            *(memory.fingerprint, embedder, sum(item.counts.values())),
            *(lexemes.encoded(item.counts), item.vector),
        )

    async def last_in(self, scope: Scope, conversation: str) -> str | None:
        return await self._database.fetchval(SQL.last_in_conversation, scope.user, conversation)

    async def similar(self, scope: Scope, vector: NDArray[np.float32]) -> Sequence[SimilarMemory]:
        rows = await self._database.fetch(SQL.similar, scope.user, scope.agent, scope.project, vector)
        return [SimilarMemory(**row) for row in rows]

    async def candidates(
        self, scope: Scope, terms: Mapping[str, int], vector: NDArray[np.float32], *, limit: int
    ) -> MemoryCandidates:
        words = [lexemes.quoted(term) for term in terms]
        totals = await self._database.fetchrow(SQL.totals, scope.user, words)
        assert totals is not None
        statistics = Statistics(
            passages=totals["memories"],
            average_length=totals["average"],
            frequency=dict(zip(terms, totals["frequencies"], strict=True)),
        )
        whose = (scope.user, scope.agent, scope.project)
        lexical, nearest = await asyncio.gather(
            self._lexical(whose, terms, statistics, limit),
            self._database.fetch(SQL.nearest, *whose, vector, limit),
        )
        ids = list(dict.fromkeys([*lexical, *(row["id"] for row in nearest)]))
        rows = await self._database.fetch(SQL.memories_by_id, ids, words)
        return MemoryCandidates(
            memories=[_memory(row) for row in rows],
            vectors=stacked([row["embedding"] for row in rows]),
            counts=np.array([row["counts"] for row in rows], np.float64).reshape(len(rows), len(terms)),
            lengths=np.array([row["length"] for row in rows], np.float64),
            statistics=statistics,
        )

    async def _lexical(
        self,
        whose: tuple[str, str | None, str | None],
        terms: Mapping[str, int],
        stats: Statistics,
        limit: int,
    ) -> list[str]:
        known = [term for term in terms if stats.frequency[term]]
        if not known:
            return []
        words = [lexemes.quoted(term) for term in known]
        weights = [stats.weight(term) * terms[term] for term in known]
        rows = await self._database.fetch(
            SQL.lexical, *whose, words, weights, " | ".join(words), stats.average_length, limit
        )
        return [row["id"] for row in rows]

    async def list(
        self, scope: Scope, *, limit: int = 50, after: str | None = None, superseded: bool = False
    ) -> MemoryPage:
        created_at, last_id = cursor.decode(after)
        rows = await self._database.fetch(
            SQL.list_memories,
            scope.user,
            scope.agent,
            scope.project,
            superseded,
            created_at,
            last_id,
            limit + 1,
        )
        shown = [_memory(row) for row in rows[:limit]]
        more = len(rows) > limit and shown
        return MemoryPage(shown, cursor.encode(shown[-1].created_at, shown[-1].id) if more else None)

    async def history(self, scope: Scope, memory_id: str) -> Sequence[Memory]:
        return [_memory(row) for row in await self._database.fetch(SQL.history, scope.user, memory_id)]

    async def forget(self, scope: Scope, memory_id: str) -> int:
        async with self._database.transaction() as session:
            rows = await session.fetch(SQL.forget_memory, scope.user, memory_id)
            # Nothing of it stays, also not for an undo.
            await session.execute(undo.SQL.forget_thing, [f"memories:{row['id']}" for row in rows])
        return len(rows)

    async def count(self, scope: Scope) -> int:
        return await self._database.fetchval(SQL.count_memories, scope.user, scope.agent, scope.project)

    async def forget_scope(self, scope: Scope) -> int:
        async with self._database.transaction() as session:
            await session.execute(undo.SQL.forget_things_of_user, scope.user, "memories")
            said = await session.execute(SQL.forget_scope, scope.user, scope.agent, scope.project)
        return int(said.removeprefix("DELETE "))


def _memory(row: asyncpg.Record) -> Memory:
    return Memory(
        scope=Scope(user=row["user_id"], agent=row["agent"], project=row["project"]),
        id=row["id"],
        content=row["content"],
        context=row["context"],
        conversation=row["conversation"],
        source=row["source"],
        metadata=row["metadata"],
        happened_at=row["happened_at"],
        created_at=row["created_at"],
        superseded_by=row["superseded_by"],
    )
