"""Everything a user owns, out of the database and into another, row by row.

Owns which tables those are (found, not listed: a table that keeps rows under `user_id` is never forgotten),
in which order they go in, and what of a row belongs to one database only. Rows travel as PostgreSQL writes
them, so that a document that must come back exactly does. What is there already stays as it is, and a row
never comes in under anybody else's name.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from steward.contract.errors import ErrorCode, InputError, StewardError
from steward.storage.database import sql
from steward.storage.database.postgres import Session

SQL = sql.load("ownership")
# What opens a door here must not open one elsewhere, nor answer a request of another day or take it back.
STAYS = frozenset({"api_keys", "long_calls", "request_replays", "undo_steps"})
_LOCAL: Mapping[str, frozenset[str]] = {  # columns that only mean something to programs running now
    "proposals": frozenset({"instance"}),
    "conversations": frozenset({"claimed_by", "stop_requested", "lease", "leased_until"}),
}
# A call that was running elsewhere is not running here, and nobody will say how it ended.
_READ_AS = {("proposals", "state"): "CASE r.state WHEN 'running' THEN 'unknown' ELSE r.state END"}
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Owned:
    """A table with rows of users'."""

    name: str
    columns: Sequence[str]
    key: Sequence[str]
    parents: Mapping[str, str] = field(default_factory=dict[str, str])  # column -> table
    itself: frozenset[str] = frozenset()  # columns that point at rows of the same table

    @property
    def numbered(self) -> bool:
        """Its rows have no name of their own: the database numbers them."""
        return not {*self.key} <= {*self.columns, "user_id"}


@dataclass(frozen=True, slots=True)
class TakenIn:
    added: int
    present: int


async def owned_tables(session: Session) -> list[Owned]:
    """Parents before their children."""
    links = [tuple(row) for row in await session.fetch(SQL.owned_links)]
    tables: dict[str, Owned] = {}
    for row in await session.fetch(SQL.owned_tables):
        if row["name"] in STAYS:
            continue
        mine = [(column, parent) for child, column, parent in links if child == row["name"]]
        tables[row["name"]] = Owned(
            name=row["name"],
            columns=[name for name in row["columns"] if name not in _LOCAL.get(row["name"], ())],
            key=row["key"],
            parents={column: parent for column, parent in mine if parent != row["name"]},
            itself=frozenset(column for column, parent in mine if parent == row["name"]),
        )
    ordered: list[Owned] = []
    while tables:
        ready = [table for table in tables.values() if not tables.keys() & set(table.parents.values())]
        ordered += ready
        for table in ready:
            del tables[table.name]
    return ordered


class OwnedRows:
    """The rows of one user, inside a transaction of the caller's."""

    def __init__(self, session: Session, user: str) -> None:
        self._session = session
        self._user = user

    async def read(self, table: Owned) -> AsyncIterator[str]:
        """Each row as JSON, in the order of its key."""
        columns = ", ".join(map(_name, table.columns))
        order = ", ".join(map(_name, table.key)) or "1"
        query = (
            f"SELECT row_to_json(r)::text FROM (SELECT {columns} FROM {_name(table.name)} "  # noqa: S608
            f"WHERE user_id = $1 ORDER BY {order}) r"
        )
        for row in await self._session.fetch(query, self._user):
            yield row[0].replace("\n", " ")  # only ever between two values

    async def open(self) -> None:
        await self._session.execute(SQL.take_turn, self._user)
        await self._session.execute(SQL.make_room)
        await self._session.execute(SQL.make_newcomers)

    async def take(self, table: Owned, columns: Sequence[str], lines: Iterator[str]) -> TakenIn:
        """Add what is not there. Children come in only with a parent that came in with them."""
        await self._session.execute("DELETE FROM pg_temp.incoming")
        came = await self._receive(lines)
        shared = [name for name in columns if name in table.columns]
        if not came or not shared:
            return TakenIn(0, 0)
        try:
            added = await self._session.fetchval(self._insertion(table, shared), self._user)
        except StewardError as error:
            if error.code in (ErrorCode.STORAGE_FAILED, ErrorCode.CONFLICT):  # a value that no column takes
                raise _unfit(table.name) from error
            raise
        for column in table.itself & set(shared):
            await self._session.execute(_pointing(table, column), self._user)
        return TakenIn(added, came - added)

    async def _receive(self, lines: Iterator[str]) -> int:
        count = 0
        while batch := await asyncio.to_thread(_some, lines):
            await self._session.executemany(
                "INSERT INTO pg_temp.incoming SELECT $1, $2::text::json",
                [(count + n, line) for n, line in enumerate(batch)],
            )
            count += len(batch)
        return count

    def _insertion(self, table: Owned, columns: Sequence[str]) -> str:
        values = [_value(table, name) for name in columns]
        wanted = [
            f"r.{_name(column)}::text IN (SELECT id FROM pg_temp.newcomers WHERE part = '{parent}')"  # noqa: S608
            for column, parent in table.parents.items()
        ]
        if table.numbered and not table.parents:
            same = " AND ".join(
                f"t.{_name(c)}::text IS NOT DISTINCT FROM r.{_name(c)}::text" for c in columns
            )
            wanted.append(
                f"NOT EXISTS (SELECT 1 FROM {_name(table.name)} t WHERE t.user_id = $1 AND {same})"  # noqa: S608
            )
        named = "id::text" if "id" in table.columns or "id" in table.key else "NULL"
        return (
            f"WITH added AS (INSERT INTO {_name(table.name)} (user_id, {', '.join(map(_name, columns))}) "  # noqa: S608
            f"SELECT $1, {', '.join(values)} FROM pg_temp.incoming i, "
            f"json_populate_record(NULL::{_name(table.name)}, i.line) r "
            f"WHERE {' AND '.join(wanted) or 'true'} ORDER BY i.position "
            f"ON CONFLICT DO NOTHING RETURNING {named} AS id), "
            f"noted AS (INSERT INTO pg_temp.newcomers SELECT '{table.name}', id FROM added) "
            "SELECT count(*) FROM added"
        )


def _some(lines: Iterator[str]) -> list[str]:
    """The next lines, unpacked and checked: each is a JSON object."""
    import orjson  # noqa: PLC0415 - only to check what comes in from outside

    batch = list(islice(lines, _BATCH))
    try:
        fit = all(isinstance(orjson.loads(line), dict) for line in batch)
    except ValueError:
        fit = False
    if not fit:
        raise _unfit("a line")
    return batch


def _value(table: Owned, column: str) -> str:
    if column in table.itself:
        return "NULL"  # set once every row is there
    return _READ_AS.get((table.name, column), f"r.{_name(column)}")


def _pointing(table: Owned, column: str) -> str:
    name, pointer = _name(table.name), _name(column)
    return (
        f"UPDATE {name} t SET {pointer} = r.{pointer} FROM pg_temp.incoming i, "  # noqa: S608
        f"json_populate_record(NULL::{name}, i.line) r, {name} other, pg_temp.newcomers n "
        f"WHERE t.id = r.id AND t.user_id = $1 AND other.id = r.{pointer} AND other.user_id = $1 "
        f"AND n.part = '{table.name}' AND n.id = t.id::text"
    )


def _name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _unfit(what: str) -> InputError:
    return InputError(
        f"This does not fit into the database: {what}.",
        code=ErrorCode.ARCHIVE_INVALID,
        fix="Nothing was imported. Use an export that Steward wrote, unchanged.",
    )


class LibraryRows:
    """The library's texts, for the way out; they come in again through the library itself."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def collections(self) -> AsyncIterator[str]:
        for row in await self._session.fetch(SQL.library_collections):
            yield row[0]

    async def documents(self) -> AsyncIterator[str]:
        last = 0
        while rows := await self._session.fetch(SQL.library_documents, last):
            for row in rows:
                last = row["id"]
                yield row["line"]


async def one_view(session: Session) -> None:
    """Everything read from here on is as it was at one moment. First in its transaction."""
    await session.execute(SQL.one_view)
