"""Taking a task's change back: fields become what they were, what was added goes, what was deleted comes.

A task that somebody worked on since stays as it is. What was told of a task stays told. The step that is
handed back leads the other way, so that doing it again is the same work.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from steward.contract.errors import ConflictError
from steward.contract.undoing import CannotUndoError, TakenBack, UndoStep, changed_since
from steward.storage import undo
from steward.storage.database.postgres import Session
from steward.storage.tasks import (
    SQL,
    PostgresTaskStore,
    restored,
    save_task,
    snapshot,
    task_image,
    task_of,
)
from steward.tasks.model import Action, Change, Task
from steward.tasks.reminding import rearranged

FOLLOW_UP = "follow_up"


def task_taker(store: PostgresTaskStore) -> undo.Taker:
    async def take(session: Session, user: str, step: UndoStep) -> TakenBack:
        data = step.data
        if "row" in data:
            task, turned = await _bring_back(session, data)
        elif data["before"] is None:
            return TakenBack(await _remove(session, user, data))
        else:
            task, turned = await _change_back(session, user, data)
        return TakenBack(turned, lambda: store.ring(task))

    return take


async def _bring_back(session: Session, data: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
    task_id, row = data["task"], data["row"]
    try:
        async with session.transaction() as attempt:
            await attempt.fetchval(undo.SQL.put_row, "tasks", {"id": task_id}, None, row)
            for event in data["history"]:
                await attempt.fetchval(undo.SQL.put_row, "task_events", {"id": event["id"]}, None, event)
    except ConflictError as error:
        raise CannotUndoError("Nothing was taken back: a task of the same key was added since.") from error
    kept = await session.fetchrow(SQL.get_task, row["user_id"], task_id)
    if kept is None:
        raise changed_since(f"'{row['title']}'")
    events = await session.fetchval(SQL.standing_events, task_id)
    return task_of(kept), {"task": task_id, "before": None, "events": events}


async def _remove(session: Session, user: str, data: Mapping[str, Any]) -> dict[str, Any]:
    task = await _locked(session, user, data["task"])
    if await session.fetchval(SQL.standing_events, task.id) != data["events"]:
        raise changed_since(f"'{task.title}'")
    turned = await task_image(session, task.id)
    await session.execute(SQL.delete_task, user, task.id)
    return turned


async def _change_back(session: Session, user: str, data: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
    task = await _locked(session, user, data["task"])
    before, after = data["before"], {k: v for k, v in data["after"].items() if k != FOLLOW_UP}
    now_there = snapshot(task)
    if any(now_there.get(name) != value for name, value in after.items()):
        raise changed_since(f"'{task.title}'")
    at = datetime.now(UTC)
    changed = replace(restored(task, before), updated_at=at)
    again = rearranged(task, changed, now=at, asked=False)
    again_event = data.get("event")
    if again_event is not None:
        await session.execute(SQL.mark_undone, again_event)
    action = "undone" if again_event is not None else _action(before)
    event = await save_task(session, task, Change(task=again, action=action))
    # Done again it stands in the task's history as what it is, and can be taken back from there.
    stands = None if again_event is not None else event.id
    turned: dict[str, Any] = {"task": task.id, "event": stands, "before": after, "after": before}
    return again, turned | await _follow_up(session, user, data)


async def _follow_up(session: Session, user: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The next task of one that repeats goes with the completion that made it, and comes back with it."""
    gone = data.get("gone")
    if gone is not None:
        task, _ = await _bring_back(session, gone)
        return {"next": task.id}
    next_task = data.get("next") or data["after"].get(FOLLOW_UP)
    if next_task is None:
        return {}
    row = await session.fetchrow(SQL.lock_task, user, next_task)
    if row is None or await session.fetchval(SQL.standing_events, next_task) > 1:
        return {}  # somebody has worked on it since: it stays
    image = await task_image(session, next_task)
    await session.execute(SQL.delete_task, user, next_task)
    return {"gone": image}


def _action(wanted: Mapping[str, Any]) -> Action:
    if "completed_at" not in wanted:
        return "updated"
    return "completed" if wanted["completed_at"] else "reopened"


async def _locked(session: Session, user: str, task_id: str) -> Task:
    row = await session.fetchrow(SQL.lock_task, user, task_id)
    if row is None:
        raise CannotUndoError("Nothing was taken back: the task is gone.", fix="A deletion is final.")
    return task_of(row)
