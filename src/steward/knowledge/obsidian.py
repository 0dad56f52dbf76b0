"""Daily notes in an Obsidian vault: append a line, safely.

Owns the note's path and the append. Paths never leave the vault: not by `..`, not by a link, not by an
odd name. Concurrent writers, of this process or another, never tear each other's lines.
"""

import errno
import fcntl
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from steward.contract import linear_re as re
from steward.contract.errors import ConfigError, ErrorCode, InputError, StorageError

FOLDER = re.compile(r"[\w .-]{1,100}(/[\w .-]{1,100}){0,5}")
MAX_CHARACTERS = 20_000
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Vault:
    root: Path
    folder: str = "Daily"

    def note_for(self, day: datetime) -> Path:
        return self._inside(Path(self.folder) / f"{day:%Y-%m-%d}.md")

    def _inside(self, relative: Path) -> Path:
        root = self._real_root()
        if not FOLDER.fullmatch(self.folder) or ".." in Path(self.folder).parts:
            raise ConfigError(
                f"'{self.folder}' cannot be a folder of the vault.",
                fix="Use a plain folder name such as 'Daily'.",
            )
        path = (root / relative).resolve()
        if not path.is_relative_to(root):
            raise InputError(
                "The daily note's folder leads out of the vault.",
                code=ErrorCode.FORBIDDEN,
                fix="Remove the link, or configure another folder.",
            )
        return path

    def _real_root(self) -> Path:
        if not self.root.is_dir():
            raise ConfigError(
                f"The vault folder '{self.root}' does not exist.",
                code=ErrorCode.CONFIG_MISSING,
                fix="Create it, or set STEWARD_OBSIDIAN_VAULT to your vault.",
            )
        return self.root.resolve()


def log_to_obsidian(vault: Vault, text: str, *, now: datetime) -> dict[str, str]:
    """Append one entry to the day's note; the note is made when it is not there."""
    entry = _entry(text, now)
    note = vault.note_for(now)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        _append(note, entry, header=f"# {now:%Y-%m-%d}\n\n")
    except OSError as error:
        raise StorageError(
            f"The note could not be written: {error.strerror}.",
            code=ErrorCode.STORAGE_FULL if error.errno in FULL else ErrorCode.STORAGE_FAILED,
            fix="Check the vault folder's space and permissions.",
        ) from error
    return {"note": f"{vault.folder}/{note.name}", "entry": entry.rstrip("\n")}


def _entry(text: str, now: datetime) -> str:
    cleaned = "\n".join(line.rstrip() for line in text.replace("\0", "").strip().splitlines())
    if not cleaned:
        raise InputError("There is nothing to write.", fix="Give the text of the entry.")
    if len(cleaned) > MAX_CHARACTERS:
        raise InputError(f"The entry has {len(cleaned)} characters.", fix=f"Keep it under {MAX_CHARACTERS}.")
    first, *rest = cleaned.split("\n")
    return "\n".join([f"- {now:%H:%M} {first}", *(f"  {line}" for line in rest)]) + "\n"


def _append(note: Path, entry: str, *, header: str) -> None:
    # O_NOFOLLOW: a link put there between the check and the open must not lead out of the vault.
    descriptor = os.open(note, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        before = os.fstat(descriptor).st_size
        data = (entry if before else header + entry).encode()
        try:
            if os.write(descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(descriptor, before)  # nothing half written
            raise
    finally:
        os.close(descriptor)
