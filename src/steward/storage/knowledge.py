"""Documents, chunks and their search in PostgreSQL.

Candidates come from two narrow tables: terms (GIN, BM25 scored in SQL) and vectors (exact while few, HNSW
when many). A document and its chunks are one transaction, so that nothing is ever half ingested.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence

import asyncpg
import numpy as np
from numpy.typing import NDArray

from steward.knowledge.model import (
    Answer,
    Citation,
    Collection,
    CollectionError,
    CollectionKind,
    ConfigurationError,
    ContentType,
    Document,
    DocumentError,
    EmbeddedChunk,
    Project,
    StoredDocument,
)
from steward.knowledge.ports import Candidates, Filters, KnownDocument, OutdatedDocument, Passage, PastQuery
from steward.knowledge.ranking import Statistics
from steward.storage import lexemes, sql
from steward.storage.postgres import Session

SQL = sql.load("knowledge")
EXACT_LIMIT = 10_000  # up to here a scan of all vectors is as fast as an index, and never wrong
COUNTED_SAMPLE = 4_000  # passages of a collection whose terms are counted
_EVALUATIONS = 8_000  # of a term in a passage, for one query
_SCORED_TERMS = 32  # of a query, the rarest
_BREADTH = 200  # candidates that the vector index follows
_RECOUNT_SHARE = 0.1
MOST_DIMENSIONS = 4_000  # that a vector index takes
_GRAPH_BYTES = 1_300  # of memory that a vector takes while its index is built
_GRAPH_MEMORY = 1_024  # megabytes for it at most
_CHUNK_COLUMNS = (
    "id", "document_id", "collection_id", "sequence", "kind", "header_path", "page", "span_start", "span_end",
    "content",
)  # fmt: skip


class PostgresKnowledgeStore:
    """On a database, or inside a transaction of somebody else's."""

    def __init__(self, database: Session) -> None:
        self._database = database
        self._settling: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._space: tuple[str, int] | None = None

    # Collections and projects

    async def create_collection(self, name: str, kind: CollectionKind) -> Collection:
        if await self._database.fetchval(SQL.create_collection, name, kind.value) is None:
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
        return collection

    async def create_project(self, name: str) -> Project:
        if await self._database.fetchval(SQL.create_project, name) is None:
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
        await self._database.execute(query, project, list(collections))
        return await self.project(project)

    # Documents

    async def known(self, collection: int, sources: Sequence[str]) -> Mapping[str, KnownDocument]:
        rows = await self._database.fetch(SQL.known_documents, collection, list(sources))
        return {row["source"]: KnownDocument(row["sha256"], row["embedder"]) for row in rows}

    async def files_under(self, collection: int, folder: str) -> AsyncIterator[str]:
        last, prefix = 0, f"{folder.rstrip('/')}/"
        while rows := await self._database.fetch(SQL.files_under, collection, prefix, last):
            for row in rows:
                last = row["id"]
                yield row["source"]

    async def replace(
        self, collection: int, document: Document, chunks: Sequence[EmbeddedChunk], *, embedder: str
    ) -> bool:
        if chunks:
            await self.adopt(embedder, len(chunks[0].vector))
        async with self._database.transaction() as session:
            stored = await session.fetchrow(
                SQL.put_document,
                *(collection, document.source, document.title, document.media_type, document.sha256),
                *(document.size, document.root, embedder, len(chunks), document.metadata),
            )
            if stored is None:
                if await session.fetchval(SQL.collection_exists, collection) is None:
                    raise CollectionError("The collection was deleted meanwhile.", fix="Create it again.")
                return False
            if stored["replaced"]:
                await session.execute(SQL.forget_chunks, stored["id"])
            pairs = list(zip(stored["chunk_ids"], chunks, strict=True))
            await _copy_chunks(session, collection, stored["id"], pairs)
        return True

    async def adopt(self, embedder: str, dimensions: int) -> None:
        if self._space == (embedder, dimensions):
            return
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise ConfigurationError(
                f"The embedder '{embedder}' makes {dimensions} numbers a text.",
                fix=f"Choose one with at most {MOST_DIMENSIONS}.",
            )
        if not await self._lives_in(self._database, embedder, dimensions):
            await self._move_to(embedder, dimensions)
        self._space = (embedder, dimensions)

    async def _lives_in(self, session: Session, embedder: str, dimensions: int) -> bool:
        row = await session.fetchrow(SQL.space)
        return row is not None and (row["embedder"], row["dimensions"]) == (embedder, dimensions)

    async def _move_to(self, embedder: str, dimensions: int) -> None:
        async with self._database.transaction() as session:
            await session.execute(SQL.lock_space)
            if not await self._lives_in(session, embedder, dimensions):
                await session.execute(SQL.drop_vector_index)
                await session.execute(SQL.drop_vectors)
                await session.execute(
                    f"ALTER TABLE kb_vectors ALTER COLUMN embedding TYPE halfvec({dimensions:d}),"
                    " ALTER COLUMN embedding SET STORAGE PLAIN"
                )
                await session.execute(SQL.keep_space, embedder, dimensions)

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
        await self.adopt(embedder, vectors.shape[1])
        async with self._database.transaction() as session:
            if await session.fetchval(SQL.renew_document, document.id, embedder) is not None:
                await session.copy_records(
                    "kb_vectors",
                    columns=("chunk_id", "collection_id", "embedding"),
                    records=[
                        (chunk_id, document.collection, vector)
                        for chunk_id, vector in zip(document.chunk_ids, vectors, strict=True)
                    ],
                )

    async def remove(self, collection: int, sources: Sequence[str]) -> int:
        return await self._database.fetchval(SQL.remove_documents, collection, list(sources))

    async def settle(self, collection: int) -> None:
        async with self._settling[collection]:
            await self._database.execute(SQL.settled, collection)
            await asyncio.gather(self._database.execute(SQL.merge_new_terms), self._count_terms(collection))
            stored = await self._database.fetchval(SQL.vectors_stored)
            if stored > EXACT_LIMIT and not await self._database.fetchval(SQL.vector_index):
                await self._build_vector_index(stored)

    async def _count_terms(self, collection: int) -> None:
        state = await self._database.fetchrow(SQL.uncounted, collection)
        if state is None or state["counted"] is None:
            return
        changed = abs(state["now"] - state["counted"])
        if changed > _RECOUNT_SHARE * state["counted"]:
            async with self._database.transaction() as session:
                await session.execute(SQL.forget_frequencies, collection)
                await session.execute(SQL.count_frequencies, collection, -(-state["now"] // COUNTED_SAMPLE))
                await session.execute(SQL.count_lengths, collection)

    async def _build_vector_index(self, vectors: int) -> None:
        """In memory as far as it goes: a graph that outgrows it is built many times slower."""
        megabytes = min(max(128, vectors * _GRAPH_BYTES >> 20), _GRAPH_MEMORY)
        async with self._database.transaction() as session:
            await session.execute(SQL.index_memory, f"{megabytes}MB")
            await session.execute(SQL.drop_vector_index)
            await session.execute(SQL.create_vector_index)

    # Search

    async def candidates(
        self, terms: Mapping[str, int], vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Candidates:
        statistics = await self._statistics(filters.collections, list(terms))
        if not statistics.passages:  # a load that was killed before it could count
            for collection in filters.collections:
                await self._count_terms(collection)
            statistics = await self._statistics(filters.collections, list(terms))
        lexical, nearest = await asyncio.gather(
            self._lexical(terms, filters.collections, statistics, limit),
            self._nearest(vector, filters.collections, statistics, limit),
        )
        ids = list(dict.fromkeys([*lexical, *nearest]))
        rows = await self._database.fetch(
            SQL.passages,
            *(ids, [lexemes.quoted(term) for term in terms]),
            *([kind.value for kind in filters.kinds], dict(filters.metadata)),
        )
        missing = np.zeros_like(vector)  # of a document that the present model has not read yet
        vectors = [missing if row["embedding"] is None else row["embedding"] for row in rows]
        return Candidates(
            passages=[_passage(row) for row in rows],
            vectors=stacked(vectors),
            counts=np.array([row["counts"] for row in rows], np.float64).reshape(len(rows), len(terms)),
            lengths=np.array([row["length"] for row in rows], np.float64),
            statistics=statistics,
        )

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

    async def nearest(
        self, vector: NDArray[np.float32], collections: Sequence[int], *, limit: int
    ) -> list[int]:
        """The chunks with the nearest vectors, by chunk id."""
        return await self._nearest(vector, collections, await self._statistics(collections, []), limit)

    async def _nearest(
        self, vector: NDArray[np.float32], collections: Sequence[int], statistics: Statistics, limit: int
    ) -> list[int]:
        if statistics.passages <= EXACT_LIMIT:
            rows = await self._database.fetch(SQL.nearest_exact, list(collections), vector, limit)
        else:
            breadth = str(min(max(limit, _BREADTH), 1_000))
            rows = await self._database.fetch(SQL.nearest, list(collections), vector, limit, breadth)
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

    async def document(self, document_id: int) -> StoredDocument:
        row = await self._database.fetchrow(SQL.document, document_id)
        if row is None:
            raise DocumentError(f"There is no document {document_id}.", fix="List a collection's documents.")
        return _document(row)

    async def documents(
        self, collection: str, *, limit: int, after: int | None = None
    ) -> Sequence[StoredDocument]:
        rows = await self._database.fetch(SQL.documents, collection, limit, after)
        return [_document(row) for row in rows]

    async def record_query(
        self, query: str, collections: Sequence[str], answer: Answer, *, user: str | None
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
        "kb_vectors",
        columns=("chunk_id", "collection_id", "embedding"),
        records=[(chunk_id, collection, item.vector) for chunk_id, item in pairs],
    )
    await session.copy_records(
        "kb_terms",
        columns=("chunk_id", "collection_id", "length", "terms"),
        records=[
            (chunk_id, collection, item.length, lexemes.encoded(item.counts)) for chunk_id, item in pairs
        ],
    )


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
