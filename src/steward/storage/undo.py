"""How changes are taken back, in PostgreSQL: one journal for every room.

Owns the steps, which of them stand, and taking back rows of tables: a row is made what it was, where it still
is what the change made of it. A step turns around when it is taken, so that the same way leads back. Each
room notes its change in the transaction that makes it. Does not own what the other kinds of steps mean.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg

from steward.contract.call import ToolCall, current_call, new_id
from steward.contract.deciding import Role
from steward.contract.errors import ConflictError, ErrorCode, NotFoundError
from steward.contract.undoing import (
    CannotUndoError,
    TakenBack,
    UndoableChange,
    UndoStep,
    changed_since,
)
from steward.storage.database import sql
from steward.storage.database.postgres import Database, Session

SQL = sql.load("undo")
KEPT = timedelta(days=30)
LONGEST_WORDS = 300
LOCAL = "local"  # whose the changes of shared things are, where nobody is named
ROW = "row"
_KINDS = {"schedules": "schedule"}  # rows that need more than to be put back
_KEYS: Mapping[str, tuple[str, ...]] = {
    "facts": ("id",),
    "memories": ("id",),
    "schedules": ("id",),
    "conversations": ("id",),
    "kb_collections": ("id",),
    "kb_projects": ("id",),
    "kb_project_collections": ("project_id", "collection_id"),
}
# Columns that Steward itself moves on: they say nothing on whether somebody changed the row.
_MOVING: Mapping[str, frozenset[str]] = {
    "schedules": frozenset({"next_at", "last_at"}),
    "kb_collections": frozenset({"counted_chunks", "average_length", "settled_at"}),
}

Row = Mapping[str, Any]
Taker = Callable[[Session, str, UndoStep], Awaitable[TakenBack]]
"""Takes one step of this user's back, in a transaction."""


def call_under_way() -> ToolCall | None:
    """The call that a change belongs to. What happens outside of one (an import, a load) is not noted."""
    return current_call.get()


async def note(
    session: Session,
    step: UndoStep,
    *,
    user: str,
    words: str,
    role: Role = Role.USE,
    tool: str | None = None,
) -> None:
    """Write down how a change is taken back, in the transaction that makes it."""
    call = current_call.get()
    await session.execute(
        SQL.note,
        new_id() if call is None else call.call_id,
        user,
        tool or ("-" if call is None else call.tool),
        role.word,
        words[:LONGEST_WORDS],
        step.kind,
        step.thing,
        step.data,
    )


@asynccontextmanager
async def noted(
    session: Session, table: str, key: Row, *, words: str, user: str | None = None, by_hand: bool = False
) -> AsyncGenerator[None]:
    """Whatever happens within to the rows with this key can be taken back.

    `by_hand`: also where a person does it beside the tools, in a route of its own.
    """
    call = call_under_way()
    if call is None and not by_hand:
        yield
        return
    before = await _images(session, table, key)
    yield
    after = await _images(session, table, key)
    owner = user or (call and call.user) or LOCAL
    for place in [*after, *(place for place in before if place not in after)]:
        data = _difference(table, before.get(place), after.get(place))
        if data is not None:
            thing = ":".join(map(str, (table, *place)))
            step = UndoStep(kind=_KINDS.get(table, ROW), thing=thing, data=data)
            await note(session, step, user=owner, words=words)


async def _images(session: Session, table: str, key: Row) -> dict[tuple[Any, ...], Row]:
    rows = await session.fetch(SQL.images, table, key)
    return {tuple(row["image"][name] for name in _KEYS[table]): row["image"] for row in rows}


def _difference(table: str, before: Row | None, after: Row | None) -> dict[str, Any] | None:
    known = after or before
    if known is None or before == after:
        return None
    key = {name: known[name] for name in _KEYS[table]}
    moving = _MOVING.get(table, frozenset())
    if after is None or before is None:
        stands = None if after is None else {k: v for k, v in after.items() if k not in moving}
        return {"table": table, "key": key, "stands": stands, "wanted": before}
    changed = [name for name in after if after[name] != before[name]]
    return {
        "table": table,
        "key": key,
        "stands": {name: after[name] for name in changed if name not in moving},
        "wanted": {name: before[name] for name in changed},
    }


async def take_row_back(session: Session, _user: str, step: UndoStep) -> TakenBack:
    table, key = str(step.data["table"]), step.data["key"]
    stands, wanted = step.data["stands"], step.data["wanted"]
    if table not in _KEYS:
        raise CannotUndoError(f"Rows of '{table}' are not taken back.")
    before = next(iter((await _images(session, table, key)).values()), None)
    if wanted is None:
        await _require_unused(session, table, key)
    try:
        async with session.transaction() as attempt:
            done = await attempt.fetchval(SQL.put_row, table, key, stands, wanted)
    except ConflictError as error:
        raise CannotUndoError(
            "Nothing was taken back: the same is there again, or what it belonged to is gone."
        ) from error
    if not done:
        raise changed_since("it")
    after = next(iter((await _images(session, table, key)).values()), None)
    return TakenBack(_difference(table, before, after) or dict(step.data))


async def _require_unused(session: Session, table: str, key: Row) -> None:
    """Nothing else goes along unseen."""
    if table == "kb_collections":
        found = await session.fetchrow(SQL.dependants, key["id"])
        if found is not None and (found["documents"] or found["links"]):
            raise CannotUndoError(
                "Nothing was taken back: the collection is in use.",
                fix="Take back what was added to it first, or delete it.",
            )
    if table == "kb_projects" and await session.fetchval(SQL.links_of_project, key["id"]):
        raise CannotUndoError(
            "Nothing was taken back: the project has collections.", fix="Take back their links first."
        )


class PostgresUndoJournal:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def changes(
        self,
        user: str,
        *,
        standing: bool = True,
        of: str | None = None,
        before: int | None = None,
        limit: int = 1,
    ) -> Sequence[UndoableChange]:
        """The newest first. `of`: only those of a room (tasks) or of one thing in it (tasks:task_4f1c)."""
        rows = await self._database.fetch(SQL.changes, user, standing, of, before, limit)
        return [_change(row) for row in rows]

    async def change(self, user: str, change: str) -> UndoableChange | None:
        row = await self._database.fetchrow(SQL.change, user, change)
        return None if row is None else _change(row)

    async def undone_by(self, user: str, undo: str) -> Sequence[str]:
        """What an undo took back, in the order in which it is done again."""
        return [row["change"] for row in await self._database.fetch(SQL.changes_undone_by, user, undo)]

    async def known(self, calls: Sequence[str]) -> set[str]:
        """Those of these calls that changed something which can be taken back."""
        return {row["change"] for row in await self._database.fetch(SQL.steps_of_calls, list(calls))}

    async def turn(
        self, user: str, change: str, takers: Mapping[str, Taker], *, by: str | None
    ) -> UndoableChange:
        """Take a change back (`by` this undo), or do it again (None): all its steps or none."""
        afterwards: list[Callable[[], Awaitable[None]]] = []
        async with self._database.transaction() as session:
            await session.execute(SQL.one_at_a_time, user)
            row = await session.fetchrow(SQL.change, user, change)
            if row is None:
                raise NotFoundError("There is no such change.", fix="See 'steward undo --list'.")
            if (row["undone_by"] is None) is (by is None):
                word = "stands already" if by is None else "was taken back already"
                raise ConflictError(
                    f"It {word}.", code=ErrorCode.ALREADY_UNDONE, fix="See 'steward undo --list'."
                )
            steps = await session.fetch(SQL.steps, user, change)
            for each in steps if by is not None else reversed(steps):
                step = UndoStep(kind=each["kind"], thing=each["thing"], data=each["data"])
                taken = await takers[step.kind](session, user, step)
                await session.execute(SQL.turn_step, each["id"], taken.data, by)
                if taken.afterwards is not None:
                    afterwards.append(taken.afterwards)
        for each in afterwards:
            await each()
        return _change(row)

    async def note(
        self, step: UndoStep, *, user: str, words: str, role: Role = Role.USE, tool: str | None = None
    ) -> None:
        """For a change that is not in the database."""
        await note(self._database, step, user=user, words=words, role=role, tool=tool)

    async def sweep(self, *, bin_days: int | None) -> None:
        """What is too old to be taken back goes, with what was kept for that."""
        await self._database.execute(SQL.sweep, KEPT, timedelta(days=bin_days or 0))
        await self._database.execute(SQL.clear_shelves)


def _change(row: asyncpg.Record) -> UndoableChange:
    words, more = row["words"][0], len(row["words"]) - 1
    return UndoableChange(
        id=row["change"],
        number=row["number"],
        at=row["at"],
        tool=row["tool"],
        role=Role.parse(row["role"]),
        words=f"{words} (and {more} more)" if more and len(set(row["words"])) > 1 else words,
        things=tuple(row["things"]),
        undone_by=row["undone_by"],
    )
