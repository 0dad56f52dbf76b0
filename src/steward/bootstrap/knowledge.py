"""The knowledge base and the memory, put together: which models, which readers, which tools."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from steward.bootstrap.core_tools import LOCAL_USER
from steward.bootstrap.models import model_config
from steward.contract.call import current_call
from steward.contract.ports import Embedder, Reranker, TextReader
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.documents.pool import DocumentReaders
from steward.knowledge.memory import MemoryManager, Scope
from steward.knowledge.service import KnowledgeBase
from steward.models.embedding import MiniLMEmbedder
from steward.models.hosted_embedding import hosted_embedder
from steward.models.rerank import CrossEncoder
from steward.orchestrator.orchestrator import Orchestrator
from steward.providers.builtin import BuiltinServerAgent, BuiltinTool
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.settings import Settings
from steward.storage.knowledge import PostgresKnowledgeStore
from steward.storage.memory import PostgresMemoryStore
from steward.storage.postgres import Database

KNOWLEDGE_AGENT = "knowledge"
MEMORY_AGENT = "memory"
_PERSON_SECONDS = 600.0  # a question to a person may be part of the call
_MARGIN = 5.0  # the server's own limit comes first: its error says more


def _rated(settings: Settings) -> dict[str, BuiltinTool]:
    usual, writes = settings.timeout + _MARGIN, Effect.WRITES_STORE
    return {
        "query_knowledge_base": BuiltinTool(
            effect=Effect.READS, examples=("What do my papers say about swarms?",), timeout=usual
        ),
        "manage_collections": BuiltinTool(effect=writes, timeout=_PERSON_SECONDS),
        "ingest_documents": BuiltinTool(effect=writes, timeout=3_600.0 + _MARGIN),
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
    settings: Settings, database: Database, orchestrator: Orchestrator, stack: AsyncExitStack
) -> Library:
    """Open it and stand its tools behind the door."""
    embedder, cross_encoder = MiniLMEmbedder(), CrossEncoder()
    reranker = cross_encoder if cross_encoder.installed else None
    readers = await stack.enter_async_context(DocumentReaders())
    document_embedder = hosted_embedder(settings.embedder, model_config(settings)) or embedder
    base = KnowledgeBase(
        PostgresKnowledgeStore(database),
        embedder=document_embedder,
        reranker=reranker,
        readers=readers,
        roots=(*settings.roots, settings.uploads_folder),
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
    orchestrator.register_agent_factory(MEMORY_AGENT, lambda: memory_agent(library))
    return library


def knowledge_agent(library: Library, settings: Settings) -> BuiltinServerAgent:
    from steward.servers.knowledge import build  # noqa: PLC0415 - brings FastMCP, most of a second

    server = build(library.base, seconds=settings.timeout)
    return BuiltinServerAgent(
        KNOWLEDGE_AGENT, server, _rated(settings), name="Knowledge base", category="knowledge"
    )


def memory_agent(library: Library) -> LegacyToolAgent:
    return LegacyToolAgent(
        MEMORY_AGENT,
        [_search(library), _store(library), _forget(library)],
        name="Semantic memory",
        capabilities=("memory",),
    )


def _scope(agent: str | None = None, project: str | None = None) -> Scope:
    call = current_call.get()
    return Scope(user=(call.user if call else None) or LOCAL_USER, agent=agent, project=project)


def _teller() -> str:
    """Who stores it, where the metadata names no source: a person, an agent or a client by name."""
    call = current_call.get()
    return "agent" if call is None else f"{call.caller.kind.value}:{call.caller.id}"


def _properties(**extra: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **extra,
        "agent": {"type": ["string", "null"], "description": "Only what this agent keeps for itself."},
        "project": {"type": ["string", "null"], "description": "Only what belongs to this project."},
    }


def _search(library: Library) -> FunctionTool:
    async def search(
        query: str, top_k: int = 5, agent: str | None = None, project: str | None = None
    ) -> dict[str, Any]:
        found = await library.memory(_scope(agent, project)).semantic_search(query, top_k)
        return {"items": found}

    return FunctionTool(
        ToolSpec(
            name="search_memory",
            description="Find what was learned before, by meaning: past research, facts, decisions. Use it "
            "instead of web_search for what was found out or told before. Prefer query_knowledge_base for "
            "documents.",
            input_schema={
                "type": "object",
                "properties": _properties(
                    query={"type": "string", "description": "What to look for."},
                    top_k={
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 100,
                        "description": "How many at most.",
                    },
                ),
                "required": ["query"],
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.READS,
            hints=ToolHints(read_only=True, destructive=False, idempotent=True, open_world=False),
            examples=("What did we find out about Python async?",),
            category="memory",
            aliases=("memory_search",),
        ),
        search,
    )


def _store(library: Library) -> FunctionTool:
    async def store(
        content: str,
        metadata: Mapping[str, Any] | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> dict[str, str]:
        known = {"source": _teller(), **{k: v for k, v in (metadata or {}).items() if v is not None}}
        return {"id": await library.memory(_scope(agent, project)).store_document(content, known)}

    return FunctionTool(
        ToolSpec(
            name="store_memory",
            description="Keep what was learned, to be found again. A newer fact takes an older one's place. "
            "Prefer augment_knowledge for whole documents.",
            input_schema={
                "type": "object",
                "properties": _properties(
                    content={"type": "string", "description": "What to remember, as statements."},
                    metadata={
                        "type": ["object", "null"],
                        "description": "topic, source, timestamp (ISO 8601), conversation, and more.",
                    },
                ),
                "required": ["content"],
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
            category="memory",
        ),
        store,
    )


def _forget(library: Library) -> FunctionTool:
    async def forget(
        id: str | None = None,  # noqa: A002 - the argument's public name
        agent: str | None = None,
        project: str | None = None,
    ) -> dict[str, int]:
        manager = library.memory(_scope(agent, project))
        if id is None:
            return {"forgotten": await manager.forget_all()}
        return {"forgotten": await manager.forget(id)}

    return FunctionTool(
        ToolSpec(
            name="forget_memory",
            description="Forget one memory by its id, with what it took the place of, or without an id "
            "everything in the scope. For good. Prefer store_memory for a fact that has changed.",
            input_schema={
                "type": "object",
                "properties": _properties(id={"type": ["string", "null"], "description": "The memory's id."}),
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.IRREVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=True, idempotent=True, open_world=False),
            category="memory",
        ),
        forget,
    )
