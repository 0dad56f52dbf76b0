"""Routes on gaps: what was asked for and could not be done for want of a tool."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from steward.selection.capabilities import suggestions
from steward.storage.gaps import Gap
from steward.surfaces.api.identity import Reader
from steward.surfaces.api.paging import Limit
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/gaps", tags=["gaps"])


class SuggestedServer(BaseModel):
    server: str
    about: str
    install: str


class GapItem(BaseModel):
    missing: str = Field(description="The missing ability.", examples=["financial_data_api"])
    task: str = Field(description="The request, as it was last made.")
    agent: str | None
    times: int
    first_at: str
    last_at: str
    suggestions: list[SuggestedServer] = Field(description="Known MCP servers that would add it.")


class GapList(BaseModel):
    items: list[GapItem]
    next: str | None = None


@router.get("")
async def list_gaps(
    platform: Here,
    identity: Reader,
    *,
    limit: Limit = 50,
    after: Annotated[int, Query(ge=0, le=1_000_000, description="The previous page's `next`.")] = 0,
) -> GapList:
    """What you asked for and could not get, most often first."""
    found = await platform.gaps.list(identity.user, limit=limit + 1, offset=after)
    more = str(after + limit) if len(found) > limit else None
    return GapList(items=[_item(gap) for gap in found[:limit]], next=more)


def _item(gap: Gap) -> GapItem:
    return GapItem(
        missing=gap.missing,
        task=gap.task,
        agent=gap.agent,
        times=gap.times,
        first_at=gap.first_at.isoformat(),
        last_at=gap.last_at.isoformat(),
        suggestions=[
            SuggestedServer(server=each.name, about=each.about, install=each.install)
            for each in suggestions([gap.missing])
        ],
    )
