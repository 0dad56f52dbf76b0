"""The five operations on tasks, exactly as contracted.

Owns validation and wording. Holds no state: whatever it knows is read from the store in the same call.
Every answer is an envelope, also when the store cannot be reached.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, assert_never
from zoneinfo import ZoneInfo

from steward.contract.errors import StewardError
from steward.tasks.envelopes import (
    ADDED,
    COMPLETED,
    DELETED,
    LISTED,
    MESSAGES,
    UPDATED,
    Envelope,
    TaskCode,
    TaskRefusal,
    failure,
    refusal,
    shape,
    success,
)
from steward.tasks.model import (
    CHANGEABLE,
    Change,
    Changed,
    Notify,
    Refused,
    Task,
    Unchanged,
    UserMissing,
    differences,
    new_task_id,
)
from steward.tasks.ports import TaskStore, UserStore
from steward.tasks.reading import (
    read_completed,
    read_description,
    read_due,
    read_filter,
    read_id,
    read_key,
    read_notify,
    read_priority,
    read_recurrence,
    read_title,
)
from steward.tasks.reminding import arranged, follows, rearranged
from steward.tasks.repeats import next_due

Given = Mapping[str, Any]


class TaskService:
    def __init__(
        self,
        *,
        tasks: TaskStore,
        users: UserStore,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._tasks = tasks
        self._users = users
        self._now = now

    async def add_task(self, user_id: Any, given: Given) -> Envelope:
        async def work(now: datetime) -> Envelope:
            owner, zone = await self._owner(user_id, reads_dates=_names_a_time(given))
            task = Task(
                id=new_task_id(),
                user_id=owner,
                title=read_title(given.get("title")),
                description=read_description(given.get("description")),
                due=read_due(given.get("due_date"), now=now, zone=zone),
                priority=read_priority(given.get("priority") or "medium"),
                recurrence=read_recurrence(given.get("recurrence")),
                notify=read_notify(given.get("notify"), now=now, zone=zone),
                idempotency_key=read_key(given.get("idempotency_key")),
                created_at=now,
                updated_at=now,
                time_zone=zone.key,
            )
            if task.recurrence and task.due is None:
                raise TaskRefusal(TaskCode.INVALID_RECURRENCE, "A recurring task needs a due date")
            kept = _found(await self._tasks.add(arranged(task)))
            return success(f"Added '{kept.title}'", at=now, task=shape(kept, *ADDED))

        return await self._answer(work)

    async def list_tasks(self, user_id: Any, given: Given) -> Envelope:
        async def work(now: datetime) -> Envelope:
            dated = any(given.get(name) is not None for name in ("due_before", "due_after"))
            owner, zone = await self._owner(user_id, reads_dates=dated)
            wanted = read_filter(given, now=now, zone=zone)
            found = await self._tasks.list(owner, wanted)
            if isinstance(found, UserMissing):
                raise refusal(found)
            tasks = [shape(task, *LISTED) for task in found]
            message = (
                f"Found {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}" if tasks else "No tasks found"
            )
            return success(message, at=now, tasks=tasks, count=len(tasks))

        return await self._answer(work)

    async def complete_task(self, user_id: Any, task_id: Any) -> Envelope:
        async def work(now: datetime) -> Envelope:
            owner, _ = await self._owner(user_id)
            wanted = read_id(task_id, TaskCode.TASK_NOT_FOUND)
            outcome = _allowed(await self._tasks.change(owner, wanted, lambda task: _complete(task, now)))
            match outcome:
                case Unchanged(task=task):
                    return success(
                        MESSAGES[TaskCode.ALREADY_COMPLETED],
                        at=now,
                        code=TaskCode.ALREADY_COMPLETED.value,
                        task=shape(task, *COMPLETED),
                    )
                case Changed(after=task, follow_up=follow_up):
                    message = f"Completed '{task.title}'"
                    if follow_up is None or follow_up.due is None:
                        return success(message, at=now, task=shape(task, *COMPLETED))
                    following = shape(follow_up, *ADDED)
                    message += f"; it is due again {follow_up.due.text(task.zone)}"
                    return success(message, at=now, task=shape(task, *COMPLETED), next_task=following)
                case _:
                    assert_never(outcome)

        return await self._answer(work)

    async def delete_task(self, user_id: Any, task_id: Any) -> Envelope:
        async def work(now: datetime) -> Envelope:
            owner, _ = await self._owner(user_id)
            wanted = read_id(task_id, TaskCode.TASK_NOT_FOUND)
            task = _found(await self._tasks.delete(owner, wanted))
            return success(f"Deleted '{task.title}'", at=now, deleted_task=shape(task, *DELETED))

        return await self._answer(work)

    async def update_task(self, user_id: Any, task_id: Any, given: Given) -> Envelope:
        """`given` holds only what was provided: a null clears where the contract says so."""

        async def work(now: datetime) -> Envelope:
            owner, zone = await self._owner(user_id, reads_dates=_names_a_time(given))
            wanted = read_id(task_id, TaskCode.TASK_NOT_FOUND)
            if not any(name in CHANGEABLE for name in given):
                # Whose task it is decides before what is asked of it.
                _found(await self._tasks.get(owner, wanted))
                raise TaskRefusal.of(TaskCode.NO_CHANGES)
            edit = _read_edit(given, zone=zone, now=now)
            outcome = _allowed(
                await self._tasks.change(owner, wanted, lambda task: _apply(task, edit, now=now))
            )
            before = outcome.before if isinstance(outcome, Changed) else outcome.task
            after = outcome.after if isinstance(outcome, Changed) else outcome.task
            changes = list(differences(before, after))
            message = f"Updated '{after.title}'" if changes else f"'{after.title}' already was like that"
            return success(message, at=now, task=shape(after, *UPDATED), changes=changes)

        return await self._answer(work)

    async def _owner(self, user_id: Any, *, reads_dates: bool = False) -> tuple[str, ZoneInfo]:
        """Whose tasks are meant. Looked up only to read a date in their zone: the store checks anyway."""
        owner = read_id(user_id, TaskCode.INVALID_USER)
        if not reads_dates:
            return owner, ZoneInfo("UTC")
        user = await self._users.get(owner)
        if user is None:
            raise TaskRefusal.of(TaskCode.INVALID_USER)
        return owner, user.zone

    async def _answer(self, work: Callable[[datetime], Awaitable[Envelope]]) -> Envelope:
        now = self._now()
        try:
            return await work(now)
        except TaskRefusal as why:
            return failure(why.code, why.message, at=now)
        except StewardError as error:
            unknown = {"outcome_unknown": True} if error.in_doubt else {}
            return failure(error.code, error.explain(), at=now) | unknown


def _names_a_time(given: Given) -> bool:
    return any(given.get(name) is not None for name in ("due_date", "notify"))


def _found(task: Task | Refused) -> Task:
    if isinstance(task, Task):
        return task
    raise refusal(task)


def _allowed(outcome: Changed | Unchanged | Refused) -> Changed | Unchanged:
    if isinstance(outcome, Changed | Unchanged):
        return outcome
    raise refusal(outcome)


def _complete(task: Task, now: datetime) -> Change | None:
    if task.completed:
        return None
    done = rearranged(task, replace(task, completed_at=now, updated_at=now), now=now)
    return Change(task=done, action="completed", follow_up=_follow_up(task, now))


def _follow_up(task: Task, now: datetime) -> Task | None:
    if task.recurrence is None or task.due is None:
        return None
    again = next_due(task.due, task.recurrence, now=now, zone=task.zone)
    if again is None:
        return None
    due, rule = again
    return follows(
        replace(
            task,
            id=new_task_id(),
            due=due,
            recurrence=rule,
            completed_at=None,
            idempotency_key=None,
            created_at=now,
            updated_at=now,
        )
    )


def _read_edit(given: Given, *, zone: ZoneInfo, now: datetime) -> dict[str, Any]:
    readers: dict[str, Callable[[Any], Any]] = {
        "title": read_title,
        "description": read_description,
        "due_date": lambda value: read_due(value, now=now, zone=zone),
        "priority": read_priority,
        "recurrence": read_recurrence,
        "notify": lambda value: read_notify(value, now=now, zone=zone),
        "completed": read_completed,
    }
    return {name: readers[name](value) for name, value in given.items() if name in readers}


def _apply(task: Task, edit: Mapping[str, Any], *, now: datetime) -> Change | None:
    fields = {
        "due" if name == "due_date" else name: value for name, value in edit.items() if name != "completed"
    }
    if "due" in fields and "notify" not in fields and task.notify is not None:
        fields["notify"] = Notify()  # a new date brings its own time to be told
    after = replace(task, **fields)
    wanted = edit.get("completed", task.completed)
    if wanted != task.completed:
        after = replace(after, completed_at=now if wanted else None)
    if not differences(task, after):
        return None
    after = rearranged(task, replace(after, updated_at=now), now=now)
    if wanted and not task.completed:
        return Change(task=after, action="completed", follow_up=_follow_up(after, now))
    return Change(task=after, action="reopened" if task.completed and not wanted else "updated")
