"""The task server: five tools over MCP, exactly as contracted.

Owns the tools' names, descriptions, schemas, annotations and how an answer reads as Markdown. The schemas
carry types only and arguments are passed on as they came, so that the service's own codes answer and an
absent field stays different from a null.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import mcp_types
from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult

from steward.servers.base import READS, new_server
from steward.tasks.envelopes import Envelope
from steward.tasks.service import TaskService

ADDS = mcp_types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False)
CHANGES = mcp_types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
DELETES = mcp_types.ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)

Operation = Callable[[dict[str, Any]], Awaitable[Envelope]]


class TaskTool(Tool):
    """A tool whose schema is written down and whose arguments reach the service untouched."""

    operation: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        envelope: Envelope = await self.operation(arguments)
        return ToolResult(
            content=markdown(envelope), structured_content=envelope, is_error=not envelope["success"]
        )


def build(service: TaskService) -> FastMCP:
    server = new_server(
        "steward-tasks",
        "A to-do list. Call list_tasks before touching a task: ids come from there and nowhere else.",
    )
    for tool in (_add(service), _list(service), _complete(service), _delete(service), _update(service)):
        server.add_tool(tool)
    return server


def definitions() -> list[dict[str, Any]]:
    """The tools as agents see them, with nothing behind them: the session's own parameters are left out."""
    nothing = cast("TaskService", None)
    tools = (_add(nothing), _list(nothing), _complete(nothing), _delete(nothing), _update(nothing))
    return [
        {"name": tool.name, "description": tool.description, "inputSchema": _without_session(tool.parameters)}
        for tool in tools
    ]


def _without_session(schema: Mapping[str, Any]) -> dict[str, Any]:
    hidden = {"user_id", "idempotency_key"}
    properties = {name: each for name, each in schema["properties"].items() if name not in hidden}
    required = [name for name in schema.get("required", ()) if name not in hidden]
    return {**schema, "properties": properties, "required": required}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _optional(description: str, kind: str = "string") -> dict[str, Any]:
    return {"type": [kind, "null"], "description": description}


USER_ID = _text("Unique identifier of the task owner.")
TASK_ID = _text("Unique identifier of the task, as list_tasks returned it.")
PRIORITY = "low, medium or high"
RULE = "An RRULE, such as FREQ=WEEKLY;BYDAY=MO"
NOTIFY = {"type": ["boolean", "string", "null"]}


def _parameters(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"user_id": USER_ID, **properties},
        "required": ["user_id", *required],
    }


TASK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": ["string", "null"]},
        "due_date": {"type": ["string", "null"]},
        "priority": {"type": "string"},
        "completed": {"type": "boolean"},
        "recurrence": {"type": ["string", "null"]},
        "notify": {"type": "boolean"},
        "notify_at": {"type": ["string", "null"]},
        "created_at": {"type": "string"},
        "updated_at": {"type": "string"},
        "completed_at": {"type": ["string", "null"]},
    },
    "required": ["id", "title"],
}


def _answers(required: list[str], **properties: Any) -> dict[str, Any]:
    """A success has these fields; a refusal has code, message and timestamp."""
    return {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "code": {"type": "string"},
            "message": {"type": "string"},
            "timestamp": {"type": "string"},
            **properties,
        },
        "required": ["success", "message", "timestamp"],
        "if": {"properties": {"success": {"const": True}}},
        "then": {"required": required},
        "else": {"required": ["code"]},
    }


def _rest(arguments: Mapping[str, Any], *taken: str) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in taken}


def _add(service: TaskService) -> TaskTool:
    async def operation(given: dict[str, Any]) -> Envelope:
        return await service.add_task(given.get("user_id", ""), _rest(given, "user_id"))

    return TaskTool(
        name="add_task",
        title="Add a task",
        description="Create a task. Prefer update_task for a task that is there already.\n\n"
        'Examples: "Add buy milk to my tasks"; "Remember to call mom tomorrow, it\'s important"; '
        '"Remind me at 5 to call Ana" (due_date 5pm, notify true).',
        parameters=_parameters(
            ["title"],
            title=_text("Task title, 1 to 500 characters."),
            description=_optional("More about it, up to 2000 characters."),
            due_date=_optional('ISO 8601, or words such as "tomorrow" or "next friday at 5pm".'),
            priority=_optional(f"{PRIORITY}; medium by default."),
            recurrence=_optional(f"{RULE}; needs a due date."),
            notify=NOTIFY
            | {
                "description": "Remind the person: true when it is due, or at this time instead (ISO 8601 or "
                "words). Set it where they ask to be reminded, told, alerted or woken."
            },
            idempotency_key=_optional("The same key twice adds one task."),
        ),
        output_schema=_answers(["task"], task=TASK),
        annotations=ADDS,
        operation=operation,
    )


def _list(service: TaskService) -> TaskTool:
    async def operation(given: dict[str, Any]) -> Envelope:
        return await service.list_tasks(given.get("user_id", ""), _rest(given, "user_id"))

    return TaskTool(
        name="list_tasks",
        title="List tasks",
        description="List a user's tasks, with filters. Use it whenever a task's id is needed.\n\n"
        'Examples: "Show my tasks"; "What is due today?" (due_after yesterday, due_before tomorrow); '
        '"What did I finish?" (completed true).',
        parameters=_parameters(
            [],
            completed=_optional("Filter by completion status.", "boolean"),
            priority=_optional(f"Filter by priority: {PRIORITY}."),
            due_before=_optional("Only tasks due before this date or moment (ISO 8601)."),
            due_after=_optional("Only tasks due after this date (ISO 8601)."),
            search=_optional("Text in the title or the description."),
            limit=_optional("At most this many, 1 to 100; 50 by default.", "integer"),
            offset=_optional("Skip this many, to see the next page.", "integer"),
        ),
        output_schema=_answers(
            ["tasks", "count"], tasks={"type": "array", "items": TASK}, count={"type": "integer"}
        ),
        annotations=READS,
        operation=operation,
    )


def _complete(service: TaskService) -> TaskTool:
    async def operation(given: dict[str, Any]) -> Envelope:
        return await service.complete_task(given.get("user_id", ""), given.get("task_id", ""))

    return TaskTool(
        name="complete_task",
        title="Complete a task",
        description="Mark a task as completed. Completing it again changes nothing and says so. Use it "
        "instead of delete_task for what was done.\n\n"
        'Examples: "I bought the milk"; "Done with the report".',
        parameters=_parameters(["task_id"], task_id=TASK_ID),
        output_schema=_answers(["task"], task=TASK, next_task=TASK),
        annotations=CHANGES,
        operation=operation,
    )


def _delete(service: TaskService) -> TaskTool:
    async def operation(given: dict[str, Any]) -> Envelope:
        return await service.delete_task(given.get("user_id", ""), given.get("task_id", ""))

    return TaskTool(
        name="delete_task",
        title="Delete a task",
        description="Permanently remove a task. It cannot be undone: ask the person first. Prefer "
        "complete_task for what was done.\n\n"
        'Examples: "Delete the old reminder"; "Get rid of the gym task".',
        parameters=_parameters(["task_id"], task_id=TASK_ID),
        output_schema=_answers(["deleted_task"], deleted_task=TASK),
        annotations=DELETES,
        operation=operation,
    )


def _update(service: TaskService) -> TaskTool:
    async def operation(given: dict[str, Any]) -> Envelope:
        changes = _rest(given, "user_id", "task_id")
        return await service.update_task(given.get("user_id", ""), given.get("task_id", ""), changes)

    return TaskTool(
        name="update_task",
        title="Change a task",
        description="Change one or more properties of a task; null clears a description, due date or "
        "recurrence. Prefer complete_task for what was done.\n\n"
        'Examples: "Change meeting to 4pm"; "Make the groceries task high priority"; '
        '"Snooze it for 10 minutes" (notify in 10 minutes).',
        parameters=_parameters(
            ["task_id"],
            task_id=TASK_ID,
            title=_text("New title, 1 to 500 characters."),
            description=_optional("New description, up to 2000 characters; null clears it."),
            due_date=_optional("New due date, ISO 8601 or words; null clears it."),
            priority=_text(f"New priority: {PRIORITY}."),
            recurrence=_optional(f"{RULE}; null clears it."),
            notify=NOTIFY
            | {
                "description": 'Remind the person: true when it is due; a time such as "in 10 minutes" to '
                "snooze the reminder until then; false for no reminder."
            },
            completed={"type": "boolean", "description": "Set completion status."},
        ),
        output_schema=_answers(
            ["task", "changes"], task=TASK, changes={"type": "array", "items": {"type": "string"}}
        ),
        annotations=CHANGES,
        operation=operation,
    )


def markdown(envelope: Envelope) -> str:
    """The answer as a person reads it."""
    if not envelope["success"]:
        return f"**{envelope['code']}**: {envelope['message']}"
    lines = [envelope["message"] + "."]
    if envelope.get("tasks"):
        lines += ["", *(f"{number}. {_line(task)}" for number, task in enumerate(envelope["tasks"], 1))]
    elif "task" in envelope:
        lines += ["", f"- {_line(envelope['task'])}"]
    return "\n".join(lines)


def _line(task: Mapping[str, Any]) -> str:
    details = [f"due {task['due_date']}"] if task.get("due_date") else []
    if task.get("priority") in ("high", "low"):
        details.append(f"{task['priority']} priority")
    if task.get("recurrence"):
        details.append(f"repeats {task['recurrence']}")
    if task.get("notify_at"):
        details.append(f"reminds {task['notify_at']}")
    title = task["title"].replace("\n", " ").replace("*", r"\*").replace("`", r"\`")
    mark = "~~" if task.get("completed") else "**"
    more = f" ({', '.join(details)})" if details else ""
    return f"{mark}{title}{mark}{more} `{task['id']}`"
