"""Routes on tasks. What a tool can do goes through the one door; the rest is a person's own business.

Whose tasks they are follows from the key; only an administrator names another user, to see that one's list.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from steward.contract.call import Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.deciding import Way
from steward.contract.errors import (
    ConflictError,
    ErrorCode,
    InputError,
    InvalidArgumentsError,
    StewardError,
    UnavailableError,
)
from steward.surfaces.api.identity import Identity, Reader, Worker
from steward.surfaces.api.routes.chat import whose
from steward.surfaces.api.shapes import Strict, ToolResultShape
from steward.surfaces.api.state import Here
from steward.tasks.model import MAX_OFFSET
from steward.tasks.wording import due_words, is_overdue

router = APIRouter(prefix="/v1/tasks", tags=["tasks"])

WAITS: dict[int | str, dict[str, Any]] = {
    202: {"model": ToolResultShape, "description": "Waits for approval."}
}
# Failures that are not the tool's own answer: nothing ran, or nobody knows whether it did.
NO_ANSWER: dict[str, type[StewardError]] = {
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
    notify: bool = Field(default=False, description="Whether its owner is reminded of it.")
    notify_at: str | None = Field(default=None, description="When next, ISO 8601.")
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
    notify: bool | str | None = Field(
        default=None, description="True: tell me when it is due; a time: then.", examples=[True]
    )
    idempotency_key: str | None = Field(default=None, description="The same key twice adds one task.")


class TaskChangeBody(Strict):
    """Only what is given changes; a null clears a description, due date or recurrence."""

    title: str | None = None
    description: str | None = None
    due_date: str | None = Field(default=None, examples=["next friday at 5pm"])
    priority: str | None = Field(default=None, examples=["low"])
    recurrence: str | None = None
    notify: bool | str | None = Field(
        default=None, description="A time puts the reminder off until then.", examples=["in 10 minutes"]
    )
    completed: bool | None = None


class ReadTask(BaseModel):
    title: str
    due_date: str | None = None
    priority: str | None = None
    description: str | None = None
    recurrence: str | None = None
    notify: bool | None = None


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
    user: Annotated[str | None, Query(description="Somebody else's, for an administrator.")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    after: Annotated[int, Query(ge=0, le=MAX_OFFSET, description="The previous page's `next`.")] = 0,
) -> TaskList:
    """The caller's tasks: open ones first, by when they are due."""
    identity = replace(identity, user=whose(identity, user))
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
    # The page draws its list with it, again and again; nobody asked for these calls.
    shown_only = identity.surface is Way.PAGE
    result = await _call(platform, identity, "list_tasks", given, incidental=shown_only)
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
                notify=task.notify,
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


async def _call(
    platform: Here,
    identity: Identity,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    incidental: bool = False,
) -> ToolResult:
    result = await platform.orchestrator.execute(
        ToolCall(
            tool=tool,
            arguments=arguments,
            caller=identity.caller,
            user=identity.user,
            incidental=incidental,
        )
    )
    if isinstance(result, Failed) and (kind := NO_ANSWER.get(result.code)) is not None:
        raise kind(
            result.error, code=result.code, retryable=result.retryable, in_doubt=result.outcome_unknown
        )
    return result


def _answer(result: ToolResult, response: Response) -> ToolResultShape:
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)
