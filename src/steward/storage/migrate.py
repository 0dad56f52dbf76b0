"""The schema's history: numbered SQL files, each applied once, in order, by whoever comes first.

Owns the runner and its record (`steward_migrations`). Numbers are allotted per room (0001-0009 foundation,
0010s tasks, 0020s knowledge, 0030s MCP and keys, 0040s conversations), and rooms land independently: every
file that is not recorded is applied, also one with a lower number than the last.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from steward.contract import linear_re as re
from steward.contract.errors import ConfigError
from steward.storage.codecs import Connection

FOLDER = Path(__file__).parent / "migrations"
_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_LOCK = 7_309_940_523_771_155_461  # "steward" and a digit; any number that nobody else locks
_TABLE = """
    CREATE TABLE IF NOT EXISTS steward_migrations (
        number integer PRIMARY KEY,
        name text NOT NULL,
        sha256 text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    )"""


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


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
    """Bring the database up to these migrations. Safe to run from many programs at once."""
    wanted = read_migrations() if migrations is None else migrations
    if not _missing(wanted, await _applied(connection)):
        return
    # Held by this session, so that a program killed in the middle holds nobody up.
    await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
    try:
        await connection.execute(_TABLE)
        for migration in _missing(wanted, await _applied(connection)):
            async with connection.transaction():
                await connection.execute(migration.sql)
                await connection.execute(
                    "INSERT INTO steward_migrations (number, name, sha256) VALUES ($1, $2, $3)",
                    migration.number,
                    migration.name,
                    migration.sha256,
                )
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


async def _applied(connection: Connection) -> Mapping[int, str]:
    if await connection.fetchval("SELECT to_regclass('steward_migrations')") is None:
        return {}
    rows = await connection.fetch("SELECT number, sha256 FROM steward_migrations")
    return {row["number"]: row["sha256"] for row in rows}


def _missing(wanted: Sequence[Migration], applied: Mapping[int, str]) -> list[Migration]:
    unknown = applied.keys() - {migration.number for migration in wanted}
    if unknown:
        numbers = ", ".join(f"{number:04}" for number in sorted(unknown))
        raise ConfigError(
            f"The database has migrations that this Steward does not know: {numbers}.",
            fix="A newer Steward has used it: upgrade this one.",
        )
    for migration in wanted:
        if applied.get(migration.number, migration.sha256) != migration.sha256:
            raise ConfigError(
                f"Migration {migration.number:04}_{migration.name}.sql changed after it was applied.",
                fix="Restore the file and put the change into a new migration.",
            )
    return [migration for migration in wanted if migration.number not in applied]
