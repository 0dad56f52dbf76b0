"""Gaps in PostgreSQL: what people asked for and could not get."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("gaps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    missing: str
    task: str  # as it was last asked for
    agent: str | None
    times: int
    first_at: datetime
    last_at: datetime


class PostgresGapStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, user: str, missing: Sequence[str], *, task: str, agent: str | None) -> None:
        """One row for each missing ability; asking again counts."""
        await self._database.executemany(SQL.record_gap, [(user, each, task, agent) for each in missing])

    async def list(self, user: str, *, limit: int = 50, offset: int = 0) -> list[Gap]:
        """Those asked for most often first."""
        rows = await self._database.fetch(SQL.list_gaps, user, limit, offset)
        return [
            Gap(
                missing=row["missing"],
                task=row["task"],
                agent=row["agent"],
                times=row["times"],
                first_at=row["first_at"],
                last_at=row["last_at"],
            )
            for row in rows
        ]
