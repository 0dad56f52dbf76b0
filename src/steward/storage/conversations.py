"""Conversations in PostgreSQL.

A turn's claim carries the key of the program that takes it (presence.py), so that a killed one holds nobody
up. Within a program, this store knows what it holds itself.
"""

from collections.abc import Collection, Sequence

import asyncpg

from steward.contract.errors import ConflictError, ErrorCode, NotFoundError
from steward.conversations.model import Conversation, ConversationPage, NewTurn, PendingCall, Turn
from steward.conversations.ports import TURNS_LOADED
from steward.conversations.shapes import answer_shape, pending_shape, read_answer
from steward.conversations.turns import unknown
from steward.storage import cursor, sql
from steward.storage.postgres import Database

SQL = sql.load("conversations")
INVALID_USER = "INVALID_USER"


class PostgresConversationStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: set[str] = set()

    async def create(self, conversation_id: str, *, user: str, agent: str, title: str) -> Conversation:
        instance = await self._database.instance()
        row = await self._database.fetchrow(
            SQL.create_conversation, conversation_id, user, agent, title, instance
        )
        if row is None:
            raise NotFoundError(
                f"There is no user '{user[:80]}'.", code=INVALID_USER, fix="See 'steward users list'."
            )
        self._held.add(conversation_id)
        return _conversation(row)

    async def claim(self, conversation_id: str, *, user: str) -> Conversation:
        known = await self.load(conversation_id, user=user)
        if conversation_id in self._held:
            raise _busy(conversation_id)
        self._held.add(conversation_id)
        try:
            instance = await self._database.instance()
            row = await self._database.fetchrow(SQL.claim_conversation, conversation_id, user, instance)
            if row is None:
                await self.load(conversation_id, user=user, turns=0)  # deleted meanwhile?
                raise _busy(conversation_id)
            turns = known.turns
            if row["updated_at"] != known.updated_at:  # somebody took a turn between the two statements
                turns = await self._turns(conversation_id, TURNS_LOADED)
        except BaseException:
            self._held.discard(conversation_id)
            raise
        return _conversation(row, turns)

    async def append(self, conversation_id: str, turn: NewTurn) -> bool:
        try:
            kept = await self._database.fetchval(
                SQL.append_turn,
                conversation_id,
                await self._database.instance(),
                turn.history,
                [pending_shape(call) for call in turn.pending],
                turn.thread,
                turn.said,
                turn.speaker,
                answer_shape(turn.answer),
            )
        finally:
            self._held.discard(conversation_id)
        return bool(kept)

    async def release(self, conversation_id: str) -> None:
        self._held.discard(conversation_id)
        instance = await self._database.instance()
        await self._database.execute(SQL.release_conversation, conversation_id, instance)

    async def request_stop(self, conversation_id: str, *, user: str) -> bool:
        if "\0" in conversation_id:
            return False
        return bool(await self._database.fetchval(SQL.request_stop, conversation_id, user))

    async def stops(self, conversations: Collection[str]) -> Collection[str]:
        instance = await self._database.instance()
        rows = await self._database.fetch(SQL.stops_requested, list(conversations), instance)
        return [row["id"] for row in rows]

    async def load(self, conversation_id: str, *, user: str, turns: int = TURNS_LOADED) -> Conversation:
        row = None
        if "\0" not in conversation_id:
            row = await self._database.fetchrow(SQL.get_conversation, conversation_id, user)
        if row is None:
            raise unknown(conversation_id)
        return _conversation(row, await self._turns(conversation_id, turns) if turns else ())

    async def list(self, user: str, *, limit: int = 50, after: str | None = None) -> ConversationPage:
        at, last_id = cursor.decode(after)
        rows = await self._database.fetch(SQL.list_conversations, user, at, last_id, limit + 1)
        shown = [_conversation(row) for row in rows[:limit]]
        more = len(rows) > limit and shown
        return ConversationPage(
            items=shown, next=cursor.encode(shown[-1].updated_at, shown[-1].id) if more else None
        )

    async def find(self, thread: str, *, user: str) -> str | None:
        return await self._database.fetchval(SQL.find_thread, user, thread)

    async def delete(self, conversation_id: str, *, user: str) -> bool:
        if "\0" in conversation_id:
            return False
        return bool(await self._database.fetchval(SQL.delete_conversation, conversation_id, user))

    async def _turns(self, conversation_id: str, limit: int) -> tuple[Turn, ...]:
        rows = await self._database.fetch(SQL.latest_turns, conversation_id, limit)
        return tuple(_turn(row) for row in reversed(rows))


def _busy(conversation_id: str) -> ConflictError:
    return ConflictError(
        f"Another turn of conversation '{conversation_id}' is under way.",
        code=ErrorCode.CONFLICT,
        fix="Wait for its answer, or stop it.",
        retryable=True,
    )


def _conversation(row: asyncpg.Record, turns: Sequence[Turn] = ()) -> Conversation:
    return Conversation(
        id=row["id"],
        user=row["user_id"],
        agent=row["agent"],
        title=row["title"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        history=row["history"],
        pending=tuple(PendingCall(**call) for call in row["pending"]),
        running=row["running"],
        turns=turns,
    )


def _turn(row: asyncpg.Record) -> Turn:
    return Turn(
        number=row["number"],
        said=row["said"],
        speaker=row["speaker"],
        answer=read_answer(row["answer"]),
        at=row["at"],
    )
