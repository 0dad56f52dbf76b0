"""The record of calls in PostgreSQL, where every instance reads all of it.

Owns the rows: lines with their place in their home's chain, how far each file was read, checkpoints. Does not
own what a link or a signature is (telemetry/chain.py): it keeps what it is given, in one transaction with the
position it was read from, so that a line is linked once whatever is killed when.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import asyncpg
import orjson

from steward.contract.errors import InputError
from steward.storage.database import cursor, sql
from steward.storage.database.postgres import Database, Session

SQL = sql.load("record")
_COLUMNS = (
    *("home", "number", "digest", "link", "salt", "content", "file", "day", "at", "tool", "status"),
    *("call_id", "correlation_id", "owner", "program", "caller", "incidental"),
)
_PLAIN: Mapping[str, Any] = {
    "agent": None,
    "caller": {"kind": "system", "id": "-"},
    "correlation_id": None,
    "arguments": {},
    "output": None,
    "error": None,
    "code": None,
    "duration_ms": 0.0,
    "risk": None,
}
_PAGE = 2_000
_DIGITS = 19  # of a number that PostgreSQL can hold, and one


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedLine:
    number: int
    digest: bytes
    link: bytes
    salt: bytes | None
    content: str | None
    file: str
    day: date
    at: datetime
    tool: str
    status: str
    call_id: str
    correlation_id: str | None = None
    owner: str | None = None
    program: int | None = None
    caller: str | None = None
    incidental: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRow:
    """A checkpoint as it is kept."""

    number: int
    kind: str
    link: bytes
    at: datetime
    signature: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeRow:
    home: str
    public_key: bytes
    length: int
    link: bytes


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A slice of the record; `next` goes into `after` for the following slice, None at the end."""

    items: tuple[dict[str, Any], ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The line of a call that was running in a program that is gone."""

    entry: Mapping[str, Any]


def _claimed(row: asyncpg.Record) -> Abandoned:
    """What its line would have said: nothing more is known of it than that it was approved."""
    at = row["approved_at"].astimezone(UTC).isoformat(timespec="microseconds")
    return Abandoned(
        {
            "at": at,
            "tool": row["tool"],
            "caller": {"kind": row["caller_kind"], "id": row["caller_id"]},
            "user": row["user_id"],
            "correlation_id": row["correlation_id"],
            "call_id": row["call_id"],
            "approved": {"by": row["approver"]},
            "risk": row["risk"],
            "confidence": row["confidence"],
        }
    )


class OpenChain:
    """A home's chain, locked until the transaction ends."""

    def __init__(self, session: Session, home: str, *, length: int, link: bytes) -> None:
        self._session = session
        self._home = home
        self.length = length
        self.link = link

    async def positions(self) -> dict[str, int]:
        rows = await self._session.fetch(SQL.positions, self._home)
        return {row["file"]: row["position"] for row in rows}

    async def known(self, day: date) -> set[str]:
        """Which lines of this day are linked already, by the MD5 of their content."""
        return {row["md5"] for row in await self._session.fetch(SQL.known_lines, self._home, day)}

    async def add(
        self, lines: Sequence[LinkedLine], checkpoint: SignedRow | None, *, file: str, position: int
    ) -> None:
        if lines and checkpoint is not None:
            records = [(self._home, *(getattr(line, name) for name in _COLUMNS[1:])) for line in lines]
            await self._session.copy_records("record_lines", columns=_COLUMNS, records=records)
            await self._session.execute(SQL.note_ended, [line.call_id for line in lines])
            await self.sign(checkpoint)
            self.length, self.link = lines[-1].number, lines[-1].link
            await self._session.execute(SQL.set_head, self._home, self.length, self.link)
        await self._session.execute(SQL.set_position, self._home, file, position)

    async def sign(self, row: SignedRow) -> None:
        await self._session.execute(
            SQL.add_checkpoint, self._home, row.number, row.kind, row.link, row.at, row.signature
        )

    async def first_kept(self, days: int) -> int | None:
        """The number of the first line of the last days that have lines."""
        return await self._session.fetchval(SQL.first_kept, self._home, days)

    async def link_at(self, number: int) -> bytes | None:
        return await self._session.fetchval(SQL.link_at, self._home, number)

    async def drop_through(self, number: int) -> None:
        await self._session.execute(SQL.drop_lines, self._home, number)
        await self._session.execute(SQL.drop_checkpoints, self._home, number)

    async def forget_files(self, present: Collection[str]) -> None:
        """Positions in files that are gone."""
        await self._session.execute(SQL.drop_files, self._home, list(present))


class PostgresRecord:
    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def chain(self, home: str, public_key: bytes, *, beginning: bytes) -> AsyncGenerator[OpenChain]:
        async with self._database.transaction() as session:
            await session.execute(SQL.add_home, home, public_key, beginning)
            row = await session.fetchrow(SQL.lock_home, home)
            assert row is not None
            yield OpenChain(session, home, length=row["length"], link=row["link"])

    async def list(
        self,
        *,
        tool: str | None = None,
        status: str | None = None,
        since: datetime | None = None,
        correlation_id: str | None = None,
        owner: str | None = None,
        caller: str | None = None,
        incidental: bool = True,
        limit: int = 50,
        after: str | None = None,
    ) -> RecordPage:
        """Newest first: one item for each call and what became of it. `incidental`: also mere looks."""
        at, row_id = cursor.decode(after)
        if after is not None and not (row_id.isdecimal() and len(row_id) < _DIGITS):
            raise InputError("This is not the 'next' of a page.", fix="Use the page's own word.")
        number = int(row_id or 0)
        since = None if since is None else since.astimezone(UTC)
        # One row more than asked for tells whether there is another page.
        wanted = (tool, status, since, correlation_id, at, number, limit + 1, owner, caller, incidental)
        rows = await self._database.fetch(SQL.list_lines, *wanted)
        shown = rows[:limit]
        more = cursor.encode(shown[-1]["at"], str(shown[-1]["id"])) if len(rows) > limit else None
        return RecordPage(tuple(map(_item, shown)), more)

    async def callers(self, owner: str | None = None) -> Sequence[str]:
        """Everybody who made a call, as kind:id."""
        return [row["caller"] for row in await self._database.fetch(SQL.callers, owner)]

    @asynccontextmanager
    async def sweep(self) -> AsyncGenerator[Sequence[Abandoned] | None]:
        """Calls nobody will hear of again, while nobody else looks; None where somebody else does now."""
        async with self._database.transaction() as session:
            if not await session.fetchval(SQL.take_sweep):
                yield None
                return
            begun = [Abandoned(orjson.loads(row["content"])) for row in await session.fetch(SQL.abandoned)]
            claimed = [_claimed(row) for row in await session.fetch(SQL.approved_without_a_line)]
            yield [*begun, *claimed]

    async def unstored_outcomes(self) -> Sequence[tuple[str, Mapping[str, Any], datetime]]:
        """Proposals whose program died after their call ended, with the line that says how."""
        rows = await self._database.fetch(SQL.unstored_outcomes)
        return [(row["id"], orjson.loads(row["content"]), row["at"]) for row in rows]

    async def owned(self, owner: str) -> Sequence[tuple[str, int]]:
        return [(row["home"], row["number"]) for row in await self._database.fetch(SQL.owned, owner)]

    async def erase(self, owner: str) -> None:
        await self._database.execute(SQL.erase, owner)

    async def unwiped(self, home: str) -> Sequence[tuple[int, tuple[str, str]]]:
        rows = await self._database.fetch(SQL.unwiped, home)
        return [(row["id"], (row["call_id"], row["status"])) for row in rows]

    async def note_wiped(self, ids: Collection[int]) -> None:
        await self._database.execute(SQL.note_wiped, list(ids))

    # --- for whoever verifies ---

    async def homes(self) -> Sequence[HomeRow]:
        return [HomeRow(**dict(row)) for row in await self._database.fetch(SQL.homes)]

    async def lines(self, home: str) -> AsyncIterator[LinkedLine]:
        last = 0
        while rows := await self._database.fetch(SQL.chain, home, last, _PAGE):
            for row in rows:
                yield LinkedLine(**dict(row))
            last = rows[-1]["number"]

    async def checkpoints(self, home: str) -> Sequence[SignedRow]:
        return [SignedRow(**dict(row)) for row in await self._database.fetch(SQL.checkpoints, home)]

    async def erasures(self) -> Sequence[Mapping[str, Any]]:
        return [orjson.loads(row["content"]) for row in await self._database.fetch(SQL.erasures)]

    async def places(self, call_or_proposal: str) -> Sequence[tuple[str, int]]:
        """Where the lines of a call stand, by its id or by the id of the proposal it waited as."""
        call = await self._database.fetchval(SQL.call_of_proposal, call_or_proposal) or call_or_proposal
        return [(row["home"], row["number"]) for row in await self._database.fetch(SQL.lines_of_call, call)]

    async def ended(self, calls: Sequence[str], statuses: Sequence[str]) -> set[str]:
        """Those of these calls that have a line of one of these statuses, in any home."""
        rows = await self._database.fetch(SQL.calls_with_an_end, list(calls), list(statuses))
        return {row["call_id"] for row in rows}

    async def covering(self, home: str, number: int) -> tuple[SignedRow, Sequence[asyncpg.Record]] | None:
        """The checkpoint that covers a line, and the rows from the one before the line up to it."""
        row = await self._database.fetchrow(SQL.next_checkpoint, home, number)
        if row is None:
            return None
        rows = await self._database.fetch(SQL.stretch, home, number - 1, row["number"])
        return SignedRow(**dict(row)), rows


def _item(row: asyncpg.Record) -> dict[str, Any]:
    """With everything that a line may lack because it is about something else, or was erased."""
    if row["content"] is None:
        said: dict[str, Any] = {"tool": row["tool"], "status": row["status"], "call_id": row["call_id"]}
        return {**_PLAIN, "at": row["at"].isoformat(timespec="microseconds"), **said, "erased": True}
    entry: dict[str, Any] = orjson.loads(row["content"])
    intent: dict[str, Any] = {} if row["intent"] is None else orjson.loads(row["intent"])
    entry.pop("program", None)
    known = {"arguments": intent["arguments"]} if "arguments" in intent else {}
    return {**_PLAIN, **known, **entry, "home": row["home"][:12]}
