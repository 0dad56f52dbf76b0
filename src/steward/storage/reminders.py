"""Reminders that are due, in PostgreSQL: the step from a task's time to tell to its notice."""

from collections.abc import Sequence
from datetime import datetime

from steward.contract.call import new_id
from steward.storage.database.postgres import Database
from steward.storage.notices import SQL, find_notice, keep_notice
from steward.storage.tasks import task_of
from steward.tasks.notices import Notice, NoticeKind, reminder_text
from steward.tasks.reminding import told


class PostgresReminderStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def remind(
        self, task_id: str, due: datetime, *, now: datetime
    ) -> tuple[Notice | None, datetime | None]:
        """Make the notice of a task for this time, once, and say when the next one is.

        No notice: the task is gone or done, or its reminder was moved meanwhile. Asked again for a time that
        was told, the same notice: its delivery may not have ended.
        """
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lock_reminder, task_id)
            if row is None:
                return None, None
            task = task_of(row)
            if task.tell_at != due:
                return await find_notice(session, task_id, due), task.tell_at
            now = min(now, row["clock"])  # a machine whose clock is ahead must not skip the times between
            after = told(task, now=now)
            notice = Notice(
                id=new_id(),
                user_id=task.user_id,
                kind=NoticeKind.REMINDER,
                source=task.id,
                due=due,
                title=task.title,
                text=reminder_text(due=due, now=now, zone=task.zone, description=task.description),
                made_at=now,
            )
            kept = await keep_notice(session, notice)
            await session.execute(SQL.mark_told, task_id, after.tell_at)
            return kept, after.tell_at

    async def due_reminders(self, until: datetime, *, limit: int = 1000) -> Sequence[tuple[str, datetime]]:
        rows = await self._database.fetch(SQL.next_tellings, until, limit)
        return [(row["id"], row["tell_at"]) for row in rows]
