"""How the task tools answer: one shape for success, one for refusal, both with the operation's time.

Owns codes, messages and shapes exactly as the tools' contracts state them.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from steward.tasks.model import NotYours, Refused, Task, TaskMissing, UserMissing

Envelope = dict[str, Any]


class TaskCode(StrEnum):
    INVALID_TITLE = "INVALID_TITLE"
    INVALID_DESCRIPTION = "INVALID_DESCRIPTION"
    INVALID_USER = "INVALID_USER"
    INVALID_DATE = "INVALID_DATE"
    INVALID_PRIORITY = "INVALID_PRIORITY"
    INVALID_FILTER = "INVALID_FILTER"
    INVALID_RECURRENCE = "INVALID_RECURRENCE"
    INVALID_NOTIFY = "INVALID_NOTIFY"
    INVALID_COMPLETED = "INVALID_COMPLETED"
    INVALID_KEY = "INVALID_KEY"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    UNAUTHORIZED = "UNAUTHORIZED"
    ALREADY_COMPLETED = "ALREADY_COMPLETED"
    NO_CHANGES = "NO_CHANGES"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"  # it waits for a person's yes
    CONFIRMATION_DECLINED = "CONFIRMATION_DECLINED"  # the person said no


MESSAGES = {
    TaskCode.INVALID_TITLE: "Task title must be 1-500 characters",
    TaskCode.INVALID_DESCRIPTION: "Task description must be at most 2000 characters",
    TaskCode.INVALID_USER: "User not found",
    TaskCode.INVALID_DATE: "Could not parse date",
    TaskCode.INVALID_PRIORITY: "Priority must be low, medium, or high",
    TaskCode.INVALID_RECURRENCE: "Recurrence must be an RRULE such as FREQ=WEEKLY;BYDAY=MO",
    TaskCode.INVALID_NOTIFY: "Notify must be true, false or a time",
    TaskCode.INVALID_COMPLETED: "Completed must be true or false",
    TaskCode.INVALID_KEY: "Idempotency key must be 1-200 characters",
    TaskCode.TASK_NOT_FOUND: "Task not found",
    TaskCode.UNAUTHORIZED: "You don't have access to this task",
    TaskCode.ALREADY_COMPLETED: "Task is already completed",
    TaskCode.NO_CHANGES: "No changes specified",
}


@dataclass(slots=True)  # not frozen: a context manager on the way sets its traceback
class TaskRefusal(Exception):  # noqa: N818 - carried to one place, where it becomes an answer
    """Why an operation was not done."""

    code: TaskCode
    message: str

    @classmethod
    def of(cls, code: TaskCode) -> "TaskRefusal":
        return cls(code, MESSAGES[code])


def refusal(refused: Refused) -> TaskRefusal:
    match refused:
        case UserMissing():
            return TaskRefusal.of(TaskCode.INVALID_USER)
        case TaskMissing():
            return TaskRefusal.of(TaskCode.TASK_NOT_FOUND)
        case NotYours():
            return TaskRefusal.of(TaskCode.UNAUTHORIZED)


def failure(code: str, message: str, *, at: datetime) -> Envelope:
    return {"success": False, "code": str(code), "message": message, "timestamp": at.isoformat()}


def success(message: str, *, at: datetime, **fields: Any) -> Envelope:
    return {"success": True, **fields, "message": message, "timestamp": at.isoformat()}


def shape(task: Task, *fields: str) -> Envelope:
    """A task on the wire, with exactly these fields; `recurrence` and `notify` only where there is one."""
    whole: Envelope = {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "due_date": None if task.due is None else task.due.text(task.zone),
        "priority": task.priority.value,
        "completed": task.completed,
        "recurrence": task.recurrence,
        "notify": None if task.notify is None else True,
        "notify_at": None if task.tell_at is None else task.tell_at.astimezone(task.zone).isoformat(),
        "created_at": task.created_at.isoformat(),
        "updated_at": task.updated_at.isoformat(),
        "completed_at": None if task.completed_at is None else task.completed_at.isoformat(),
    }
    absent = {"recurrence"} if task.recurrence is None else set[str]()
    absent |= {"notify", "notify_at"} if task.notify is None else set[str]()
    return {name: whole[name] for name in fields if name not in absent}


ALWAYS = ("id", "title", "description", "due_date", "priority", "completed")
EXTRAS = ("recurrence", "notify", "notify_at")
ADDED = (*ALWAYS, *EXTRAS, "created_at")
LISTED = (*ADDED, "completed_at")
COMPLETED = ("id", "title", "completed", "completed_at")
UPDATED = (*ALWAYS, *EXTRAS, "updated_at")
DELETED = ("id", "title")
