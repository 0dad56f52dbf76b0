"""What a document leaves in the database, and what is found of it before anything was counted."""

import asyncio
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from steward.knowledge.model import (
    Chunk,
    Collection,
    CollectionError,
    CollectionKind,
    ContentType,
    Document,
    EmbeddedChunk,
)
from steward.knowledge.ports import PassageFilters
from steward.knowledge.terms import term_counts
from steward.storage.database.postgres import Database
from steward.storage.library import passages, spaces
from steward.storage.library.documents import PostgresKnowledgeStore

TABLES = ("kb_documents", "kb_chunks", "kb_terms", "kb_vectors")


def document(source: str, text: str) -> Document:
    return Document(source=source, title=source, media_type="text/plain", sha256=text, size=len(text))


def chunks(*texts: str) -> list[EmbeddedChunk]:
    return [
        EmbeddedChunk(
            chunk=Chunk(
                sequence=n, text=text, kind=ContentType.PROSE, header_path="", start=0, end=len(text)
            ),
            vector=np.eye(384, dtype=np.float32)[n],
            counts=term_counts(text),
        )
        for n, text in enumerate(texts)
    ]


@pytest.fixture
def store(database: Database) -> PostgresKnowledgeStore:
    return PostgresKnowledgeStore(database)


@pytest.fixture
async def papers(store: PostgresKnowledgeStore) -> Collection:
    return await store.create_collection("papers", CollectionKind.FUNDAMENTAL)


async def rows(database: Database) -> Mapping[str, int]:
    return {table: await database.fetchval(f"SELECT count(*) FROM {table}") for table in TABLES}


async def meaning(axis: int) -> "NDArray[np.float32]":
    return np.eye(384, dtype=np.float32)[axis]


async def found(store: PostgresKnowledgeStore, collection: Collection, query: str) -> list[str]:
    candidates = await store.candidates(
        term_counts(query), meaning(300), PassageFilters(collections=(collection.id,)), embedder="e", limit=1
    )
    by_count = sorted(
        zip(candidates.counts.sum(axis=1), candidates.passages, strict=True), key=lambda p: -p[0]
    )
    return [passage.text for count, passage in by_count if count]


async def test_a_document_takes_all_its_rows_along(
    database: Database, store: PostgresKnowledgeStore, papers: Collection
) -> None:
    assert await store.replace(papers.id, document("a", "1"), chunks("old bread", "old tea"), embedder="e")
    assert await store.replace(papers.id, document("b", "1"), chunks("honey"), embedder="e")
    before = await database.fetchval("SELECT id FROM kb_documents WHERE source = 'a'")
    assert not await store.replace(papers.id, document("a", "1"), chunks("never kept"), embedder="e")
    assert await store.replace(papers.id, document("a", "2"), chunks("new bread"), embedder="e")
    assert await database.fetchval("SELECT id FROM kb_documents WHERE source = 'a'") == before
    assert await rows(database) == dict.fromkeys(TABLES, 2)
    assert await store.remove(papers.id, ["a", "unknown"]) == 1
    assert await rows(database) == dict.fromkeys(TABLES, 1)
    await store.delete_collection("papers")
    assert await rows(database) == dict.fromkeys(TABLES, 0)


async def test_one_source_stored_twice_at_once_is_stored_once(
    database: Database, store: PostgresKnowledgeStore, papers: Collection
) -> None:
    stored = await asyncio.gather(
        *(
            store.replace(papers.id, document("a", "1"), chunks("bread", "tea"), embedder="e")
            for _ in range(8)
        )
    )
    assert sum(stored) == 1
    assert await rows(database) == {"kb_documents": 1, "kb_chunks": 2, "kb_terms": 2, "kb_vectors": 2}


async def test_a_document_for_a_collection_that_is_gone_is_refused(
    database: Database, store: PostgresKnowledgeStore, papers: Collection
) -> None:
    await store.delete_collection("papers")
    with pytest.raises(CollectionError):
        await store.replace(papers.id, document("a", "1"), chunks("bread"), embedder="e")
    assert await rows(database) == dict.fromkeys(TABLES, 0)


async def test_a_word_is_found_before_it_was_counted(
    store: PostgresKnowledgeStore, papers: Collection
) -> None:
    for n in range(30):
        await store.replace(papers.id, document(f"{n}", "1"), chunks(f"common words {n}"), embedder="e")
    await store.settle(papers.id)
    await store.replace(papers.id, document("new", "1"), chunks("a zeppelin over the harbour"), embedder="e")
    await store.settle(papers.id)  # too little changed to count again
    assert await found(store, papers, "zeppelin") == ["a zeppelin over the harbour"]


async def test_a_sample_of_a_large_collection_is_counted(
    database: Database, store: PostgresKnowledgeStore, papers: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "COUNTED_SAMPLE", 10)
    for n in range(40):
        text = "bread everywhere" + (" and one zeppelin" if n == 7 else "")
        await store.replace(papers.id, document(f"{n}", "1"), chunks(text), embedder="e")
    await store.settle(papers.id)
    counted = await database.fetch("SELECT term, chunks FROM kb_frequencies ORDER BY term")
    assert [(row["term"], row["chunks"]) for row in counted] == [("bread", 40), ("everywher", 40)]
    assert (await found(store, papers, "zeppelin bread"))[0] == "bread everywhere and one zeppelin"


async def test_words_that_are_everywhere_are_looked_for_together(
    store: PostgresKnowledgeStore, papers: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "_EVALUATIONS", 1)
    texts = [f"bread {n}" for n in range(20)] + ["tea"] * 30 + ["bread with tea"]
    for n, text in enumerate(texts):
        await store.replace(papers.id, document(f"{n}", "1"), chunks(text), embedder="e")
    await store.settle(papers.id)
    assert (await found(store, papers, "bread and tea"))[0] == "bread with tea"


async def test_many_vectors_are_searched_by_an_index(
    database: Database, store: PostgresKnowledgeStore, papers: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spaces, "EXACT_LIMIT", 20)
    await store.replace(
        papers.id, document("a", "1"), chunks(*(f"word {n}" for n in range(60))), embedder="e"
    )
    await store.settle(papers.id)
    assert await database.fetchval("SELECT to_regclass('kb_vectors_nearest_1') IS NOT NULL")
    nearest = await store.nearest(await meaning(7), [papers.id], embedder="e", limit=1)
    texts = await database.fetch("SELECT content FROM kb_chunks WHERE id = ANY($1)", nearest)
    assert [row["content"] for row in texts] == ["word 7"]
