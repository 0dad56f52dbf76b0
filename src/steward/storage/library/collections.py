"""Collections and projects in PostgreSQL. What stands in them is the business of knowledge.py."""

from collections.abc import Sequence

import asyncpg

from steward.knowledge.model import Collection, CollectionError, CollectionKind, Project
from steward.storage import undo
from steward.storage.database import sql
from steward.storage.database.postgres import Session

SQL = sql.load("knowledge")


class PostgresCollections:
    def __init__(self, database: Session) -> None:
        self._database = database

    async def create_collection(self, name: str, kind: CollectionKind) -> Collection:
        words = f"created the collection '{name}'"
        async with (
            self._database.transaction() as session,
            undo.noted(session, "kb_collections", {"name": name}, words=words),
        ):
            made = await session.fetchval(SQL.create_collection, name, kind.value)
        if made is None:
            raise CollectionError(
                f"There already is a collection '{name}'.", fix="Choose another name, or use that one."
            )
        return await self.collection(name)

    async def collections(self) -> Sequence[Collection]:
        return [_collection(row) for row in await self._database.fetch(SQL.collections, None)]

    async def collection(self, name: str) -> Collection:
        row = await self._database.fetchrow(SQL.collections, name)
        if row is None:
            known = [collection.name for collection in await self.collections()]
            there = f"There are: {', '.join(known[:20])}." if known else "There are none yet."
            raise CollectionError(
                f"There is no collection '{name}'.",
                fix=f"{there} Create it with 'research-agent collections create \"{name}\"'.",
                details={"collections": known[:100]},
            )
        return _collection(row)

    async def delete_collection(self, name: str) -> Collection:
        collection = await self.collection(name)
        await self._database.execute(SQL.delete_collection, collection.id)
        # For good: also what could have been brought back into it.
        await self._database.execute(undo.SQL.forget_documents, collection.id)
        await self._database.execute(undo.SQL.forget_thing, [f"kb_collections:{collection.id}"])
        await self._database.execute(undo.SQL.clear_shelves)
        return collection

    async def create_project(self, name: str) -> Project:
        words = f"created the project '{name}'"
        async with (
            self._database.transaction() as session,
            undo.noted(session, "kb_projects", {"name": name}, words=words),
        ):
            made = await session.fetchval(SQL.create_project, name)
        if made is None:
            raise CollectionError(f"There already is a project '{name}'.", fix="Choose another name.")
        return Project(name=name, collections=(), defaults=())

    async def projects(self) -> Sequence[Project]:
        return [_project(row) for row in await self._database.fetch(SQL.projects, None)]

    async def project(self, name: str) -> Project:
        row = await self._database.fetchrow(SQL.projects, name)
        if row is None:
            raise CollectionError(
                f"There is no project '{name}'.",
                fix=f"Create it with 'research-agent projects create \"{name}\"'.",
            )
        return _project(row)

    async def link(self, project: str, collections: Sequence[str]) -> Project:
        return await self._change_project(SQL.link, project, collections)

    async def unlink(self, project: str, collections: Sequence[str]) -> Project:
        return await self._change_project(SQL.unlink, project, collections)

    async def set_defaults(self, project: str, collections: Sequence[str]) -> Project:
        linked = (await self.project(project)).collections
        missing = [name for name in collections if name not in linked]
        if missing:
            raise CollectionError(
                f"Not linked to project '{project}': {', '.join(missing)}.",
                fix="Link a collection before making it a default.",
            )
        return await self._change_project(SQL.set_defaults, project, collections)

    async def _change_project(self, query: str, project: str, collections: Sequence[str]) -> Project:
        await self.project(project)
        for name in collections:
            await self.collection(name)
        words = f"changed the collections of the project '{project}'"
        async with self._database.transaction() as session:
            key = {"project_id": await session.fetchval(SQL.project_id, project)}
            async with undo.noted(session, "kb_project_collections", key, words=words):
                await session.execute(query, project, list(collections))
        return await self.project(project)


def _collection(row: asyncpg.Record) -> Collection:
    return Collection(
        id=row["id"],
        name=row["name"],
        kind=CollectionKind(row["kind"]),
        created_at=row["created_at"],
        documents=row["documents"],
        chunks=int(row["chunks"]),
        size=int(row["size"]),
        projects=tuple(row["projects"]),
    )


def _project(row: asyncpg.Record) -> Project:
    return Project(
        name=row["name"], collections=tuple(row["collections"] or ()), defaults=tuple(row["defaults"] or ())
    )
