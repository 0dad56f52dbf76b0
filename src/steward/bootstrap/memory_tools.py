"""The memory as tools behind the door: search, store, forget, each in the scope of whoever calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from steward.bootstrap.core_tools import LOCAL_USER
from steward.contract.call import current_call
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.knowledge.memory import MemoryManager, Scope
from steward.providers.functions import FunctionTool, LegacyToolAgent

MEMORY_AGENT = "memory"
Managers = Callable[[Scope], MemoryManager]


def memory_agent(managers: Managers) -> LegacyToolAgent:
    return LegacyToolAgent(
        MEMORY_AGENT,
        [_search(managers), _store(managers), _forget(managers)],
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


def _tool(
    function: Callable[..., Awaitable[Mapping[str, Any]]],
    *,
    name: str,
    description: str,
    takes: Mapping[str, Any],
    required: Sequence[str] = (),
    effect: Effect = Effect.WRITES_STORE,
    for_good: bool = False,
    examples: Sequence[str] = (),
    aliases: Sequence[str] = (),
) -> FunctionTool:
    """`for_good`: what it does cannot be taken back."""
    scope = {
        "agent": {"type": ["string", "null"], "description": "Only what this agent keeps for itself."},
        "project": {"type": ["string", "null"], "description": "Only what belongs to this project."},
    }
    return FunctionTool(
        ToolSpec(
            name=name,
            description=description,
            input_schema={
                "type": "object",
                "properties": {**takes, **scope},
                "required": list(required),
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.IRREVERSIBLE if for_good else RiskLevel.REVERSIBLE,
            effect=effect,
            hints=ToolHints(
                read_only=effect is Effect.READS, destructive=for_good, idempotent=True, open_world=False
            ),
            examples=tuple(examples),
            category="memory",
            aliases=tuple(aliases),
        ),
        function,
    )


def _search(managers: Managers) -> FunctionTool:
    async def search(
        query: str, top_k: int = 5, agent: str | None = None, project: str | None = None
    ) -> dict[str, Any]:
        return {"items": await managers(_scope(agent, project)).semantic_search(query, top_k)}

    return _tool(
        search,
        name="search_memory",
        description="Find what was learned before, by meaning: past research, facts, decisions. Use it "
        "instead of web_search for what was found out or told before. Prefer query_knowledge_base for "
        "documents.",
        takes={
            "query": {"type": "string", "description": "What to look for."},
            "top_k": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many at most."},
        },
        required=["query"],
        effect=Effect.READS,
        examples=("What did we find out about Python async?", "What did I tell you about my car?"),
        aliases=("memory_search",),
    )


def _store(managers: Managers) -> FunctionTool:
    async def store(
        content: str,
        metadata: Mapping[str, Any] | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> dict[str, str]:
        known = {"source": _teller(), **{k: v for k, v in (metadata or {}).items() if v is not None}}
        return {"id": await managers(_scope(agent, project)).store_document(content, known)}

    return _tool(
        store,
        name="store_memory",
        description="Keep what was learned, to be found again. A newer fact takes an older one's place. "
        "Prefer augment_knowledge for whole documents.",
        takes={
            "content": {"type": "string", "description": "What to remember, as statements."},
            "metadata": {
                "type": ["object", "null"],
                "description": "topic, source, timestamp (ISO 8601), conversation, and more.",
            },
        },
        required=["content"],
    )


def _forget(managers: Managers) -> FunctionTool:
    async def forget(
        id: str | None = None,  # noqa: A002 - the argument's public name
        agent: str | None = None,
        project: str | None = None,
    ) -> dict[str, int]:
        manager = managers(_scope(agent, project))
        return {"forgotten": await manager.forget_all() if id is None else await manager.forget(id)}

    return _tool(
        forget,
        name="forget_memory",
        description="Forget one memory by its id, with what it took the place of, or without an id "
        "everything in the scope. For good. Prefer store_memory for a fact that has changed.",
        takes={"id": {"type": ["string", "null"], "description": "The memory's id."}},
        for_good=True,
    )
