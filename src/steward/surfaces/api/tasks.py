"""Routes on tasks. What a tool can do goes through the one door; the rest is a person's own business.

Whose tasks they are follows from the key: nobody names a user here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from steward.contract.call import Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.errors import (
    ConflictError,
    ErrorCode,
    InputError,
    InvalidArgumentsError,
    StewardError,
    UnavailableError,
)
from steward.surfaces.api.identity import Identity, Reader, Worker
from steward.surfaces.api.shapes import Strict, ToolResultShape
from steward.surfaces.api.state import Here
from steward.tasks.model import MAX_OFFSET, OnlyAdded
from steward.tasks.wording import due_words, is_overdue

router = APIRouter(prefix="/v1/tasks", tags=["tasks"])

WAITS: dict[int | str, dict[str, Any]] = {
    202: {"model": ToolResultShape, "description": "Waits for approval."}
}
# Failures that are not the tool's own answer: nothing ran.
NOT_RUN: dict[str, type[StewardError]] = {
    ErrorCode.TOOL_NOT_FOUND: UnavailableError,
    ErrorCode.AGENT_UNAVAILABLE: UnavailableError,
    ErrorCode.RECORD_FAILED: UnavailableError,
    ErrorCode.STORAGE_UNAVAILABLE: UnavailableError,
    ErrorCode.INVALID_ARGUMENTS: InvalidArgumentsError,
}


class TaskShape(BaseModel):
    id: str
    title: str
    description: str | None = None
    due_date: str | None = Field(default=None, description="A date, or a date and time, ISO 8601.")
    priority: str
    completed: bool
    recurrence: str | None = None
    created_at: str
    completed_at: str | None = None
    due_words: str | None = Field(default=None, description="The due date as people say it.")
    overdue: bool = False

    @classmethod
    def of(cls, task: Mapping[str, Any], now: datetime) -> "TaskShape":
        due = task.get("due_date")
        if due is None:
            return cls(**task)
        late = not task["completed"] and is_overdue(due, now)
        return cls(**task, due_words=due_words(due, now), overdue=late)


class TaskList(BaseModel):
    items: list[TaskShape]
    next: str | None = None


class NewTaskBody(Strict):
    title: str = Field(examples=["buy milk"])
    description: str | None = None
    due_date: str | None = Field(default=None, examples=["tomorrow 5pm", "2027-03-01"])
    priority: str | None = Field(default=None, examples=["high"])
    recurrence: str | None = Field(default=None, examples=["FREQ=WEEKLY;BYDAY=MO"])
    idempotency_key: str | None = Field(default=None, description="The same key twice adds one task.")


class TaskChangeBody(Strict):
    """Only what is given changes; a null clears a description, due date or recurrence."""

    title: str | None = None
    description: str | None = None
    due_date: str | None = Field(default=None, examples=["next friday at 5pm"])
    priority: str | None = Field(default=None, examples=["low"])
    recurrence: str | None = None
    completed: bool | None = None


class UndoBody(Strict):
    task_id: str | None = Field(
        default=None, description="Only a change of this task; otherwise of any.", examples=["task_4f1c"]
    )


class UndoShape(BaseModel):
    message: str
    task: TaskShape
    undone: dict[str, Any]


class ReadTask(BaseModel):
    title: str
    due_date: str | None = None
    priority: str | None = None
    description: str | None = None
    recurrence: str | None = None


class ReadTasks(BaseModel):
    items: list[ReadTask]
    next: str | None = None


class EventList(BaseModel):
    items: list[dict[str, Any]]
    next: str | None = None


@router.get("")
async def list_tasks(
    platform: Here,
    identity: Reader,
    *,
    completed: bool | None = None,
    priority: str | None = None,
    due_before: Annotated[str | None, Query(description="ISO 8601, or words such as tomorrow.")] = None,
    due_after: str | None = None,
    search: str | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    after: Annotated[int, Query(ge=0, le=MAX_OFFSET, description="The previous page's `next`.")] = 0,
) -> TaskList:
    """The caller's tasks: open ones first, by when they are due."""
    wanted = {
        "completed": completed,
        "priority": priority,
        "due_before": due_before,
        "due_after": due_after,
        "search": search,
        "limit": limit,
        "offset": after or None,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    result = await _call(platform, identity, "list_tasks", given)
    if isinstance(result, Failed):
        raise InputError(f"{result.error}.", code=result.code)
    if isinstance(result, PendingApproval):
        raise ConflictError(f"Listing waits for approval: {result.reason}", fix="Correct policy.toml.")
    now = await _now(platform, identity)
    shown = [TaskShape.of(task, now) for task in result.data["tasks"]]
    return TaskList(items=shown, next=str(after + limit) if len(shown) == limit else None)


@router.post("", responses=WAITS)
async def add_task(
    platform: Here, identity: Worker, body: NewTaskBody, *, response: Response
) -> ToolResultShape:
    return _answer(await _call(platform, identity, "add_task", body.model_dump(exclude_unset=True)), response)


@router.get("/read")
async def read_tasks(
    platform: Here, identity: Reader, *, text: Annotated[str, Query(min_length=1, max_length=10_000)]
) -> ReadTasks:
    """What `add_task` would be given for a sentence such as "buy milk tomorrow 5pm". Adds nothing."""
    read = await platform.tasks.desk.read(identity.user, text)
    return ReadTasks(
        items=[
            ReadTask(
                title=task.title,
                due_date=task.due_date,
                priority=task.priority,
                description=task.description,
                recurrence=task.recurrence,
            )
            for task in read
        ]
    )


@router.get("/find")
async def find_tasks(
    platform: Here, identity: Reader, *, reference: Annotated[str, Query(min_length=1, max_length=500)]
) -> TaskList:
    """The tasks that these words or the start of this id may mean."""
    found = await platform.tasks.desk.find(identity.user, reference)
    now = await _now(platform, identity)
    return TaskList(items=[TaskShape.of(task, now) for task in found])


@router.post("/undo", responses=WAITS)
async def undo(
    platform: Here, identity: Worker, body: UndoBody, *, response: Response
) -> UndoShape | ToolResultShape:
    """Take the last change back. Taking an addition back deletes the task, and waits (202)."""
    undone = await platform.tasks.desk.undo(identity.user, body.task_id)
    if isinstance(undone, OnlyAdded):
        gone = await _call(platform, identity, "delete_task", {"task_id": undone.task.id})
        return _answer(gone, response)
    return UndoShape(
        message=undone["message"],
        task=TaskShape.of(undone["task"], await _now(platform, identity)),
        undone=undone["undone"],
    )


@router.get("/{task_id}")
async def get_task(platform: Here, identity: Reader, task_id: str) -> TaskShape:
    task = await platform.tasks.desk.get(identity.user, task_id)
    return TaskShape.of(task, await _now(platform, identity))


@router.patch("/{task_id}", responses=WAITS)
async def change_task(
    platform: Here, identity: Worker, task_id: str, body: TaskChangeBody, *, response: Response
) -> ToolResultShape:
    given = {"task_id": task_id, **body.model_dump(exclude_unset=True)}
    return _answer(await _call(platform, identity, "update_task", given), response)


@router.post("/{task_id}/complete", responses=WAITS)
async def complete_task(
    platform: Here, identity: Worker, task_id: str, *, response: Response
) -> ToolResultShape:
    return _answer(await _call(platform, identity, "complete_task", {"task_id": task_id}), response)


@router.delete("/{task_id}", responses=WAITS)
async def delete_task(
    platform: Here, identity: Worker, task_id: str, *, response: Response
) -> ToolResultShape:
    """A deletion is final, so it waits for a person's yes (202)."""
    await platform.tasks.desk.get(identity.user, task_id)  # nobody is asked about what is not there
    return _answer(await _call(platform, identity, "delete_task", {"task_id": task_id}), response)


@router.get("/{task_id}/log")
async def task_log(platform: Here, identity: Reader, task_id: str) -> EventList:
    """What happened to a task, oldest first."""
    return EventList(items=await platform.tasks.desk.history(identity.user, task_id))


async def _now(platform: Here, identity: Identity) -> datetime:
    """Now, in the zone of the person whose tasks these are."""
    user = await platform.tasks.users.get(identity.user)
    return datetime.now(user.zone)


async def _call(platform: Here, identity: Identity, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
    result = await platform.orchestrator.execute(
        ToolCall(tool=tool, arguments=arguments, caller=identity.caller, user=identity.user)
    )
    if isinstance(result, Failed) and (kind := NOT_RUN.get(result.code)) is not None:
        raise kind(result.error, code=result.code, retryable=result.retryable)
    return result


def _answer(result: ToolResult, response: Response) -> ToolResultShape:
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)
