"""Conversations in PostgreSQL, held on lease while a turn runs.

A lease is a number and a time. Each holder has a higher number than the one before; whoever gives no sign of
life until the time is over may be followed by another.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import asyncpg

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import ConflictError, ErrorCode, NotFoundError
from steward.conversations.model import (
    Beat,
    CallRecord,
    Conversation,
    ConversationPage,
    LeftTurn,
    NewTurn,
    OpenCall,
    Opening,
    PendingCall,
    Turn,
)
from steward.conversations.ports import TURNS_LOADED, lease_lost
from steward.conversations.shapes import answer_shape, call_shape, pending_shape, read_answer, read_call
from steward.conversations.turns import unknown
from steward.storage import undo
from steward.storage.database import cursor, sql
from steward.storage.database.postgres import Database

SQL = sql.load("conversations")
INVALID_USER = "INVALID_USER"
LEASE = timedelta(seconds=10)  # without a sign of life
QUEUED = timedelta(hours=1)  # for a turn that waits for a worker
KEPT_AWAY = timedelta(days=30)  # how long a deleted conversation can be taken back


class PostgresConversationStore:
    def __init__(self, database: Database, *, lease: timedelta = LEASE) -> None:
        self._database = database
        self._lease = lease

    async def create(
        self, conversation_id: str, *, user: str, agent: str, title: str, opening: Opening
    ) -> Conversation:
        row = await self._database.fetchrow(
            SQL.create_conversation,
            conversation_id,
            user,
            agent,
            title,
            opening.history,
            self._lease,
            opening.said,
            opening.caller.kind.value,
            opening.caller.id,
        )
        if row is None:
            raise NotFoundError(
                f"There is no user '{user[:80]}'.", code=INVALID_USER, fix="See 'steward users list'."
            )
        return _conversation(row)

    async def claim(self, conversation_id: str, *, user: str, opening: Opening) -> Conversation:
        known = await self.load(conversation_id, user=user)
        row = await self._database.fetchrow(
            SQL.claim_conversation,
            conversation_id,
            user,
            self._lease,
            opening.said,
            opening.caller.kind.value,
            opening.caller.id,
        )
        if row is None:
            await self.load(conversation_id, user=user, turns=0)  # deleted meanwhile?
            raise _busy(conversation_id)
        turns = known.turns
        if row["updated_at"] != known.updated_at:  # somebody took a turn between the two statements
            turns = await self._turns(conversation_id, TURNS_LOADED)
        left = await self._left(conversation_id) if row["left_behind"] else None
        return _conversation(row, turns, left=left)

    async def claim_left(
        self, conversation_id: str, *, user: str, queued: int | None = None
    ) -> Conversation | None:
        row = await self._database.fetchrow(SQL.claim_left_turn, conversation_id, user, self._lease, queued)
        if row is None:
            return None
        turns = await self._turns(conversation_id, TURNS_LOADED)
        return _conversation(row, turns, left=await self._left(conversation_id))

    async def queue(self, held: Conversation) -> bool:
        return bool(await self._database.fetchval(SQL.queue_turn, held.id, held.lease, QUEUED))

    async def leave(self, held: Conversation) -> None:
        await self._database.execute(SQL.leave_turn, held.id, held.lease)

    async def left(self, *, limit: int = 20) -> Sequence[tuple[str, str, str]]:
        rows = await self._database.fetch(SQL.left_turns, limit)
        return [(row["id"], row["user_id"], row["title"]) for row in rows]

    async def begin_call(self, held: Conversation, call: OpenCall) -> None:
        begun = await self._database.fetchval(
            SQL.begin_call, held.id, held.lease, call.call_id, call.tool, dict(call.arguments), call.within
        )
        if not begun:
            raise lease_lost()

    async def end_call(self, held: Conversation, call_id: str, record: CallRecord) -> None:
        await self._database.execute(SQL.end_call, held.id, call_id, call_shape(record))

    async def append(self, held: Conversation, turn: NewTurn) -> bool:
        kept = await self._database.fetchval(
            SQL.append_turn,
            held.id,
            held.lease,
            turn.history,
            [pending_shape(call) for call in turn.pending],
            turn.thread,
            turn.said,
            turn.speaker,
            answer_shape(turn.answer),
        )
        return bool(kept)

    async def release(self, held: Conversation) -> None:
        await self._database.execute(SQL.release_conversation, held.id, held.lease)

    async def request_stop(self, conversation_id: str, *, user: str) -> bool:
        if "\0" in conversation_id:
            return False
        return bool(await self._database.fetchval(SQL.request_stop, conversation_id, user))

    async def beat(self, leases: Mapping[str, int]) -> Beat:
        rows = await self._database.fetch(SQL.renew_leases, list(leases), list(leases.values()), self._lease)
        held = {row["id"] for row in rows}
        return Beat(
            stops=frozenset(row["id"] for row in rows if row["stop_requested"]),
            lost=frozenset(leases.keys() - held),
        )

    async def load(self, conversation_id: str, *, user: str, turns: int = TURNS_LOADED) -> Conversation:
        row = None
        if "\0" not in conversation_id:
            row = await self._database.fetchrow(SQL.get_conversation, conversation_id, user)
        if row is None:
            raise unknown(conversation_id)
        return _conversation(row, await self._turns(conversation_id, turns) if turns else ())

    async def list(
        self, user: str, *, limit: int = 50, after: str | None = None, containing: str | None = None
    ) -> ConversationPage:
        at, last_id = cursor.decode(after)
        wanted = containing and containing.replace("\0", "")
        rows = await self._database.fetch(SQL.list_conversations, user, at, last_id, limit + 1, wanted)
        shown = [_conversation(row) for row in rows[:limit]]
        more = len(rows) > limit and shown
        return ConversationPage(
            items=shown, next=cursor.encode(shown[-1].updated_at, shown[-1].id) if more else None
        )

    async def find(self, thread: str, *, user: str) -> str | None:
        return await self._database.fetchval(SQL.find_thread, user, thread)

    async def rename(self, conversation_id: str, *, user: str, title: str) -> bool:
        return await self._changed(SQL.rename_conversation, conversation_id, user, title)

    async def delete(self, conversation_id: str, *, user: str) -> bool:
        if "\0" in conversation_id:
            return False
        async with self._database.transaction() as session:
            key, words = {"id": conversation_id}, "deleted a conversation"
            async with undo.noted(session, "conversations", key, words=words, user=user):
                done = await session.fetchval(SQL.delete_conversation, conversation_id, user, KEPT_AWAY)
        return bool(done)

    async def restore(self, conversation_id: str, *, user: str) -> bool:
        return await self._changed(SQL.restore_conversation, conversation_id, user, KEPT_AWAY)

    async def _changed(self, statement: str, conversation_id: str, *more: object) -> bool:
        if "\0" in conversation_id:
            return False
        return bool(await self._database.fetchval(statement, conversation_id, *more))

    async def _turns(self, conversation_id: str, limit: int) -> tuple[Turn, ...]:
        rows = await self._database.fetch(SQL.latest_turns, conversation_id, limit)
        return tuple(_turn(row) for row in reversed(rows))

    async def _left(self, conversation_id: str) -> LeftTurn | None:
        row = await self._database.fetchrow(SQL.get_open_turn, conversation_id)
        if row is None:
            return None
        calls = await self._database.fetch(SQL.get_open_calls, conversation_id)
        return LeftTurn(
            said=row["said"],
            caller=Caller(CallerKind(row["caller_kind"]), row["caller_id"]),
            at=row["at"],
            resumed=row["resumed"],
            calls=tuple(_open_call(call) for call in calls),
        )


def _open_call(row: asyncpg.Record) -> OpenCall:
    return OpenCall(
        call_id=row["call_id"],
        tool=row["tool"],
        arguments=row["arguments"],
        within=row["within"],
        record=None if row["record"] is None else read_call(row["record"]),
    )


def _busy(conversation_id: str) -> ConflictError:
    return ConflictError(
        f"Another turn of conversation '{conversation_id}' is under way.",
        code=ErrorCode.CONFLICT,
        fix="Wait for its answer, or stop it.",
        retryable=True,
    )


def _conversation(
    row: asyncpg.Record, turns: Sequence[Turn] = (), *, left: LeftTurn | None = None
) -> Conversation:
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
        lease=row["lease"],
        left=left,
    )


def _turn(row: asyncpg.Record) -> Turn:
    return Turn(
        number=row["number"],
        said=row["said"],
        speaker=row["speaker"],
        answer=read_answer(row["answer"]),
        at=row["at"],
    )
