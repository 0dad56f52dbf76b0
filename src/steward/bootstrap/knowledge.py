"""The knowledge base and the memory, put together: which models, which readers, which tools."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steward.bootstrap.models import model_config
from steward.bootstrap.paths import single_path_rule
from steward.bootstrap.tools.library_tools import LIBRARY_AGENT, library_agent
from steward.bootstrap.tools.memory_tools import MEMORY_AGENT, memory_agent
from steward.bootstrap.tools.undoing import Undoing
from steward.contract.ports import Embedder, Reranker, TextReader
from steward.contract.tool import Effect
from steward.documents.pool import DocumentReaders
from steward.knowledge.memory import MemoryManager, Scope
from steward.knowledge.service import KnowledgeBase
from steward.knowledge.stated import StatedFacts
from steward.models.embedding import minilm_embedder
from steward.models.rerank import CrossEncoder
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.settings import Settings
from steward.storage.database.postgres import Database
from steward.storage.library.documents import PostgresKnowledgeStore
from steward.storage.library.facts import PostgresFactStore
from steward.storage.library.library_undo import DOCUMENT, document_taker
from steward.storage.library.memory import PostgresMemoryStore

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
            tell=lambda given: _reading(base, given),
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
    stated: StatedFacts

    def memory(self, scope: Scope) -> MemoryManager:
        return MemoryManager(
            self.memories, embedder=self.embedder, reranker=self.reranker, scope=scope, stated=self.stated
        )

    async def has_documents(self) -> bool:
        return any(each.documents for each in await self.base.collections())


async def open_library(
    settings: Settings,
    database: Database,
    orchestrator: Orchestrator,
    stack: AsyncExitStack,
    *,
    rules: Callable[[], Rules],
    undoing: Undoing,
) -> Library:
    """Open it and stand its tools behind the door."""
    embedder, cross_encoder = minilm_embedder(), CrossEncoder()
    reranker = cross_encoder if cross_encoder.installed else None
    readers = await stack.enter_async_context(DocumentReaders())
    document_embedder = _hosted(settings) or embedder
    store = PostgresKnowledgeStore(database)
    undoing.add(DOCUMENT, document_taker(store.settle))
    base = KnowledgeBase(
        store,
        embedder=document_embedder,
        reranker=reranker,
        readers=readers,
        places=settings.ingestible,
        withhold=single_path_rule(settings.ingestible, rules),
        uploads=settings.uploads_folder,
    )
    stack.push_async_callback(base.close)
    library = Library(
        base=base,
        memories=PostgresMemoryStore(database),
        embedder=embedder,
        document_embedder=document_embedder,
        reranker=reranker,
        readers=readers,
        stated=StatedFacts(PostgresFactStore(database), embedder),
    )
    orchestrator.register_agent_factory(KNOWLEDGE_AGENT, lambda: knowledge_agent(library, settings))
    orchestrator.register_agent_factory(LIBRARY_AGENT, lambda: library_agent(base))
    orchestrator.register_agent_factory(MEMORY_AGENT, lambda: memory_agent(library.memory))
    return library


async def _deletion(base: KnowledgeBase, given: Mapping[str, Any]) -> str | None:
    """Raises for a collection that is not there: nobody is asked about nothing."""
    name = given.get("collection_name")
    if given.get("action") != "delete" or not name:
        return None
    found = await base.collection(str(name))
    documents = "1 document" if found.documents == 1 else f"{found.documents} documents"
    return f'deletes the collection "{found.name}" with its {documents}'


async def _reading(base: KnowledgeBase, given: Mapping[str, Any]) -> None:
    """Raises for a place or a collection that is not there."""
    await base.check_ingest(str(given.get("path")), str(given.get("collection")))


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
