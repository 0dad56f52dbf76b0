"""The memory as tools behind the door: search, store, forget, each in the scope of whoever calls."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from steward.bootstrap.tools.core_tools import LOCAL_USER
from steward.contract.call import current_call
from steward.contract.errors import ErrorCode, InputError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.knowledge.memory import MemoryManager, Scope, provenance
from steward.providers.functions import FunctionTool, LegacyToolAgent

MEMORY_AGENT = "memory"
Managers = Callable[[Scope], MemoryManager]


def memory_agent(managers: Managers) -> LegacyToolAgent:
    return LegacyToolAgent(
        MEMORY_AGENT,
        [_search(managers), _list(managers), _store(managers), _forget(managers)],
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
    function: Callable[..., Awaitable[Mapping[str, Any] | str]],
    *,
    name: str,
    description: str,
    takes: Mapping[str, Any],
    required: Sequence[str] = (),
    effect: Effect = Effect.WRITES_STORE,
    for_good: bool = False,
    tell: Callable[..., Awaitable[str | None]] | None = None,
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
        tell,
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


def _list(managers: Managers) -> FunctionTool:
    async def listed(limit: int = 50, agent: str | None = None, project: str | None = None) -> dict[str, Any]:
        manager = managers(_scope(agent, project))
        page = await manager.list(limit=limit)
        known = sorted([*page.items, *await manager.stated()], key=lambda each: each.created_at, reverse=True)
        items = [
            {"id": each.id, "content": each.content, "metadata": {**each.metadata, **provenance(each)}}
            for each in known[:limit]
        ]
        return {"items": items, "total": await manager.count()}

    return _tool(
        listed,
        name="list_memories",
        description="Everything that is remembered about the person, the newest first. Prefer search_memory "
        "for something in particular.",
        takes={
            "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "How many at most."}
        },
        effect=Effect.READS,
        examples=("What do you know about me?",),
    )


def _store(managers: Managers) -> FunctionTool:
    async def store(
        content: str,
        metadata: Mapping[str, Any] | None = None,
        corrected_id: str | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> str:
        known = {"source": _teller(), **{k: v for k, v in (metadata or {}).items() if v is not None}}
        return await managers(_scope(agent, project)).store_document(content, known, corrects=corrected_id)

    return _tool(
        store,
        name="store_memory",
        description="Keep what was learned, to be found again; returns its id. A newer fact takes an older "
        "one's place. "
        "Prefer augment_knowledge for whole documents.",
        takes={
            "content": {"type": "string", "description": "What to remember, as statements."},
            "metadata": {
                "type": ["object", "null"],
                "description": "topic, source, timestamp (ISO 8601), conversation, and more.",
            },
            "corrected_id": {
                "type": ["string", "null"],
                "description": "The id of the memory that this text corrects and takes the place of.",
            },
        },
        required=["content"],
    )


def _forget(managers: Managers) -> FunctionTool:
    async def forget(
        id: str | None = None,  # noqa: A002 - the argument's public name
        everything: bool = False,
        agent: str | None = None,
        project: str | None = None,
    ) -> dict[str, int]:
        manager = managers(_scope(agent, project))
        one = _one_or_all(id, everything)
        return {"forgotten": await manager.forget_all() if one is None else await manager.forget(one)}

    async def tell(
        id: str | None = None,  # noqa: A002
        everything: bool = False,
        agent: str | None = None,
        project: str | None = None,
    ) -> str:
        manager = managers(_scope(agent, project))
        one = _one_or_all(id, everything)
        if one is None:
            return _all_of(await manager.count(), agent, project)
        newest, *past = await manager.history(one)
        also = f" and {_counted(len(past), 'memory')} it took the place of" if past else ""
        return f"forgets the memory {json.dumps(newest.content, ensure_ascii=False)}{also}"

    return _tool(
        forget,
        name="forget_memory",
        description="Forget one memory by its id, with what it took the place of; or everything in the "
        "scope, only where the person asks for exactly that. For good. Prefer store_memory for a fact that "
        "has changed.",
        takes={
            "id": {
                "type": ["string", "null"],
                "description": "The memory's id, as search_memory returns it.",
            },
            "everything": {"type": "boolean", "description": "All memories in the scope, instead of one."},
        },
        for_good=True,
        tell=tell,
    )


def _one_or_all(memory_id: str | None, everything: bool) -> str | None:
    """The one memory that is meant, None for all of them. Never all of them because nothing was said."""
    if (memory_id is None) != everything:
        raise InputError(
            "Say which memory to forget.",
            code=ErrorCode.INVALID_ARGUMENTS,
            fix="Give its id, or everything=true for all of them; never both.",
        )
    return memory_id


def _all_of(count: int, agent: str | None, project: str | None) -> str:
    where = [f"of the agent {agent!r}" if agent else "", f"in the project {project!r}" if project else ""]
    return " ".join(["forgets all", _counted(count, "memory"), *filter(None, where)])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else f'{noun[:-1]}ies'}"
