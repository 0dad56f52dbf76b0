"""Routes on taking changes back. Whose they are follows from the key; what they need, from what was done."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from steward.bootstrap.tools.undoing import change_shape
from steward.contract.call import PendingApproval, ToolCall
from steward.contract.errors import ConflictError, ErrorCode
from steward.contract.undoing import MOST_AT_ONCE, UNDO, UndoableChange
from steward.surfaces.api.identity import Identity, Reader, Worker
from steward.surfaces.api.paging import Limit
from steward.surfaces.api.shapes import Strict, ToolResultShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/undo", tags=["undo"])

WAITS: dict[int | str, dict[str, Any]] = {
    202: {"model": ToolResultShape, "description": "Waits for approval."}
}
Of = Annotated[
    str | None,
    Query(max_length=200, description="Only those of a room or a thing: tasks, tasks:task_4f1c."),
]


class UndoBody(Strict):
    count: int = Field(default=1, ge=1, le=MOST_AT_ONCE, description="How many changes, the last first.")
    id: str | None = Field(
        default=None,
        max_length=200,
        description="Only this change. The id of an undo does again what it took back.",
    )
    of: str | None = Field(
        default=None,
        max_length=200,
        description="Only the last change of a room or a thing.",
        examples=["tasks", "tasks:task_4f1c"],
    )


class ChangeShape(BaseModel):
    id: str
    at: str
    tool: str
    what: str = Field(description="What was done, in words.", examples=["added the task 'Buy milk'"])
    undone_by: str | None = Field(description="The undo that took it back; null: it stands.")

    @classmethod
    def of(cls, change: UndoableChange) -> "ChangeShape":
        return cls(**change_shape(change))


class ChangeList(BaseModel):
    items: list[ChangeShape]
    next: str | None = None


@router.get("")
async def list_changes(
    platform: Here,
    identity: Reader,
    *,
    of: Of = None,
    limit: Limit = 20,
    after: Annotated[int | None, Query(ge=1, le=2**62, description="The previous page's `next`.")] = None,
) -> ChangeList:
    """Your changes that can be taken back, and those that were; the last first."""
    found = await platform.undoing.journal.changes(
        identity.user, standing=False, of=of, before=after, limit=limit + 1
    )
    page = found[:limit]
    more = str(page[-1].number) if len(found) > limit else None
    return ChangeList(items=[ChangeShape.of(each) for each in page], next=more)


@router.post("", responses=WAITS)
async def undo(platform: Here, identity: Worker, body: UndoBody, *, response: Response) -> ToolResultShape:
    """Take back what you changed last. It is itself taken back by its id: then it is done again."""
    given: dict[str, Any] = {"count": body.count} if body.id is None else {"id": body.id}
    if body.of is not None and body.id is None:
        given = {"id": await _last_of(platform, identity, body.of)}
    result = await platform.orchestrator.execute(
        ToolCall(tool=UNDO, arguments=given, caller=identity.caller, user=identity.user, role=identity.role)
    )
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)


async def _last_of(platform: Here, identity: Identity, of: str) -> str:
    found = await platform.undoing.journal.changes(identity.user, of=of.replace("\0", ""))
    if not found:
        raise ConflictError(
            "There is nothing to undo.", code=ErrorCode.NOTHING_TO_UNDO, fix="A deletion is final."
        )
    return found[0].id
