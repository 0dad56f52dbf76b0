"""Where tasks are kept. Each method is one transaction with the check it depends on."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from steward.tasks.model import (
    Change,
    Changed,
    Refused,
    Task,
    TaskEvent,
    TaskFilter,
    Unchanged,
    User,
    UserMissing,
)

Decide = Callable[[Task], Change | None]


class Alarm(Protocol):
    """Sees to it that a reminder rings at its time. Never fails: one that was not set is found later."""

    async def set(self, task_id: str, at: datetime) -> None: ...


class UserStore(Protocol):
    async def add(self, user: User) -> bool:
        """False when the id is taken."""
        ...

    async def get(self, user_id: str) -> User | None: ...

    async def list(self) -> Sequence[User]: ...

    async def change(self, user: User) -> bool:
        """False when there is no such user."""
        ...

    async def erase(self, user_id: str) -> bool:
        """The user and everything they own, for good. False when there is no such user."""
        ...


class TaskStore(Protocol):
    async def add(self, task: Task) -> Task | UserMissing:
        """Keep a new task. With an idempotency key that was used before: the task it made then."""
        ...

    async def get(self, user_id: str, task_id: str) -> Task | Refused: ...

    async def list(self, user_id: str, wanted: TaskFilter) -> Sequence[Task] | UserMissing: ...

    async def change(self, user_id: str, task_id: str, decide: Decide) -> Changed | Unchanged | Refused:
        """Let `decide` look at the task while nobody else can change it, and keep what it makes of it."""
        ...

    async def delete(self, user_id: str, task_id: str) -> Task | Refused:
        """Remove a task and everything recorded about it; with a bin, for as long as that keeps it."""
        ...

    async def history(self, user_id: str, task_id: str) -> Sequence[TaskEvent] | Refused: ...
