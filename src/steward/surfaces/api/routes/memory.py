"""Routes on memory: what is remembered. Storing, searching and forgetting are tools.

Whose memory it is follows from the key: nobody names a user here.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from steward.knowledge.memory import Memory, Scope
from steward.surfaces.api.identity import Reader
from steward.surfaces.api.paging import After, Limit
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/memory", tags=["memory"])


class MemoryItem(BaseModel):
    id: str
    content: str
    source: str
    timestamp: str
    stored_at: str
    agent: str | None
    project: str | None
    superseded_by: str | None
    metadata: dict[str, Any]


class MemoryList(BaseModel):
    items: list[MemoryItem]
    next: str | None


@router.get("")
async def list_memories(
    platform: Here,
    identity: Reader,
    *,
    agent: str | None = None,
    project: str | None = None,
    superseded: Annotated[bool, Query(description="Also what newer facts took the place of.")] = False,
    limit: Limit = 50,
    after: After = None,
) -> MemoryList:
    """Newest first."""
    manager = platform.library.memory(Scope(user=identity.user, agent=agent, project=project))
    page = await manager.list(limit=limit, after=after, superseded=superseded)
    return MemoryList(items=[_item(memory) for memory in page.items], next=page.next)


@router.get("/{memory_id}/history")
async def memory_history(platform: Here, identity: Reader, memory_id: str) -> MemoryList:
    """A memory and everything it took the place of, newest first."""
    past = await platform.library.memory(Scope(user=identity.user)).history(memory_id)
    return MemoryList(items=[_item(memory) for memory in past], next=None)


def _item(memory: Memory) -> MemoryItem:
    return MemoryItem(
        id=memory.id,
        content=memory.content,
        source=memory.source,
        timestamp=memory.happened_at.isoformat(),
        stored_at=memory.created_at.isoformat(),
        agent=memory.scope.agent,
        project=memory.scope.project,
        superseded_by=memory.superseded_by,
        metadata=dict(memory.metadata),
    )
