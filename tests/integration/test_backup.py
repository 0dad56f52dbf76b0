"""A workspace as a file and back: whole, and never half in place whatever happens on the way."""

import asyncio
import json
import os
import signal
import sys
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.integration.programs import servers
from tests.support.postgres import scratch_folder

from steward.bootstrap.workspace import backup as bootstrap_backup
from steward.bootstrap.workspace.backup import back_up, finish, restore
from steward.bootstrap.workspace.home import READY, STAGE, ensure, initialise
from steward.contract.errors import StewardError
from steward.settings import Settings, load_settings
from steward.storage.database.postgres import Database, Embedded


def settings_of(home: Path, **more: Any) -> Settings:
    return load_settings(STEWARD_HOME=home, OTEL_EXPORTER_OTLP_ENDPOINT="none", **more)


async def facts(home: Path) -> list[str]:
    async with Database(Embedded(home / "database")) as database:
        return [row["text"] for row in await database.fetch("SELECT text FROM facts ORDER BY text")]


async def remember(home: Path, text: str) -> None:
    async with Database(Embedded(home / "database")) as database:
        await database.execute(
            "INSERT INTO facts (id, user_id, text, fingerprint, source, created_at) "
            "VALUES ($1, 'local', $1, $1, 'person', now())",
            text,
        )


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A lived-in home and its backup: made once, because a database takes its time."""
    with scratch_folder() as folder:
        home, file = folder / "lived", folder / "backup.zip"

        async def live() -> None:
            initialise(settings_of(home))
            (home / "policy.toml").write_text("# mine\n")
            (home / "tools" / "hello.py").write_text("def run(): return 1\n")
            (home / "logs" / "executions.jsonl").write_text("{}\n")
            await remember(home, "tea")
            await back_up(settings_of(home), file)

        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, live()).result()
        yield home, file


def names(home: Path) -> set[str]:
    return {entry.name for entry in home.iterdir() if entry.name != ".restore.lock"}


async def test_a_backup_is_the_workspace_without_logs_for_its_owner_only(made: tuple[Path, Path]) -> None:
    home, file = made
    with zipfile.ZipFile(file) as archive:
        parts = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
    assert {"database.dump", "home/policy.toml", "home/tools/hello.py", "home/home.json"} <= parts
    assert [name for name in parts if "logs" in name or "home/database" in name] == []
    assert (manifest["format"], file.stat().st_mode & 0o777) == ("steward-backup", 0o600)
    assert servers(home / "database") == []


async def test_a_backup_restored_into_an_empty_home_is_the_same_workspace(
    made: tuple[Path, Path], home: Path
) -> None:
    about = await restore(settings_of(home), made[1], force=False)
    assert (await facts(home), (home / "policy.toml").read_text()) == (["tea"], "# mine\n")
    assert (home / "tools" / "hello.py").read_text() == "def run(): return 1\n"
    assert ("made_at" in about, names(home) >= {"database", "home.json", "mcp.json", "tools"}) == (True, True)
    ensure(settings_of(home))  # what a start asks of a home
    assert [name for name in names(home) if name.startswith(".")] == []


async def test_a_home_with_data_is_replaced_only_by_force_and_then_whole(
    made: tuple[Path, Path], home: Path
) -> None:
    initialise(settings_of(home))
    (home / "tools" / "newer.py").write_text("x")
    (home / "notes.txt").write_text("mine")
    await remember(home, "coffee")
    with pytest.raises(StewardError) as refused:
        await restore(settings_of(home), made[1], force=False)
    assert (refused.value.code, await facts(home)) == ("CONFLICT", ["coffee"])
    await restore(settings_of(home), made[1], force=True)
    assert (await facts(home), (home / "tools" / "newer.py").exists()) == (["tea"], False)
    assert (home / "notes.txt").exists() is False


async def test_a_home_that_somebody_uses_is_left_alone(made: tuple[Path, Path], home: Path) -> None:
    initialise(settings_of(home))
    async with Database(Embedded(home / "database")) as database:
        with pytest.raises(StewardError) as refused:
            await restore(settings_of(home), made[1], force=True)
        assert (refused.value.code, await database.fetchval("SELECT 1")) == ("CONFLICT", 1)
        assert not (home / STAGE / READY).exists()


def _damaged(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 0xFF
    file.write_bytes(bytes(data))


def _no_archive(file: Path) -> None:
    file.write_text("{}")


@pytest.mark.parametrize("spoil", [_damaged, _no_archive])
async def test_a_backup_that_is_not_whole_changes_nothing(
    made: tuple[Path, Path], home: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    initialise(settings_of(home))
    before = names(home)
    file = tmp_path / "backup.zip"
    file.write_bytes(made[1].read_bytes())
    spoil(file)
    with pytest.raises(StewardError) as refused:
        await restore(settings_of(home), file, force=True)
    assert (refused.value.code, names(home)) == ("ARCHIVE_INVALID", before)


async def test_a_failure_while_it_is_built_leaves_the_home_as_it_was(
    made: tuple[Path, Path], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    initialise(settings_of(home))
    await remember(home, "coffee")
    before = names(home)
    monkeypatch.setattr(bootstrap_backup, "_switch", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await restore(settings_of(home), made[1], force=True)
    assert (await facts(home), names(home)) == (["coffee"], before)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from steward.bootstrap.workspace import backup
from steward.settings import load_settings

home, file, moves = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
rename = Path.rename

def fatal(self, target):
    global moves
    if str(self).startswith(str(home)) and (home / ".restoring" / "ready.json").exists():
        if moves == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        moves -= 1
    return rename(self, target)

Path.rename = fatal
asyncio.run(backup.restore(load_settings(STEWARD_HOME=home), file, force=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("moves", [0, 1, 3])
async def test_killed_in_the_middle_of_the_move_the_next_start_finishes_it(
    made: tuple[Path, Path], home: Path, moves: int
) -> None:
    initialise(settings_of(home))
    await remember(home, "coffee")
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, str(home), str(made[1]), str(moves)),
        env={k: v for k, v in os.environ.items() if k != "DATABASE_URL"},
    )
    assert await killed.wait() == -signal.SIGKILL
    ensure(settings_of(home))  # as every start does
    assert (await facts(home), (home / "policy.toml").read_text()) == (["tea"], "# mine\n")
    assert [name for name in names(home) if name.startswith(".")] == []
    finish(home)  # and again: nothing is left to do
    assert await facts(home) == ["tea"]


async def test_with_a_database_of_your_own_the_commands_say_what_to_do(tmp_path: Path) -> None:
    own = settings_of(tmp_path, DATABASE_URL="postgresql://localhost/x")
    for work in (back_up(own, tmp_path / "x.zip"), restore(own, tmp_path / "x.zip", force=True)):
        with pytest.raises(StewardError) as refused:
            await work
        assert (refused.value.code, "DATABASE_URL" in refused.value.message) == ("CONFIG_INVALID", True)


async def test_a_home_without_a_database_has_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(StewardError) as refused:
        await back_up(settings_of(tmp_path / "home"), tmp_path / "x.zip")
    assert refused.value.code == "CONFLICT"
