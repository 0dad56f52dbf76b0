"""Users and tasks in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, cast

import asyncpg

from steward.contract.call import new_id
from steward.contract.errors import ConflictError
from steward.contract.undoing import UndoStep
from steward.storage import undo
from steward.storage.database import sql
from steward.storage.database.postgres import Database, Session
from steward.storage.schedules import move_schedules
from steward.tasks.model import (
    Change,
    Changed,
    Due,
    Notify,
    NotYours,
    Priority,
    Refused,
    Task,
    TaskEvent,
    TaskFilter,
    TaskMissing,
    Unchanged,
    User,
    UserMissing,
)
from steward.tasks.ports import Alarm, Decide

SQL = sql.load("tasks")
NO_SUCH_OWNER = "tasks_user_id_fkey"
SAME_KEY = "tasks_user_id_idempotency_key_key"
TASK = "task"  # the kind of step that takes a task's change back (task_undo.py)
_DONE = {"updated": "changed", "undone": "took back a change of"}
_TOLD = {"title": "its title", "due": "due date", "priority": "priority"}


class PostgresUserStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, user: User) -> bool:
        return bool(await self._database.fetchval(SQL.add_user, user.id, user.name, user.time_zone))

    async def get(self, user_id: str) -> User | None:
        row = await self._database.fetchrow(SQL.get_user, user_id)
        return None if row is None else User(**row)

    async def list(self) -> Sequence[User]:
        return [User(**row) for row in await self._database.fetch(SQL.list_users)]

    async def change(self, user: User) -> bool:
        async with self._database.transaction() as session:
            await session.fetchval(SQL.lock_user, user.id)
            await session.execute(SQL.move_reminders, user.id, user.time_zone)
            known = await session.fetchval(SQL.change_user, user.id, user.name, user.time_zone)
            await move_schedules(session, user)
        return bool(known)

    async def erase(self, user_id: str) -> bool:
        return bool(await self._database.fetchval(SQL.erase_user, user_id))


class PostgresTaskStore:
    """`alarm` hears of each time to tell that was set, once it is kept.

    With `bin_days` a deleted task can be brought back for so long; without, it is gone with its history.
    """

    def __init__(
        self, database: Database, *, alarm: Alarm | None = None, bin_days: int | None = None
    ) -> None:
        self._database = database
        self._alarm = alarm
        self._bin_days = bin_days

    async def add(self, task: Task) -> Task | UserMissing:
        while True:
            try:
                kept = await insert_task(self._database, task, noted=True)
                await self.ring(kept)
                return kept
            except ConflictError as refused:
                if refused.details["constraint"] == NO_SUCH_OWNER:
                    return UserMissing()
                if refused.details["constraint"] != SAME_KEY:
                    raise
            row = await self._database.fetchrow(SQL.task_by_key, task.user_id, task.idempotency_key)
            if row is not None:
                return task_of(row)
            # The task that this key made was deleted between the two statements, so the key is free.

    async def get(self, user_id: str, task_id: str) -> Task | Refused:
        return await _get(self._database, user_id, task_id)

    async def list(self, user_id: str, wanted: TaskFilter) -> Sequence[Task] | UserMissing:
        rows = await self._database.fetch(
            SQL.list_tasks,
            user_id,
            wanted.completed,
            wanted.priority,
            *_bounds(wanted.due_before),
            *_bounds(wanted.due_after),
            None if wanted.search is None else f"%{_escaped(wanted.search)}%",
            wanted.limit,
            wanted.offset,
        )
        if not rows and await self._database.fetchrow(SQL.get_user, user_id) is None:
            return UserMissing()
        return [task_of(row) for row in rows]

    async def change(self, user_id: str, task_id: str, decide: Decide) -> Changed | Unchanged | Refused:
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lock_task, user_id, task_id)
            if row is None:
                return await _refusal(session, user_id, task_id)
            before = task_of(row)
            change = decide(before)
            if change is None:
                return Unchanged(before)
            await note_change(session, await save_task(session, before, change))
        await self.ring(change.task, change.follow_up)
        return Changed(before, change.task, change.follow_up)

    async def ring(self, *tasks: Task | None) -> None:
        for task in tasks:
            if self._alarm is not None and task is not None and task.tell_at is not None:
                await self._alarm.set(task.id, task.tell_at)

    async def delete(self, user_id: str, task_id: str) -> Task | Refused:
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lock_task, user_id, task_id)
            if row is None:
                return await _refusal(session, user_id, task_id)
            task, thing = task_of(row), f"tasks:{task_id}"
            if self._bin_days:
                data = await task_image(session, task_id)
                step = UndoStep(kind=TASK, thing=thing, data=data)
                words = f"deleted the task '{task.title}'"
                await undo.note(session, step, user=user_id, words=words, tool="delete_task")
            else:
                await session.execute(undo.SQL.forget_thing, [thing])
            await session.execute(SQL.delete_task, user_id, task_id)
        return task

    async def history(self, user_id: str, task_id: str) -> Sequence[TaskEvent] | Refused:
        found = await _get(self._database, user_id, task_id)
        if not isinstance(found, Task):
            return found
        return [TaskEvent(**row) for row in await self._database.fetch(SQL.task_history, task_id)]


async def insert_task(session: Session, task: Task, *, noted: bool = False) -> Task:
    """`noted`: its making is a change of its own, which can be taken back."""
    call = undo.call_under_way()
    time_zone = await session.fetchval(
        SQL.add_task,
        task.id,
        task.user_id,
        task.title,
        task.description,
        *_due_columns(task.due),
        task.priority,
        task.recurrence,
        task.idempotency_key,
        task.created_at,
        snapshot(task),
        *_notify_columns(task),
        (new_id() if call is None else call.call_id) if noted else None,
        "add_task",
        f"added the task '{task.title}'"[: undo.LONGEST_WORDS],
    )
    return task if time_zone == task.time_zone else replace(task, time_zone=time_zone)


async def save_task(session: Session, before: Task, change: Change) -> TaskEvent:
    task = change.task
    await session.execute(
        SQL.save_task,
        task.id,
        task.title,
        task.description,
        *_due_columns(task.due),
        task.priority,
        task.recurrence,
        task.completed_at,
        task.updated_at,
        *_notify_columns(task),
    )
    old, new = snapshot(before), snapshot(task)
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    after = {name: new.get(name) for name in changed}
    if change.follow_up is not None:
        await insert_task(session, change.follow_up)
        after["follow_up"] = change.follow_up.id
    row = await session.fetchrow(
        SQL.add_event,
        task.id,
        task.user_id,
        task.updated_at,
        change.action,
        {name: old.get(name) for name in changed},
        after,
    )
    assert row is not None
    return TaskEvent(**row)


async def note_change(session: Session, event: TaskEvent) -> None:
    row = await session.fetchrow(SQL.owner_and_title, event.task_id)
    assert row is not None
    data = {"task": event.task_id, "event": event.id, "before": event.before, "after": event.after}
    step = UndoStep(kind=TASK, thing=f"tasks:{event.task_id}", data=data)
    words = _in_words(event, str(row["title"]))
    tool = "complete_task" if event.action == "completed" else "update_task"
    await undo.note(session, step, user=row["user_id"], words=words, tool=tool)


def _in_words(event: TaskEvent, title: str) -> str:
    """What was changed: with the old and the new, where one thing was."""
    plain = f"{_DONE.get(event.action, event.action)} the task '{title}'"
    changed = [name for name in _TOLD if name in event.after]
    if event.action != "updated" or len(changed) != 1 or len(event.after) > len(changed):
        return plain
    name = changed[0]
    old, new = (event.before or {}).get(name), event.after.get(name)
    if name == "title":
        return f"renamed the task '{old}' to '{new}'"
    return f"{plain}: {_TOLD[name]} from {_value(old)} to {_value(new)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):  # a due date
        known = cast("Mapping[str, Any]", value)
        return str(known.get("at") or known.get("on") or "none")
    return str(value or "none")


async def task_image(session: Session, task_id: str) -> dict[str, Any]:
    """A task with its history, so that it can be brought back."""
    rows = await session.fetch(undo.SQL.images, "tasks", {"id": task_id})
    events = await session.fetch(undo.SQL.images, "task_events", {"task_id": task_id})
    history = sorted((row["image"] for row in events), key=lambda event: event["id"])
    return {"task": task_id, "row": rows[0]["image"], "history": history}


async def _get(session: Session, user_id: str, task_id: str) -> Task | Refused:
    row = await session.fetchrow(SQL.get_task, user_id, task_id)
    return task_of(row) if row is not None else await _refusal(session, user_id, task_id)


async def _refusal(session: Session, user_id: str, task_id: str) -> Refused:
    """Why a task was not there for this user. One that has appeared since was not there when asked for."""
    why = await session.fetchrow(SQL.why_refused, user_id, task_id)
    if why is None or not why["user_known"]:
        return UserMissing()
    return NotYours() if why["somebody_elses"] else TaskMissing()


def task_of(row: asyncpg.Record) -> Task:
    return Task(
        id=row["id"],
        user_id=row["user_id"],
        title=row["title"],
        description=row["description"],
        due=_due(row["due_at"], row["due_on"], has_time=row["due_has_time"]),
        priority=Priority(row["priority"]),
        recurrence=row["recurrence"],
        notify=Notify(row["notify_set_at"]) if row["notify"] else None,
        tell_at=row["tell_at"],
        completed_at=row["completed_at"],
        idempotency_key=row["idempotency_key"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        time_zone=row["time_zone"],
    )


def _due(at: datetime | None, on: date | None, *, has_time: bool) -> Due | None:
    return None if at is None or on is None else Due(on=on, at=at, has_time=has_time)


def _due_columns(due: Due | None) -> tuple[datetime | None, date | None, bool]:
    return (None, None, False) if due is None else (due.at, due.on, due.has_time)


def _notify_columns(task: Task) -> tuple[bool, datetime | None, datetime | None]:
    return task.notify is not None, None if task.notify is None else task.notify.at, task.tell_at


def snapshot(task: Task) -> dict[str, Any]:
    """The fields that change, as history keeps them."""
    return {
        "title": task.title,
        "description": task.description,
        "due": None
        if task.due is None
        else {
            "at": task.due.at.astimezone(UTC).isoformat(),
            "on": task.due.on.isoformat(),
            "has_time": task.due.has_time,
        },
        "priority": task.priority.value,
        "recurrence": task.recurrence,
        "completed_at": None if task.completed_at is None else task.completed_at.astimezone(UTC).isoformat(),
    } | ({} if task.notify is None else {"notify": _notify_snapshot(task.notify)})


def _notify_snapshot(notify: Notify) -> dict[str, str | None]:
    return {"at": None if notify.at is None else notify.at.astimezone(UTC).isoformat()}


def restored(task: Task, before: Mapping[str, Any]) -> Task:
    values = dict(before)
    if "priority" in values:
        values["priority"] = Priority(values["priority"])
    if values.get("completed_at") is not None:
        values["completed_at"] = datetime.fromisoformat(values["completed_at"])
    if values.get("notify") is not None:
        at = values["notify"]["at"]
        values["notify"] = Notify(None if at is None else datetime.fromisoformat(at))
    if values.get("due") is not None:
        due = values["due"]
        values["due"] = Due(
            on=date.fromisoformat(due["on"]), at=datetime.fromisoformat(due["at"]), has_time=due["has_time"]
        )
    return replace(task, **values)


def _bounds(due: Due | None) -> tuple[date | None, datetime | None]:
    """A day is compared by days, a moment by moments."""
    if due is None:
        return None, None
    return (None, due.at) if due.has_time else (due.on, None)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
