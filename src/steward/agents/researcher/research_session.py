"""The researcher's dependencies: its session, which is also its memory.

`semantic_search` and `store_document` are what the specification calls a MemoryManager. Here they go through
the one door, so that remembering is validated, logged and traced like every other call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Protocol, cast

from steward.agents.researcher.account import confidence, sources, support
from steward.agents.researcher.evidence import MEMORY_SEARCHES, STORE, WEB, from_records
from steward.agents.researcher.questions import topic_of
from steward.agents.session import AgentSession
from steward.agents.turn.calls import call_through
from steward.contract.call import Done, Failed, ToolResult
from steward.contract.errors import ConfigError, ErrorCode, ToolError
from steward.orchestrator.orchestrator import Orchestrator


class ResearchMemory(Protocol):
    """What the researcher needs of a memory; the knowledge room's own one fits as well."""

    async def semantic_search(self, query: str, top_k: int = 5) -> list[dict[str, Any]]: ...

    async def store_document(self, content: str, metadata: Mapping[str, Any] | None = None) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchSession(AgentSession):
    """Implements `ResearchMemory` through the door."""

    door: Orchestrator | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, session: AgentSession, door: Orchestrator) -> "ResearchSession":
        shared = {each.name: getattr(session, each.name) for each in fields(AgentSession)}
        return cls(**shared, door=door)

    async def semantic_search(self, query: str, top_k: int = 5) -> list[dict[str, Any]]:
        data = await self._through(MEMORY_SEARCHES[0], {"query": query, "top_k": top_k})
        items = cast("Mapping[str, Any]", data).get("items") if isinstance(data, Mapping) else None
        return cast("list[dict[str, Any]]", items) if isinstance(items, list) else []

    async def store_document(self, content: str, metadata: Mapping[str, Any] | None = None) -> str:
        described = self.described(content, metadata or {})
        return str(await self._through(STORE, {"content": content, "metadata": described}))

    def described(self, content: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Topic, time and sources of a finding. Time and sources come from the record, whatever is given."""
        heard = from_records(self.ledger.calls)
        question = self.utterance or ""
        supporting = support(question, content, heard)
        named = [source for source in sources(supporting) if source.kind == WEB]
        described = {"topic": topic_of(question), "source": "person", **given}
        described["timestamp"] = datetime.now(UTC).isoformat(timespec="seconds")
        described.pop("sources", None)
        if named:
            described |= {
                "source": "research",
                "question": question[:500],
                "sources": [
                    {"title": each.title, "location": each.location, "date": each.date} for each in named
                ],
                "confidence": confidence(question, content, heard),
            }
        return described

    async def _through(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        if self.door is None:
            raise ConfigError("The researcher's memory has no door to go through.")
        registered = self.door.registry.find(tool)
        if registered is None:
            raise ToolError("The memory is not available.", code=ErrorCode.TOOL_NOT_FOUND)
        return _data(await call_through(self.door, registered.spec, arguments, session=self))


def _data(result: ToolResult) -> Any:
    match result:
        case Done():
            return result.data
        case Failed():
            raise ToolError(result.error, code=result.code, retryable=result.retryable)
        case _:
            raise ToolError("Remembering waits for a person's yes.", code=ErrorCode.FORBIDDEN)
