"""Routes on the execution log: what ran, when, with what result."""

import asyncio
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from steward.surfaces.api.identity import Reader
from steward.surfaces.api.paging import After, Limit
from steward.surfaces.api.shapes import ExecutionList
from steward.surfaces.api.state import Here
from steward.telemetry.executions import read_executions

router = APIRouter(prefix="/v1/executions", tags=["executions"])


@router.get("")
async def list_executions(
    platform: Here,
    _: Reader,
    *,
    tool: str | None = None,
    status: Annotated[str | None, Query(description="done, failed or pending_approval")] = None,
    since: datetime | None = None,
    limit: Limit = 50,
    after: After = None,
) -> ExecutionList:
    """Newest first."""
    page = await asyncio.to_thread(
        read_executions,
        platform.settings.logs_folder,
        tool=tool,
        status=status,
        since=since,
        limit=limit,
        after=after,
    )
    return ExecutionList(items=list(page.items), next=page.next)
