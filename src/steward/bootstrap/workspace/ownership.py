"""A user's data as one file: out of a workspace, and into this or another one.

Owns what an export holds: every row kept under the user's id, and the library's collections, projects and
documents as the text that was read. Importing is one transaction: everything comes in or nothing does, and
what is there already stays as it is, so that importing again changes nothing.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from steward.bootstrap.knowledge import Library
from steward.bootstrap.platform import Platform
from steward.contract.errors import ErrorCode, InputError
from steward.contract.places import Places
from steward.documents.pool import DocumentReaders
from steward.knowledge.ingest import Ingester
from steward.knowledge.model import Chunk, Collection, CollectionKind, ContentType, Document
from steward.storage.database.archive import ArchiveReader, ArchiveWriter
from steward.storage.database.postgres import Session
from steward.storage.library.documents import PostgresKnowledgeStore
from steward.storage.ownership import LibraryRows, OwnedRows, TakenIn, one_view, owned_tables

KIND = "steward-export"
COLLECTIONS, PROJECTS, DOCUMENTS = "library/collections", "library/projects", "library/documents"


def _file(part: str) -> str:
    return f"{part}.jsonl"


@dataclass(frozen=True, slots=True)
class Moved:
    """How many of each came along; those that were there already stayed as they were."""

    added: dict[str, int] = field(default_factory=dict[str, int])
    present: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, part: str, taken: TakenIn) -> None:
        self.added[part], self.present[part] = taken.added, taken.present


async def export_user(platform: Platform, user_id: str, path: Path, *, library: bool = True) -> None:
    user = await platform.tasks.users.get(user_id)
    about = {
        "steward": version("steward-agents"),
        "made_at": datetime.now(UTC).isoformat(),
        "user": {"id": user.id, "name": user.name, "time_zone": user.time_zone},
    }
    with ArchiveWriter(path, kind=KIND, about=about) as archive:
        async with platform.database.transaction() as session:
            await one_view(session)
            tables = await owned_tables(session)
            rows = OwnedRows(session, user.id)
            for table in tables:
                await _write(archive, table.name, rows.read(table))
            archive.note("columns", {table.name: list(table.columns) for table in tables})
            if library:
                shelves = LibraryRows(session)
                await _write(archive, COLLECTIONS, shelves.collections())
                await _write(archive, PROJECTS, _projects(session))
                await _write(archive, DOCUMENTS, shelves.documents())


async def _write(archive: ArchiveWriter, part: str, lines: AsyncIterator[str]) -> None:
    with archive.part(_file(part)) as file:
        async for line in lines:
            file.line(line)


async def _projects(session: Session) -> AsyncIterator[str]:
    for project in await PostgresKnowledgeStore(session).projects():
        row = {"name": project.name, "collections": project.collections, "defaults": project.defaults}
        yield json.dumps(row, ensure_ascii=False)


async def import_user(platform: Platform, user_id: str, path: Path) -> Moved:
    user = await platform.tasks.users.get(user_id)
    moved = Moved()
    with await asyncio.to_thread(ArchiveReader, path, kind=KIND, strict=True) as archive:
        columns: Mapping[str, list[str]] = archive.manifest.get("columns") or {}
        async with platform.database.transaction() as session:
            rows = OwnedRows(session, user.id)
            await rows.open()
            for table in await owned_tables(session):
                with closing(archive.lines(_file(table.name))) as lines:
                    moved.note(table.name, await rows.take(table, columns.get(table.name, ()), lines))
            shelves = _Shelves(session, platform.library, moved)
            await shelves.fill(archive)
    store = PostgresKnowledgeStore(platform.database)
    for collection in shelves.touched:  # counted once it is there, as after any ingest
        await store.settle(collection)
    return moved


class _Shelves:
    """Collections, projects and documents on their way in."""

    def __init__(self, session: Session, library: Library, moved: Moved) -> None:
        self._store = PostgresKnowledgeStore(session)
        # Nothing is read from files here: the text was read when it was first ingested.
        self._ingester = Ingester(self._store, library.document_embedder, DocumentReaders(), places=Places())
        self._moved = moved
        self._collections: dict[str, Collection] = {}
        self.touched: set[int] = set()

    async def fill(self, archive: ArchiveReader) -> None:
        self._collections = {one.name: one for one in await self._store.collections()}
        for part, take in (
            (COLLECTIONS, self._collection),
            (PROJECTS, self._project),
            (DOCUMENTS, self._document),
        ):
            added = present = 0
            with closing(archive.lines(_file(part))) as lines:
                while (line := await asyncio.to_thread(next, lines, None)) is not None:
                    came = await self._took(part, take, line)
                    added, present = added + came, present + (not came)
            self._moved.note(part, TakenIn(added, present))

    async def _took(self, part: str, take: Callable[[Mapping[str, Any]], Awaitable[bool]], line: str) -> bool:
        try:
            return await take(await asyncio.to_thread(json.loads, line))
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"A line of {part} cannot be read.",
                code=ErrorCode.ARCHIVE_INVALID,
                fix="Nothing was imported. Use an export that Steward wrote, unchanged.",
            ) from None

    async def _collection(self, row: Mapping[str, Any]) -> bool:
        if row["name"] in self._collections:
            return False
        made = await self._store.create_collection(row["name"], CollectionKind(row["kind"]))
        self._collections[made.name] = made
        return True

    async def _project(self, row: Mapping[str, Any]) -> bool:
        if row["name"] in {project.name for project in await self._store.projects()}:
            return False
        await self._store.create_project(row["name"])
        if row["collections"]:
            await self._store.link(row["name"], row["collections"])
        if row["defaults"]:
            await self._store.set_defaults(row["name"], row["defaults"])
        return True

    async def _document(self, row: Mapping[str, Any]) -> bool:
        collection = self._collections[row["collection"]]
        if row["source"] in await self._store.known(collection.id, [row["source"]]):
            return False
        document = Document(
            **{name: row[name] for name in ("source", "title", "media_type", "sha256", "size", "root")},
            metadata=row["metadata"],
        )
        await self._ingester.keep(document, [_chunk(chunk) for chunk in row["chunks"]], collection)
        self.touched.add(collection.id)
        return True


def _chunk(row: Mapping[str, Any]) -> Chunk:
    names = ("sequence", "text", "header_path", "start", "end", "page")
    return Chunk(kind=ContentType(row["kind"]), **{name: row[name] for name in names})
