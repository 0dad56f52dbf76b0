"""Users and tasks in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import asyncpg

from steward.contract.errors import ConflictError
from steward.storage import sql
from steward.storage.postgres import Database, Session
from steward.tasks.model import (
    Change,
    Changed,
    Due,
    NothingToUndo,
    NotYours,
    OnlyAdded,
    Priority,
    Refused,
    Task,
    TaskEvent,
    TaskFilter,
    TaskMissing,
    Unchanged,
    Undone,
    User,
    UserMissing,
)
from steward.tasks.ports import Decide

SQL = sql.load("tasks")
NO_SUCH_OWNER = "tasks_user_id_fkey"
SAME_KEY = "tasks_user_id_idempotency_key_key"


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
        return bool(await self._database.fetchval(SQL.change_user, user.id, user.name, user.time_zone))

    async def erase(self, user_id: str) -> bool:
        return bool(await self._database.fetchval(SQL.erase_user, user_id))


class PostgresTaskStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, task: Task) -> Task | UserMissing:
        while True:
            try:
                return await _insert(self._database, task)
            except ConflictError as refused:
                if refused.details["constraint"] == NO_SUCH_OWNER:
                    return UserMissing()
                if refused.details["constraint"] != SAME_KEY:
                    raise
            row = await self._database.fetchrow(SQL.task_by_key, task.user_id, task.idempotency_key)
            if row is not None:
                return _task(row)
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
        return [_task(row) for row in rows]

    async def change(self, user_id: str, task_id: str, decide: Decide) -> Changed | Unchanged | Refused:
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lock_task, user_id, task_id)
            if row is None:
                return await _refusal(session, user_id, task_id)
            before = _task(row)
            change = decide(before)
            if change is None:
                return Unchanged(before)
            await _save(session, before, change)
            return Changed(before, change.task, change.follow_up)

    async def delete(self, user_id: str, task_id: str) -> Task | Refused:
        row = await self._database.fetchrow(SQL.delete_task, user_id, task_id)
        return _task(row) if row is not None else await _refusal(self._database, user_id, task_id)

    async def history(self, user_id: str, task_id: str) -> Sequence[TaskEvent] | Refused:
        found = await _get(self._database, user_id, task_id)
        if not isinstance(found, Task):
            return found
        return [TaskEvent(**row) for row in await self._database.fetch(SQL.task_history, task_id)]

    async def undo(
        self, user_id: str, task_id: str | None, *, at: datetime
    ) -> Undone | OnlyAdded | NothingToUndo | Refused:
        async with self._database.transaction() as session:
            if await session.fetchval(SQL.lock_user, user_id) is None:
                return UserMissing()
            if task_id is not None:
                found = await _get(session, user_id, task_id)
                if not isinstance(found, Task):
                    return found
            while (event_row := await session.fetchrow(SQL.last_event, user_id, task_id)) is not None:
                event = TaskEvent(**event_row)
                row = await session.fetchrow(SQL.lock_task, user_id, event.task_id)
                if row is not None:  # otherwise it was deleted meanwhile, and its events with it
                    return await _take_back(session, _task(row), event, at)
            return NothingToUndo()


async def _take_back(session: Session, task: Task, event: TaskEvent, at: datetime) -> Undone | OnlyAdded:
    if event.before is None:
        return OnlyAdded(task)
    restored = replace(_restored(task, event.before), updated_at=at)
    await session.execute(SQL.mark_undone, event.id)
    await _save(session, task, Change(task=restored, action="undone"))
    follow_up = event.after.get("follow_up")
    if follow_up is not None:
        await _remove_untouched(session, task.user_id, follow_up)
    return Undone(event, restored)


async def _remove_untouched(session: Session, user_id: str, task_id: str) -> None:
    """What somebody has worked on since stays; it is locked first, so that nobody starts now."""
    if await session.fetchrow(SQL.lock_task, user_id, task_id) is None:
        return
    if not await session.fetchval(SQL.is_touched, task_id):
        await session.fetchrow(SQL.delete_task, user_id, task_id)


async def _insert(session: Session, task: Task) -> Task:
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
        _snapshot(task),
    )
    return task if time_zone == task.time_zone else replace(task, time_zone=time_zone)


async def _save(session: Session, before: Task, change: Change) -> None:
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
    )
    old, new = _snapshot(before), _snapshot(task)
    changed = [name for name in new if old[name] != new[name]]
    after = {name: new[name] for name in changed}
    if change.follow_up is not None:
        await _insert(session, change.follow_up)
        after["follow_up"] = change.follow_up.id
    await session.execute(
        SQL.add_event,
        task.id,
        task.user_id,
        task.updated_at,
        change.action,
        {name: old[name] for name in changed},
        after,
    )


async def _get(session: Session, user_id: str, task_id: str) -> Task | Refused:
    row = await session.fetchrow(SQL.get_task, user_id, task_id)
    return _task(row) if row is not None else await _refusal(session, user_id, task_id)


async def _refusal(session: Session, user_id: str, task_id: str) -> Refused:
    """Why a task was not there for this user. One that has appeared since was not there when asked for."""
    why = await session.fetchrow(SQL.why_refused, user_id, task_id)
    if why is None or not why["user_known"]:
        return UserMissing()
    return NotYours() if why["somebody_elses"] else TaskMissing()


def _task(row: asyncpg.Record) -> Task:
    return Task(
        id=row["id"],
        user_id=row["user_id"],
        title=row["title"],
        description=row["description"],
        due=_due(row["due_at"], row["due_on"], has_time=row["due_has_time"]),
        priority=Priority(row["priority"]),
        recurrence=row["recurrence"],
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


def _snapshot(task: Task) -> dict[str, Any]:
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
    }


def _restored(task: Task, before: Mapping[str, Any]) -> Task:
    values = dict(before)
    if "priority" in values:
        values["priority"] = Priority(values["priority"])
    if values.get("completed_at") is not None:
        values["completed_at"] = datetime.fromisoformat(values["completed_at"])
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
