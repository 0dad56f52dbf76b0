"""The knowledge base and the memory, put together: which models, which readers, which tools."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steward.bootstrap.memory_tools import MEMORY_AGENT, memory_agent
from steward.bootstrap.models import model_config
from steward.bootstrap.paths import single_path_rule
from steward.contract.ports import Embedder, Reranker, TextReader
from steward.contract.tool import Effect
from steward.documents.pool import DocumentReaders
from steward.knowledge.memory import MemoryManager, Scope
from steward.knowledge.service import KnowledgeBase
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.settings import Settings
from steward.storage.knowledge import PostgresKnowledgeStore
from steward.storage.memory import PostgresMemoryStore
from steward.storage.postgres import Database

if TYPE_CHECKING:
    from steward.providers.builtin import BuiltinServerAgent, BuiltinTool

KNOWLEDGE_AGENT = "knowledge"
_PERSON_SECONDS = 600.0  # a question to a person may be part of the call
_MARGIN = 5.0  # the server's own limit comes first: its error says more


def _rated(settings: Settings, base: KnowledgeBase) -> "dict[str, BuiltinTool]":
    from steward.providers.builtin import BuiltinTool  # noqa: PLC0415 - brings MCP, most of a second

    usual, writes = settings.timeout + _MARGIN, Effect.WRITES_STORE
    return {
        "query_knowledge_base": BuiltinTool(
            effect=Effect.READS, examples=("What do my papers say about swarms?",), timeout=usual
        ),
        "manage_collections": BuiltinTool(
            effect=writes, timeout=_PERSON_SECONDS, tell=lambda given: _deletion(base, given)
        ),
        "ingest_documents": BuiltinTool(
            effect=writes,
            examples=("Add the folder notes to my documents", "Import report.pdf into the collection work"),
            timeout=3_600.0 + _MARGIN,
        ),
        "manage_projects": BuiltinTool(effect=writes, timeout=_PERSON_SECONDS),
        "augment_knowledge": BuiltinTool(effect=writes, timeout=usual),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """What the researcher's library offers to the rest of the platform."""

    base: KnowledgeBase
    memories: PostgresMemoryStore
    embedder: TextReader  # the built-in one, for everything but documents
    document_embedder: Embedder
    reranker: Reranker | None
    readers: DocumentReaders

    def memory(self, scope: Scope) -> MemoryManager:
        return MemoryManager(self.memories, embedder=self.embedder, reranker=self.reranker, scope=scope)


async def open_library(
    settings: Settings,
    database: Database,
    orchestrator: Orchestrator,
    stack: AsyncExitStack,
    *,
    rules: Callable[[], Rules],
) -> Library:
    """Open it and stand its tools behind the door."""
    embedder, cross_encoder = MiniLMEmbedder(), CrossEncoder()
    reranker = cross_encoder if cross_encoder.installed else None
    readers = await stack.enter_async_context(DocumentReaders())
    document_embedder = _hosted(settings) or embedder
    base = KnowledgeBase(
        PostgresKnowledgeStore(database),
        embedder=document_embedder,
        reranker=reranker,
        readers=readers,
        places=settings.ingestible,
        withhold=single_path_rule(settings.ingestible, rules),
    )
    stack.push_async_callback(base.close)
    library = Library(
        base=base,
        memories=PostgresMemoryStore(database),
        embedder=embedder,
        document_embedder=document_embedder,
        reranker=reranker,
        readers=readers,
    )
    orchestrator.register_agent_factory(KNOWLEDGE_AGENT, lambda: knowledge_agent(library, settings))
    orchestrator.register_agent_factory(MEMORY_AGENT, lambda: memory_agent(library.memory))
    return library


async def _deletion(base: KnowledgeBase, given: Mapping[str, Any]) -> str | None:
    if given.get("action") != "delete":
        return None
    found = await base.collection(str(given.get("name")))
    documents = "1 document" if found.documents == 1 else f"{found.documents} documents"
    return f'deletes the collection "{found.name}" with its {documents}'


def _hosted(settings: Settings) -> Embedder | None:
    if settings.embedder is None:
        return None
    # Imported only where one is named: the HTTP client takes a quarter of a second to load.
    from steward.models.hosted_embedding import hosted_embedder  # noqa: PLC0415

    return hosted_embedder(settings.embedder, model_config(settings))


def knowledge_agent(library: Library, settings: Settings) -> "BuiltinServerAgent":
    # Both bring MCP and FastMCP, most of two seconds that a command without this agent need not pay.
    from steward.providers.builtin import BuiltinServerAgent  # noqa: PLC0415
    from steward.servers.knowledge import build  # noqa: PLC0415

    server = build(library.base, seconds=settings.timeout)
    return BuiltinServerAgent(
        KNOWLEDGE_AGENT, server, _rated(settings, library.base), name="Knowledge base", category="knowledge"
    )
