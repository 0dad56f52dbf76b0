"""Taking tasks' changes back in tests that have a store and no platform."""

from steward.bootstrap.tools.undoing import Undoing
from steward.contract.errors import ConflictError
from steward.storage.database.postgres import Database
from steward.storage.task_undo import task_taker
from steward.storage.tasks import TASK, PostgresTaskStore
from steward.storage.undo import PostgresUndoJournal


class TaskUndo:
    def __init__(self, database: Database, store: PostgresTaskStore) -> None:
        self.undoing = Undoing(PostgresUndoJournal(database), record=None)
        self.undoing.add(TASK, task_taker(store))

    async def __call__(self, user: str, task_id: str | None = None) -> str:
        """The last change of this task or of any; which task it was."""
        of = "tasks" if task_id is None else f"tasks:{task_id}"
        found = await self.undoing.journal.changes(user, of=of)
        if not found:
            raise ConflictError("There is nothing to undo.", code="NOTHING_TO_UNDO")
        await self.undoing.undo(user, only=found[0].id)
        return found[0].things[0].removeprefix("tasks:")
