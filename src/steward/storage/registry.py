"""The registry that instances share: files of their homes, with versions, in PostgreSQL.

Owns the versions and that only one program changes them at a time. Does not own which files there are, what
they mean or what becomes of two edits (bootstrap/sharing/shared_registry.py).
"""

import hashlib
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from steward.storage.database import sql
from steward.storage.database.postgres import Database, Session

SQL = sql.load("registry")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """The newest version of a path; without a digest it was removed."""

    path: str
    version: int
    sha256: str | None
    executable: bool
    made_at: datetime
    made_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    path: str
    content: bytes | None  # None: it is removed
    executable: bool = False

    @property
    def sha256(self) -> str | None:
        return None if self.content is None else hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Newest:
    """By which a program that cannot listen sees that something changed."""

    files: int
    pins: datetime | None


class RegistrySession:
    """The registry while nobody else changes it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def id(self) -> str:
        return await self._session.fetchval(SQL.registry_id)

    async def heads(self) -> Mapping[str, SharedFile]:
        rows = await self._session.fetch(SQL.registry_heads)
        return {row["path"]: SharedFile(**dict(row)) for row in rows}

    async def contents(self, files: Sequence[SharedFile]) -> Mapping[str, bytes]:
        if not files:
            return {}
        named = ([file.path for file in files], [file.version for file in files])
        return {
            row["path"]: row["content"] for row in await self._session.fetch(SQL.registry_contents, *named)
        }

    async def former(self, seen: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Those of these paths and digests that were a version once."""
        pairs = list(seen)
        if not pairs:
            return frozenset()
        rows = await self._session.fetch(
            SQL.registry_former, [path for path, _ in pairs], [digest for _, digest in pairs]
        )
        return frozenset((row["path"], row["sha256"]) for row in rows)

    async def push(self, edits: Sequence[FileEdit], *, by: str) -> Mapping[str, int]:
        """One version for all of them, by path."""
        if not edits:
            return {}
        rows = await self._session.fetch(
            SQL.registry_push,
            [edit.path for edit in edits],
            [edit.sha256 for edit in edits],
            [edit.content for edit in edits],
            [edit.executable for edit in edits],
            by,
        )
        await self._session.execute(SQL.registry_forget, [edit.path for edit in edits])
        return {row["path"]: row["version"] for row in rows}


class PostgresRegistry:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self) -> Newest:
        row = await self._database.fetchrow(SQL.registry_newest)
        assert row is not None
        return Newest(row["files"], row["pins"])

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[RegistrySession]:
        """All that is read and pushed inside is one step; other programs wait meanwhile."""
        async with self._database.transaction() as session:
            await session.execute(SQL.registry_alone)
            yield RegistrySession(session)


class PostgresRequestCounts:
    """How many requests each caller sent to each program."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def exchange(self, totals: Mapping[str, int]) -> Mapping[tuple[str, int], int]:
        """Tell this program's counts, and learn those of the others for the same callers."""
        program = self._database.program.key
        callers = list(totals)
        await self._database.execute(SQL.count_requests, callers, program, list(totals.values()))
        rows = await self._database.fetch(SQL.requests_elsewhere, program, callers)
        return {(row["caller"], row["program"]): row["total"] for row in rows}

    async def forget(self) -> None:
        await self._database.execute(SQL.forget_requests)
