"""A whole workspace as one file, and a workspace made from such a file.

Owns which of a home's files belong to a backup and how a restore takes their place: everything is built
beside the home's own (`.restoring`), checked, and then moved in. Killed before that, it never happened;
killed during it, the next start finishes the move. Logs stay where they are.
"""

import asyncio
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

from steward.bootstrap.workspace.home import READY, STAGE
from steward.contract.errors import ConfigError, ConflictError
from steward.settings import Settings
from steward.storage.database.archive import ArchiveReader, ArchiveWriter
from steward.storage.database.backup import dump, load
from steward.storage.database.embedded import EmbeddedServer
from steward.storage.database.failures import explain_os_error
from steward.storage.database.migrate import read_migrations
from steward.storage.database.postgres import Database, Embedded
from steward.telemetry.chain import KEY_FILE

KIND = "steward-backup"
DUMP = "database.dump"
FILES = "home/"
LEFT_OUT = frozenset({"database", "logs", "code", "instance.json", "token", "open.html", KEY_FILE})
REPLACED, LOCK = ".replaced", ".restore.lock"


async def back_up(settings: Settings, path: Path) -> None:
    _require_embedded(settings, "pg_dump of your server backs it up, and the home's files are plain files.")
    if not settings.database_folder.exists():
        raise ConflictError(f"{settings.home} has no database yet.", fix="There is nothing to back up.")
    await asyncio.to_thread(_back_up, settings, path)


def _back_up(settings: Settings, path: Path) -> None:
    about = {
        "steward": version("steward-agents"),
        "made_at": datetime.now(UTC).isoformat(),
        "migrations": [migration.number for migration in read_migrations()],
    }
    dumped = settings.home / f".{DUMP}.partial"
    try:
        dump(settings.database_folder, dumped)
        with ArchiveWriter(path, kind=KIND, about=about) as archive:
            archive.file(DUMP, dumped)
            for file in _files(settings.home):
                archive.file(FILES + file.relative_to(settings.home).as_posix(), file)
    finally:
        dumped.unlink(missing_ok=True)


def _files(home: Path) -> Iterator[Path]:
    for entry in _entries(home):
        for file in [entry] if entry.is_file() else sorted(entry.rglob("*")):
            if file.is_file() and not file.is_symlink() and "__pycache__" not in file.parts:
                yield file


def _entries(home: Path) -> Iterator[Path]:
    """What a backup holds, and a restore replaces, of a home's first level."""
    for entry in sorted(home.iterdir()):
        if entry.name not in LEFT_OUT and not entry.name.startswith("."):
            yield entry


async def restore(settings: Settings, path: Path, *, force: bool) -> dict[str, Any]:
    """Gives what the backup says about itself. Nothing of the home changes before the last moment."""
    _require_embedded(settings, "Unset it to restore the embedded database, then move the data with pg_dump.")
    if not force and _in_use(settings.home):
        raise ConflictError(
            f"{settings.home} is not empty.",
            fix="Choose another STEWARD_HOME, or replace what is there with --force.",
        )
    stage = settings.home / STAGE
    with explain_os_error(f"{settings.home} cannot be used."):
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(settings.home / LOCK), ArchiveReader(path, kind=KIND) as archive:
        finish(settings.home)  # an earlier one that was killed
        try:
            await asyncio.to_thread(_build, archive, stage)
            # Brings an older backup up to date, and refuses one from a newer Steward, before anything moves.
            async with Database(Embedded(stage / "database")):
                pass
            await asyncio.to_thread(_switch, settings.home, stage)
        except BaseException:
            if not (stage / READY).exists():
                shutil.rmtree(stage, ignore_errors=True)
            raise
        return dict(archive.manifest)


def _require_embedded(settings: Settings, fix: str) -> None:
    if settings.database_url is not None:
        raise ConfigError("DATABASE_URL is set, and this is about the embedded database.", fix=fix)


def _in_use(home: Path) -> bool:
    return home.exists() and any(entry.name != LOCK for entry in home.iterdir())


def _build(archive: ArchiveReader, stage: Path) -> None:
    shutil.rmtree(stage, ignore_errors=True)
    with explain_os_error(f"{stage} cannot be written."):
        stage.mkdir(mode=0o700)
        for name in archive.parts:
            if name.startswith(FILES):
                if name.removeprefix(FILES).partition("/")[0] in LEFT_OUT:
                    raise ConflictError(f"The backup holds what none of ours does: {name}.")
                target = (stage / name.removeprefix(FILES)).resolve()
                if stage.resolve() not in target.parents:
                    raise ConflictError(f"The backup names a file outside of the home: {name}.")
                archive.extract(name, target)
        archive.extract(DUMP, stage / DUMP)
    load(stage / DUMP, stage / "database")
    (stage / DUMP).unlink()


def _switch(home: Path, stage: Path) -> None:
    taken = sorted(entry.name for entry in stage.iterdir())
    dropped = sorted(entry.name for entry in _entries(home) if entry.name not in taken)
    partial = stage / f".{READY}"
    with (
        EmbeddedServer(home / "database").retired(),  # first: whoever uses it must not lose it later
        explain_os_error(f"{home} cannot be written."),
    ):
        partial.write_text(json.dumps({"take": taken, "drop": dropped}), encoding="utf-8")
        partial.rename(stage / READY)
        _move(home)
    _clean(home)


def finish(home: Path) -> None:
    """Move what a restore has built into place, from wherever it was when it was killed."""
    if (home / STAGE / READY).exists():
        with EmbeddedServer(home / "database").retired(), explain_os_error(f"{home} cannot be written."):
            _move(home)
    _clean(home)


def _move(home: Path) -> None:
    stage, replaced = home / STAGE, home / REPLACED
    plan = json.loads((stage / READY).read_text(encoding="utf-8"))
    replaced.mkdir(exist_ok=True, mode=0o700)
    for name in (*plan["take"], *plan["drop"]):
        built = stage / name
        if (home / name).exists() and (built.exists() or name in plan["drop"]):
            shutil.rmtree(replaced / name, ignore_errors=True)
            (home / name).rename(replaced / name)
        if built.exists():
            built.rename(home / name)
    (stage / READY).unlink()


def _clean(home: Path) -> None:
    for leftover in (home / STAGE, home / REPLACED):
        if leftover.exists():
            shutil.rmtree(leftover, ignore_errors=True)
