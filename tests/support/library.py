"""The knowledge base on a test's database, with the real models and readers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from steward.contract.places import Places
from steward.documents.pool import DocumentReaders
from steward.knowledge.memory import MemoryManager, Scope
from steward.knowledge.service import KnowledgeBase
from steward.knowledge.stated import StatedFacts
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder
from steward.storage.database.postgres import Database
from steward.storage.library.documents import PostgresKnowledgeStore
from steward.storage.library.facts import PostgresFactStore
from steward.storage.library.memory import PostgresMemoryStore


@cache
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


@cache
def reranker() -> CrossEncoder:
    return CrossEncoder()


@asynccontextmanager
async def open_base(
    database: Database, roots: Sequence[Path], *, reading: bool = True
) -> AsyncIterator[KnowledgeBase]:
    async with DocumentReaders(workers=2) as readers:
        yield KnowledgeBase(
            PostgresKnowledgeStore(database),
            embedder=embedder(),
            reranker=reranker() if reading else None,
            readers=readers,
            places=Places.of(roots),
        )


def memory(database: Database, **scope: str) -> MemoryManager:
    return MemoryManager(
        PostgresMemoryStore(database),
        embedder=embedder(),
        reranker=reranker(),
        scope=Scope(**{"user": "local", **scope}),
        stated=StatedFacts(PostgresFactStore(database), embedder()),
    )
