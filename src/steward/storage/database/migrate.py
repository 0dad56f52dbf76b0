"""The schema's history: numbered SQL files, each applied once, in order, by whoever comes first.

Owns the runner and its record (`steward_migrations`). Numbers are allotted per room (0001-0009 foundation,
0010s tasks, 0020s knowledge, 0030s MCP and keys, 0040s conversations, 0060-0064 the record, 0065-0069 work,
0070-0074 reminders, 0075-0079 the page, 0085-0089 HTTP clients, 0090-0091 instances, 0092 undo), and rooms
land independently: every file that is not recorded is applied, also one with a lower number than the last.

An older Steward works on beside a newer schema, so a migration only adds: tables, columns with defaults,
indexes, triggers. One that older programs cannot live with begins with the line `-- major N`, a number above
all before: programs of an earlier major version refuse the database from then on.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from steward.contract import linear_re as re
from steward.contract.errors import ConfigError
from steward.contract.release import release
from steward.storage.database.codecs import Connection

FOLDER = Path(__file__).parents[1] / "migrations"
_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_LOCK = 7_309_940_523_771_155_461  # "steward" and a digit; any number that nobody else locks
_TABLE = """
    CREATE TABLE IF NOT EXISTS steward_migrations (
        number integer PRIMARY KEY,
        name text NOT NULL,
        sha256 text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE steward_migrations
        ADD COLUMN IF NOT EXISTS major integer NOT NULL DEFAULT 1,
        ADD COLUMN IF NOT EXISTS release text"""
# By way of the whole row: an older database has no columns for majors and releases yet.
_ROWS = """
    SELECT
        number, sha256, coalesce((to_jsonb(applied) ->> 'major')::integer, $1) AS major,
        to_jsonb(applied) ->> 'release' AS release
    FROM steward_migrations applied
    ORDER BY applied_at, number"""
FIRST_MAJOR = 1
_MAJOR = re.compile(r"-- major (\d+)\n")
_COMMENT = re.compile(r"(?m)^-- (.+\n(?:-- .+\n)*)")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def major(self) -> int:
        said = _MAJOR.match(self.sql)
        return FIRST_MAJOR if said is None else int(said[1])

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def says(self) -> str:
        """What it is for, by its first comment."""
        said = _COMMENT.search(self.sql.removeprefix(f"-- major {self.major}\n"))
        return "" if said is None else " ".join(said[1].replace("\n-- ", " ").split())


@dataclass(frozen=True, slots=True)
class SchemaState:
    """How far a database has come, seen from this Steward."""

    missing: tuple[Migration, ...]
    major: int  # of the newest migration that it has
    release: str | None  # that changed it last, where it said so


@cache
def read_migrations(folder: Path = FOLDER) -> tuple[Migration, ...]:
    found: dict[int, Migration] = {}
    for path in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None:
            raise ConfigError(
                f"{path.name} is not a migration's name.", fix="Name it like 0012_what_it_does.sql"
            )
        number = int(match[1])
        if number in found:
            raise ConfigError(f"Two migrations have the number {number}.", fix=f"Renumber {path.name}.")
        found[number] = Migration(number, match[2], path.read_text(encoding="utf-8"))
    return tuple(found.values())


async def migrate(connection: Connection, migrations: Sequence[Migration] | None = None) -> None:
    """Bring the database up to these migrations. Safe to run from many programs at once.

    One transaction a migration, which holds the lock of all: nothing is left behind by a program that is
    killed in the middle, and it works where a pooler gives each transaction another session.
    """
    wanted = read_migrations() if migrations is None else migrations
    async with connection.transaction():
        missing = _missing(wanted, await _applied(connection))
    while missing:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            await connection.execute(_TABLE)
            missing = _missing(wanted, await _applied(connection))
            if missing:
                await _apply(connection, missing.pop(0))


async def standing(connection: Connection) -> SchemaState:
    """What `migrate` would do; changes nothing."""
    async with connection.transaction():
        applied = await _applied(connection)
    told = [each.release for each in applied.values() if each.release is not None]
    return SchemaState(
        missing=tuple(_missing(read_migrations(), applied)),
        major=max((each.major for each in applied.values()), default=FIRST_MAJOR),
        release=told[-1] if told else None,
    )


async def _apply(connection: Connection, migration: Migration) -> None:
    await connection.execute(migration.sql)
    await connection.execute(
        "INSERT INTO steward_migrations (number, name, sha256, major, release) VALUES ($1, $2, $3, $4, $5)",
        migration.number,
        migration.name,
        migration.sha256,
        migration.major,
        release(),
    )


@dataclass(frozen=True, slots=True)
class _Applied:
    sha256: str
    major: int
    release: str | None


async def _applied(connection: Connection) -> Mapping[int, _Applied]:
    if await connection.fetchval("SELECT to_regclass('steward_migrations')") is None:
        return {}
    rows = await connection.fetch(_ROWS, FIRST_MAJOR)
    return {row["number"]: _Applied(row["sha256"], row["major"], row["release"]) for row in rows}


def _missing(wanted: Sequence[Migration], applied: Mapping[int, _Applied]) -> list[Migration]:
    """What a newer Steward of the same major version added only adds: this one works on beside it."""
    major = max((migration.major for migration in wanted), default=FIRST_MAJOR)
    unknown = applied.keys() - {migration.number for migration in wanted}
    beyond = sorted(number for number in unknown if applied[number].major > major)
    if beyond:
        numbers = ", ".join(f"{number:04}" for number in beyond)
        raise ConfigError(
            f"The database has migrations that this Steward cannot work beside: {numbers}.",
            fix="A Steward of a newer major version has used it: upgrade this one.",
        )
    for migration in wanted:
        known = applied.get(migration.number)
        if known is not None and known.sha256 != migration.sha256:
            raise ConfigError(
                f"Migration {migration.number:04}_{migration.name}.sql changed after it was applied.",
                fix="Restore the file and put the change into a new migration.",
            )
    return [migration for migration in wanted if migration.number not in applied]
