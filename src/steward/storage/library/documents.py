"""Documents and their chunks in PostgreSQL.

A document and its chunks are one transaction, so that nothing is ever half ingested. Collections and projects
(collections.py), vectors (spaces.py) and the search (passages.py) are parts of the same store.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence

import asyncpg

from steward.knowledge.model import (
    CollectionError,
    ContentType,
    Document,
    DocumentError,
    EmbeddedChunk,
    LibraryAnswer,
    StoredDocument,
)
from steward.knowledge.ports import PastQuery, ReadPassage, StoredFile
from steward.storage import undo
from steward.storage.database import sql
from steward.storage.database.postgres import Session
from steward.storage.library import lexemes, library_undo
from steward.storage.library.collections import PostgresCollections
from steward.storage.library.passages import PostgresPassages
from steward.storage.library.spaces import copy_vectors

SQL = sql.load("knowledge")
_CHUNK_COLUMNS = (
    "id", "document_id", "collection_id", "sequence", "kind", "header_path", "page", "span_start", "span_end",
    "content",
)  # fmt: skip


class PostgresKnowledgeStore(PostgresCollections, PostgresPassages):
    """On a database, or inside a transaction of somebody else's."""

    def __init__(self, database: Session) -> None:
        PostgresCollections.__init__(self, database)
        PostgresPassages.__init__(self, database)
        self._settling: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def known(self, collection: int, sources: Sequence[str]) -> Mapping[str, str]:
        rows = await self._database.fetch(SQL.known_documents, collection, list(sources))
        return {row["source"]: row["sha256"] for row in rows}

    async def files_under(self, collection: int, folder: str) -> AsyncIterator[StoredFile]:
        last, prefix = 0, f"{folder.rstrip('/')}/"
        while rows := await self._database.fetch(SQL.files_under, collection, prefix, last):
            for row in rows:
                last = row["id"]
                yield StoredFile(row["source"], row["root"])

    async def replace(
        self, collection: int, document: Document, chunks: Sequence[EmbeddedChunk], *, embedder: str
    ) -> bool:
        if not chunks:
            raise DocumentError(f"'{document.title}' holds no text.", fix="There is nothing to keep.")
        space = await self.space(embedder, len(chunks[0].vector))
        async with self._database.transaction() as session:
            before = await library_undo.document_before(session, collection, document.source)
            stored = await session.fetchrow(
                SQL.put_document,
                *(collection, document.source, document.title, document.media_type, document.sha256),
                *(document.size, document.root, [space.id], len(chunks), document.metadata),
            )
            if stored is None:
                if await session.fetchval(SQL.collection_exists, collection) is None:
                    raise CollectionError("The collection was deleted meanwhile.", fix="Create it again.")
                return False
            noted = await library_undo.note_document(session, stored["id"], before, document)
            if stored["replaced"] and not noted:
                await session.execute(SQL.forget_chunks, stored["id"])
            ids = stored["chunk_ids"]
            await _copy_chunks(session, collection, stored["id"], list(zip(ids, chunks, strict=True)))
            await copy_vectors(session, space, collection, ids, [item.vector for item in chunks])
        return True

    async def remove(self, collection: int, sources: Sequence[str]) -> int:
        return await self._database.fetchval(SQL.remove_documents, collection, list(sources))

    async def remove_moved(self, collection: int, sources: Sequence[str]) -> int:
        if undo.call_under_way() is None:
            return await self._database.fetchval(SQL.remove_moved, collection, list(sources))
        async with self._database.transaction() as session:
            moved = await session.fetch(SQL.moved_documents, collection, list(sources))
            for row in moved:
                words = f"removed the document '{row['title']}', which had moved"
                await library_undo.put_away(session, row["id"], words=words)
        return len(moved)

    async def remove_document(self, document_id: int) -> StoredDocument:
        """Within a call it can be taken back."""
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.document_to_remove, document_id)
            if row is None:
                raise _no_document(document_id)
            if undo.call_under_way() is None:
                await session.execute(undo.SQL.delete_document, document_id)
            else:
                words = f"removed the document '{row['title']}'"
                await library_undo.put_away(session, document_id, words=words)
        await self.settle(row["collection_id"])
        return _document(row)

    async def settle(self, collection: int) -> None:
        async with self._settling[collection]:
            await self._database.execute(SQL.settled, collection)
            await asyncio.gather(self._database.execute(SQL.merge_new_terms), self.count_terms(collection))
            await self.build_indexes()

    async def document(self, document_id: int) -> StoredDocument:
        row = await self._database.fetchrow(SQL.document, document_id)
        if row is None:
            raise _no_document(document_id)
        return _document(row)

    async def passages_of(self, document_id: int, *, first: int, limit: int) -> Sequence[ReadPassage]:
        rows = await self._database.fetch(SQL.passages_of, document_id, first, limit)
        return [
            ReadPassage(
                id=row["id"],
                sequence=row["sequence"],
                kind=ContentType(row["kind"]),
                header_path=row["header_path"],
                page=row["page"],
                text=row["content"],
            )
            for row in rows
        ]

    async def documents_from(self, source: str) -> Sequence[StoredDocument]:
        rows = await self._database.fetch(SQL.documents_from, source.replace("\0", ""))
        return [_document(row) for row in rows]

    async def documents(
        self, collection: str, *, limit: int, after: int | None = None
    ) -> Sequence[StoredDocument]:
        rows = await self._database.fetch(SQL.documents, collection, limit, after)
        return [_document(row) for row in rows]

    async def record_query(
        self, query: str, collections: Sequence[str], answer: LibraryAnswer, *, user: str | None
    ) -> None:
        best = max((hit.relevance for hit in answer.hits), default=None)
        status = answer.refinement.status.value
        await self._database.execute(
            SQL.record_query, query, list(collections), len(answer.hits), best, status, user
        )

    async def history(self, *, user: str | None, limit: int, after: int | None = None) -> Sequence[PastQuery]:
        return [
            PastQuery(
                id=row["id"],
                query=row["query"],
                collections=tuple(row["collections"]),
                results=row["results"],
                best=row["best"],
                refinement=row["refinement"],
                asked_at=row["asked_at"],
            )
            for row in await self._database.fetch(SQL.history, limit, after, user)
        ]


async def _copy_chunks(
    session: Session, collection: int, document_id: int, pairs: Sequence[tuple[int, EmbeddedChunk]]
) -> None:
    await session.copy_records(
        "kb_chunks",
        columns=_CHUNK_COLUMNS,
        records=[
            (
                *(chunk_id, document_id, collection, item.chunk.sequence, item.chunk.kind.value),
                *(item.chunk.header_path, item.chunk.page, item.chunk.start, item.chunk.end, item.chunk.text),
            )
            for chunk_id, item in pairs
        ],
    )
    await session.copy_records(
        "kb_terms",
        columns=("chunk_id", "collection_id", "length", "terms"),
        records=[
            (chunk_id, collection, item.length, lexemes.encoded(item.counts)) for chunk_id, item in pairs
        ],
    )


def _no_document(document_id: int) -> DocumentError:
    return DocumentError(f"There is no document {document_id}.", fix="List a collection's documents.")


def _document(row: asyncpg.Record) -> StoredDocument:
    names = (
        "id",
        "collection",
        "source",
        "title",
        "media_type",
        "sha256",
        "size",
        "chunks",
        "ingested_at",
        "metadata",
    )
    return StoredDocument(**{name: row[name] for name in names})
