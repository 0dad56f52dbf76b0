"""Another embedder takes over: vectors of other dimensions, made again from what is stored."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.library import embedder as built_in
from tests.support.library import reranker
from tests.support.scripted_model import SERVER_ERROR, Garbage, scripted_model

from steward.contract.errors import ConflictError, ModelError, NotFoundError
from steward.contract.places import Places
from steward.contract.ports import Embedder
from steward.documents.pool import DocumentReaders
from steward.knowledge import renewal
from steward.knowledge.model import ConfigurationError
from steward.knowledge.ports import StoredSpace
from steward.knowledge.service import KnowledgeBase
from steward.models.hosted_embedding import HostedEmbedder
from steward.storage.database.postgres import Database
from steward.storage.library.documents import PostgresKnowledgeStore

TEXTS = {
    "bread": "The loaf is baked at 230 degrees.",
    "bees": "A swarm leaves with the old queen.",
    "tea": "Green tea is brewed at eighty degrees.",
}


def meaning(text: str) -> list[float]:
    """Three numbers that know what a question has in common with a text, not by its words."""
    near = [
        any(word in text for word in words) for words in (("loaf", "oven"), ("swarm", "hive"), ("tea", "cup"))
    ]
    return [float(each) + 0.1 for each in near]


def scripted(request: Mapping[str, Any]) -> Garbage:
    rows = [{"index": i, "embedding": meaning(text)} for i, text in enumerate(request["input"])]
    return Garbage(body=json.dumps({"data": rows}).encode())


def base(
    database: Database, embedder: Embedder, readers: DocumentReaders, *, reading: bool = False
) -> KnowledgeBase:
    return KnowledgeBase(
        PostgresKnowledgeStore(database),
        embedder=embedder,
        reranker=reranker() if reading else None,
        readers=readers,
        places=Places.of([Path.cwd()]),
    )


async def stored(database: Database) -> dict[str, tuple[int, int, int]]:
    """For each model: its dimensions, its vectors, and how many documents are said to have them."""
    rows = await database.fetch(
        "SELECT s.embedder, s.dimensions, (SELECT count(*) FROM kb_vectors WHERE space = s.id) AS vectors, "
        "(SELECT count(*) FROM kb_documents WHERE s.id = ANY(spaces)) AS documents FROM kb_spaces s"
    )
    return {row["embedder"]: (row["dimensions"], row["vectors"], row["documents"]) for row in rows}


class Unused:
    """The built-in model, which must not be asked for more than the question."""

    name = built_in().name
    dimensions = built_in().dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert len(texts) == 1
        return built_in().embed(texts)


async def filled(database: Database, readers: DocumentReaders) -> None:
    first = base(database, built_in(), readers)
    await first.create_collection("papers")
    for source, text in TEXTS.items():
        await first.augment(text, source=source, collection="papers", title="Note")
    assert (await first.query("how hot is the loaf baked")).hits[0].citation.document == "bread"


async def test_another_model_reads_everything_and_leaves_the_first_ones_vectors_alone(
    database: Database,
) -> None:
    async with DocumentReaders(workers=1) as readers, scripted_model(scripted) as server:
        await filled(database, readers)
        assert await stored(database) == {built_in().name: (384, 3, 3)}
        hosted = HostedEmbedder("openai:other", address=server.address, key=None, seconds=10)
        moved = base(database, hosted, readers)
        assert (await moved.query("what goes in the oven")).hits[0].citation.document == "bread"
        assert await stored(database) == {built_in().name: (384, 3, 3), "openai:other": (3, 3, 3)}
        back = base(database, Unused(), readers)
        assert (await back.query("how hot is the loaf baked")).hits[0].citation.document == "bread"
        await moved.augment("The hive has a swarm.", source="hive", collection="papers")
        assert await stored(database) == {built_in().name: (384, 3, 3), "openai:other": (3, 4, 4)}
        again = base(database, built_in(), readers)
        assert (await again.query("what is in the hive")).hits[0].citation.document == "hive"
        assert await stored(database) == {built_in().name: (384, 4, 4), "openai:other": (3, 4, 4)}
        await moved.augment("The oven has a loaf.", source="bees", collection="papers")  # replaced, for both
        assert await stored(database) == {built_in().name: (384, 3, 3), "openai:other": (3, 4, 4)}


async def test_only_vectors_of_a_model_that_is_not_used_are_removed_and_can_be_made_again(
    database: Database,
) -> None:
    async with DocumentReaders(workers=1) as readers, scripted_model(scripted) as server:
        await filled(database, readers)
        hosted = HostedEmbedder("openai:other", address=server.address, key=None, seconds=10)
        moved = base(database, hosted, readers)
        await moved.query("what goes in the oven")
        first, other = await moved.embedders()
        assert first == StoredSpace(
            embedder=built_in().name, dimensions=384, documents=3, vectors=3, size=first.size
        )
        assert first.size > other.size > 0
        with pytest.raises(ConflictError):
            await moved.remove_embedder("openai:other")
        with pytest.raises(NotFoundError):
            await moved.remove_embedder("openai:never")
        assert await moved.remove_embedder(built_in().name) == 3
        assert [space.embedder for space in await moved.embedders()] == ["openai:other"]
        assert await stored(database) == {built_in().name: (384, 0, 0), "openai:other": (3, 3, 3)}
        assert (await moved.query("what goes in the oven")).hits[0].citation.document == "bread"
        back = base(database, built_in(), readers)
        assert (await back.query("how hot is the loaf baked")).hits[0].citation.document == "bread"
        assert await stored(database) == {built_in().name: (384, 3, 3), "openai:other": (3, 3, 3)}


async def test_a_renewal_that_fails_goes_on_later_with_the_rest(database: Database) -> None:
    async with DocumentReaders(workers=1) as readers:
        await filled(database, readers)
        async with scripted_model(scripted, *[SERVER_ERROR] * 4) as server:
            hosted = HostedEmbedder(
                "openai:other", address=server.address, key=None, seconds=10, sleep=lambda _: None
            )
            moved = base(database, hosted, readers)
            with pytest.raises(ModelError):
                await moved.query("what goes in the oven")
            assert await stored(database) == {built_in().name: (384, 3, 3), "openai:other": (3, 1, 1)}
            server.script[:] = [scripted]
            assert (await moved.query("what goes in the oven")).hits[0].citation.document == "bread"
            assert await stored(database) == {built_in().name: (384, 3, 3), "openai:other": (3, 3, 3)}


async def test_a_large_library_is_searched_by_words_while_it_is_renewed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with DocumentReaders(workers=1) as readers, scripted_model(scripted) as server:
        await filled(database, readers)
        monkeypatch.setattr(renewal, "AT_ONCE", 0)
        hosted = HostedEmbedder("openai:other", address=server.address, key=None, seconds=10)
        moved = base(database, hosted, readers, reading=True)
        assert (await moved.query("green tea brewed at eighty degrees")).hits[0].citation.document == "tea"
        await moved.close()
        again = base(database, hosted, readers)
        await again.ingest(Path(__file__), "papers")
        chunks = await database.fetchval("SELECT count(*) FROM kb_chunks")
        assert (await stored(database))["openai:other"] == (3, chunks, 4)
        await again.close()


async def test_a_document_that_was_replaced_meanwhile_gets_no_vectors_of_its_former_text(
    database: Database,
) -> None:
    async with DocumentReaders(workers=1) as readers:
        await filled(database, readers)
        store = PostgresKnowledgeStore(database)
        old = await store.next_outdated("openai:other", after=0)
        assert old is not None
        await base(database, built_in(), readers).augment("Rye.", source="bread", collection="papers")
        await store.renew(old, np.ones((1, 3), np.float32), embedder="openai:other")
        assert (await stored(database))["openai:other"] == (3, 0, 0)


async def test_a_model_with_too_many_numbers_is_refused(database: Database) -> None:
    with pytest.raises(ConfigurationError):
        await PostgresKnowledgeStore(database).space("openai:huge", 5_000)
