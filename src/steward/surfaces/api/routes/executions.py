"""Routes on the execution log: what ran, when, with what result."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from steward.bootstrap.record_check import receipt, verify
from steward.surfaces.api.identity import Admin, Reader
from steward.surfaces.api.paging import After, Limit
from steward.surfaces.api.shapes import ExecutionList, RecordReceipt, RecordState
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/executions", tags=["executions"])


@router.get("", response_model_exclude_unset=True)
async def list_executions(
    platform: Here,
    identity: Reader,
    *,
    tool: str | None = None,
    status: Annotated[
        str | None, Query(description="done, failed, pending_approval, running or interrupted")
    ] = None,
    since: datetime | None = None,
    caller: Annotated[
        str | None, Query(description="kind:id, such as person:local, agent:tasks or client:Cursor")
    ] = None,
    run: Annotated[
        str | None, Query(description="The calls of one run: its correlation id, or the id of one of them.")
    ] = None,
    incidental: Annotated[bool, Query(description="Also what the page only read to show it.")] = True,
    limit: Limit = 50,
    after: After = None,
) -> ExecutionList:
    """Newest first: one's own calls, and everybody's for an administrator."""
    page = await platform.record.list(
        tool=tool,
        status=status,
        since=since,
        caller=caller,
        correlation_id=run,
        incidental=incidental,
        limit=limit,
        after=after,
        owner=identity.only,
    )
    return ExecutionList.model_validate({"items": page.items, "next": page.next})


@router.get("/verify")
async def verify_record(platform: Here, _: Admin) -> RecordState:
    """Whether every line is as it was recorded; lines that were changed or removed are named."""
    return RecordState(**(await verify(platform.record)).shape())


@router.get("/{call_or_proposal}/receipt")
async def get_receipt(platform: Here, call_or_proposal: str, identity: Reader) -> RecordReceipt:
    """All that is on record of a call, in a form that can be checked without Steward."""
    return RecordReceipt(**await receipt(platform.record, call_or_proposal, owner=identity.only))
