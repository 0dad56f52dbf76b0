"""`steward upgrade` says what a newer Steward would change, and changes nothing."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.support.postgres import TestServer

from steward.bootstrap.upgrade import since
from steward.storage.database.migrate import Migration, migrate, read_migrations, standing

MIGRATIONS = read_migrations()
LOG = "# Changelog\n\nWords.\n\n## 0.3.0\n\n- C\n\n## 0.2.0\n\n- B\n\n## 0.1.0\n\n- A\n"


@pytest.fixture
async def older(postgres: TestServer) -> AsyncIterator[str]:
    """A database that release 0.0.9 left two migrations ago."""
    async with postgres.database_url(template="template0") as url:
        connection = await asyncpg.connect(url)
        await migrate(connection, MIGRATIONS[:-2])
        await connection.execute("UPDATE steward_migrations SET release = '0.0.9'")
        await connection.close()
        yield url


def told(home: Path, url: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "steward", "upgrade", *options],
        env=os.environ | {"STEWARD_HOME": str(home), "DATABASE_URL": url},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


async def numbers(url: str) -> list[int]:
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT number FROM steward_migrations ORDER BY number")
    await connection.close()
    return [row["number"] for row in rows]


async def test_an_older_database_is_told_what_the_next_start_would_change(older: str, tmp_path: Path) -> None:
    said: dict[str, Any] = json.loads(told(tmp_path, older, "--json").stdout)
    assert said["last"] == "0.0.9"
    assert [each["number"] for each in said["migrations"]] == [each.number for each in MIGRATIONS[-2:]]
    assert said["new"].startswith(f"## {said['installed']}")
    assert said["breaking"] is False
    assert await numbers(older) == [each.number for each in MIGRATIONS[:-2]]


async def test_a_person_reads_what_each_step_is_for(older: str, tmp_path: Path) -> None:
    said = told(tmp_path, older).stdout
    assert f"{MIGRATIONS[-1].number:04} {MIGRATIONS[-1].says}" in said
    assert "steward backup" in said


async def test_a_database_of_this_steward_changes_nothing(database_url: str, tmp_path: Path) -> None:
    said = told(tmp_path, database_url)
    assert (said.returncode, "changes nothing in the database" in said.stdout) == (0, True)


async def test_a_database_of_a_newer_major_version_is_named(older: str, tmp_path: Path) -> None:
    connection = await asyncpg.connect(older)
    await migrate(connection, [*MIGRATIONS, Migration(9999, "beyond", "-- major 2\nSELECT 1")])
    await connection.close()
    said = told(tmp_path, older, "--json")
    assert (said.returncode, "9999" in said.stdout) == (1, True)


async def test_who_changed_the_database_last_is_on_record(older: str) -> None:
    connection = await asyncpg.connect(older)
    await migrate(connection)
    found = await standing(connection)
    await connection.close()
    assert (found.missing, found.release != "0.0.9") == ((), True)


@pytest.mark.parametrize(
    ("last", "new"),
    [("0.3.0", ""), ("0.2.0", "## 0.3.0\n\n- C"), ("0.1.0", "## 0.3.0\n\n- C\n\n## 0.2.0\n\n- B"),
     (None, "## 0.3.0\n\n- C"), ("0.0.1", "## 0.3.0\n\n- C")],
)  # fmt: skip
def test_what_is_new_stands_above_the_last_release(last: str | None, new: str) -> None:
    assert since(LOG, last) == new


def test_every_migration_says_what_it_is_for() -> None:
    assert [each.name for each in MIGRATIONS if not each.says] == []
