"""Schedules and their runs in PostgreSQL."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime

import asyncpg

from steward.contract.errors import NotFoundError
from steward.contract.undoing import TakenBack, UndoStep
from steward.storage import notices, undo
from steward.storage.database import sql
from steward.storage.database.postgres import Database, Session
from steward.tasks.model import User
from steward.tasks.notices import Notice
from steward.tasks.rhythm import Rhythm
from steward.tasks.schedules import MOST_SCHEDULES, Claimed, Schedule, in_new_zone, ran, resumed

SQL = sql.load("schedules")


class PostgresScheduleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, schedule: Schedule) -> bool:
        async with self._database.transaction() as session:
            if await session.fetchval(SQL.lock_owner, schedule.user_id) is None:
                raise NotFoundError(f"There is no user '{schedule.user_id[:80]}'.", code="INVALID_USER")
            if await session.fetchval(SQL.count_schedules, schedule.user_id) >= MOST_SCHEDULES:
                return False
            async with _noted(session, schedule, "added the schedule"):
                await session.execute(
                    SQL.add_schedule,
                    *(schedule.id, schedule.user_id, schedule.request, schedule.agent, schedule.when),
                    *(schedule.rhythm.starts, schedule.rhythm.rule, schedule.next_at, schedule.created_at),
                )
        return True

    async def list(self, user_id: str) -> Sequence[Schedule]:
        return [_schedule(row) for row in await self._database.fetch(SQL.list_schedules, user_id)]

    async def get(self, user_id: str, schedule_id: str) -> Schedule | None:
        row = await self._database.fetchrow(SQL.get_schedule, user_id, schedule_id)
        return None if row is None else _schedule(row)

    async def change(
        self, user_id: str, schedule_id: str, by: Callable[[Schedule], Schedule], *, done: str
    ) -> Schedule | None:
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lock_schedule, schedule_id)
            if row is None or row["user_id"] != user_id:
                return None
            changed = by(_schedule(row))
            async with _noted(session, changed, done):
                await _keep(session, changed)
        return changed

    async def remove(self, user_id: str, schedule_id: str) -> Schedule | None:
        await self._database.execute(undo.SQL.forget_thing, [f"schedules:{schedule_id}"])
        row = await self._database.fetchrow(SQL.remove_schedule, user_id, schedule_id)
        return None if row is None else _schedule(row)

    async def due_runs(self, until: datetime, *, limit: int = 1000) -> Sequence[tuple[str, datetime]]:
        rows = await self._database.fetch(SQL.next_runs, until, limit)
        return [(row["id"], row["next_at"]) for row in rows]

    async def claim(self, schedule_id: str, due: datetime, *, now: datetime) -> Claimed | None:
        async with self._database.transaction() as session:
            row = await session.fetchrow(SQL.lock_schedule, schedule_id)
            if row is None:
                return None
            schedule = _schedule(row)
            begun = await session.fetchrow(SQL.find_run, schedule_id, due)
            if begun is not None:
                there = await session.fetchrow(notices.SQL.notice_of, schedule_id, due)
                told = None if there is None else notices.notice_of(there)
                return Claimed(schedule, again=True, conversation=begun["conversation"], notice=told)
            if schedule.next_at != due:
                return None
            now = min(now, row["clock"])  # a machine whose clock is ahead must not skip the runs between
            moved = ran(schedule, due, now=now)
            await session.execute(SQL.begin_run, schedule_id, due, schedule.user_id, now)
            await session.execute(SQL.move_on, schedule_id, moved.last_at, moved.next_at)
            return Claimed(moved)

    async def note_conversation(self, schedule_id: str, due: datetime, conversation: str) -> None:
        await self._database.execute(SQL.note_conversation, schedule_id, due, conversation)

    async def finish(
        self, schedule_id: str, due: datetime, *, notice: Notice, status: str, now: datetime
    ) -> Notice | None:
        async with self._database.transaction() as session:
            if await session.fetchrow(SQL.lock_schedule, schedule_id) is None:
                return None
            await session.execute(SQL.end_run, schedule_id, due, now, status)
            return await notices.keep_notice(session, notice)


async def _keep(session: Session, schedule: Schedule) -> None:
    await session.execute(
        SQL.change_schedule,
        *(schedule.id, schedule.request, schedule.agent, schedule.when),
        *(schedule.rhythm.starts, schedule.rhythm.rule, schedule.paused, schedule.next_at),
    )


def _noted(session: Session, schedule: Schedule, done: str) -> AbstractAsyncContextManager[None]:
    words = f"{done} '{schedule.request}' ({schedule.when})"
    key = {"id": schedule.id}
    return undo.noted(session, "schedules", key, words=words, user=schedule.user_id, by_hand=True)


def schedule_taker(ring: Callable[[Schedule], Awaitable[None]]) -> undo.Taker:
    """A schedule that is there again goes on at its next time: what it missed is not made up for."""

    async def take(session: Session, user: str, step: UndoStep) -> TakenBack:
        taken = await undo.take_row_back(session, user, step)
        row = await session.fetchrow(SQL.lock_schedule, step.data["key"]["id"])
        if row is None or row["paused"]:
            return taken
        again = resumed(replace(_schedule(row), paused=True), now=datetime.now(UTC))
        await _keep(session, again)
        return TakenBack(taken.data, lambda: ring(again))

    return take


def _schedule(row: asyncpg.Record) -> Schedule:
    return Schedule(
        id=row["id"],
        user_id=row["user_id"],
        request=row["request"],
        agent=row["agent"],
        when=row["said"],
        rhythm=Rhythm(row["starts"], row["rule"]),
        next_at=row["next_at"],
        paused=row["paused"],
        last_at=row["last_at"],
        created_at=row["created_at"],
        time_zone=row["time_zone"],
    )


async def move_schedules(session: Session, user: User) -> None:
    """Their owner is in another zone now."""
    now = datetime.now(UTC)
    for row in await session.fetch(SQL.list_schedules, user.id):
        moved = in_new_zone(_schedule(row), user, now=now)
        await _keep(session, moved)
