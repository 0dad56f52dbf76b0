"""Facts in PostgreSQL."""

import asyncpg

from steward.contract.errors import StorageError
from steward.knowledge.facts import Fact, FactPage
from steward.storage import undo
from steward.storage.database import cursor, sql
from steward.storage.database.postgres import Database

SQL = sql.load("facts")


class PostgresFactStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, fact: Fact) -> Fact:
        row = (fact.id, fact.user, fact.text, fact.fingerprint, fact.source, fact.created_at)
        for _ in range(3):
            async with self._database.transaction() as session:
                words = f"remembered '{fact.text}'"
                async with undo.noted(session, "facts", {"id": fact.id}, words=words, user=fact.user):
                    added = await session.fetchval(SQL.add_fact, *row)
            if added:
                return fact
            known = await self._database.fetchrow(SQL.find_fact, fact.user, fact.fingerprint)
            if known is not None:
                return _fact(known)
            # It was removed between the two statements: there is room for it now.
        raise StorageError("The fact is being added and removed at the same moment.", fix="Try again.")

    async def list(self, user: str, *, limit: int = 50, after: str | None = None) -> FactPage:
        created_at, last_id = cursor.decode(after)
        rows = await self._database.fetch(SQL.list_facts, user, created_at, last_id, limit + 1)
        shown = [_fact(row) for row in rows[:limit]]
        more = len(rows) > limit and shown
        return FactPage(items=shown, next=cursor.encode(shown[-1].created_at, shown[-1].id) if more else None)

    async def remove(self, user: str, fact_id: str) -> bool:
        async with self._database.transaction() as session:
            removed = bool(await session.fetchval(SQL.remove_fact, user, fact_id))
            if removed:  # nothing of it stays, also not for an undo
                await session.execute(undo.SQL.forget_thing, [f"facts:{fact_id}"])
        return removed

    async def erase(self, user: str) -> int:
        await self._database.execute(undo.SQL.forget_things_of_user, user, "facts")
        done = await self._database.execute(SQL.erase_facts, user)
        return int(done.removeprefix("DELETE "))


def _fact(row: asyncpg.Record) -> Fact:
    return Fact(
        id=row["id"],
        user=row["user_id"],
        text=row["text"],
        source=row["source"],
        created_at=row["created_at"],
    )
