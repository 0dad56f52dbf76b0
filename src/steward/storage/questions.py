"""Questions to people in PostgreSQL."""

from collections.abc import Sequence
from datetime import timedelta

import asyncpg

from steward.contract.call import new_id
from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.contract.questions import Question
from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("questions")

ANSWER_COUNTS_FOR = timedelta(hours=1)


class PostgresQuestionStore:
    def __init__(self, database: Database, *, answer_counts_for: timedelta = ANSWER_COUNTS_FOR) -> None:
        self._database = database
        self._answer_counts_for = answer_counts_for

    async def ask(self, user: str, text: str, *, choices: Sequence[str] = ()) -> Question:
        if "\0" in text or any("\0" in choice for choice in choices):
            raise InputError("A question cannot hold a NUL character.", fix="Remove it.")
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lately_answered, user, text, self._answer_counts_for)
            if row is None:
                row = await session.fetchrow(SQL.ask_question, new_id()[:12], user, text, list(choices))
        assert row is not None
        return _question(row)

    async def waiting(
        self, *, user: str | None = None, limit: int = 50, after: str | None = None
    ) -> Sequence[Question]:
        rows = await self._database.fetch(SQL.waiting_questions, limit, after, user)
        return [_question(row) for row in rows]

    async def answer(self, question_id: str, text: str, *, by: str, user: str | None = None) -> Question:
        known = await self._database.fetchrow(SQL.get_question, question_id)
        if known is None or user not in (None, known["user_id"]):
            raise NotFoundError(f"There is no question '{question_id}'.", fix="See 'steward questions'.")
        _require_allowed(_question(known), text)
        row = await self._database.fetchrow(SQL.answer_question, question_id, text, by)
        if row is None:
            raise ConflictError(f"Question {question_id} was answered already.")
        return _question(row)


def _require_allowed(question: Question, text: str) -> None:
    if not text.strip() or "\0" in text:
        raise InputError("An answer needs a text.", fix="Write what the question asks for.")
    if question.choices and text not in question.choices:
        raise InputError(
            f"'{text}' is not one of the answers.", fix=f"Choose one of: {', '.join(question.choices)}."
        )


def _question(row: asyncpg.Record) -> Question:
    return Question(
        id=row["id"],
        user=row["user_id"],
        text=row["text"],
        choices=tuple(row["choices"]),
        asked_at=row["asked_at"],
        answer=row["answer"],
        answered_by=row["answered_by"],
        answered_at=row["answered_at"],
    )
