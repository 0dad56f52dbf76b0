"""A question to a person that could not be asked at once, and the port of the place where it waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    id: str
    user: str
    text: str
    choices: tuple[str, ...]
    asked_at: datetime
    answer: str | None = None
    answered_by: str | None = None
    answered_at: datetime | None = None


class QuestionStore(Protocol):
    """Each method is one atomic step, safe between processes."""

    async def ask(self, user: str, text: str, *, choices: Sequence[str] = ()) -> Question:
        """The same question of the same user if it waits or was answered lately; otherwise a new one.

        Reading an answer changes nothing, so that a result lost on its way can be asked for again.
        """
        ...

    async def waiting(
        self, *, user: str | None = None, limit: int = 50, after: str | None = None
    ) -> Sequence[Question]:
        """Unanswered ones, oldest first; `user`: only theirs; `after` is the id of the last one seen."""
        ...

    async def answer(self, question_id: str, text: str, *, by: str, user: str | None = None) -> Question:
        """Raise `NotFoundError` when there is none, `ConflictError` when it was answered already.

        `user`: only a question of theirs is there.
        """
        ...
