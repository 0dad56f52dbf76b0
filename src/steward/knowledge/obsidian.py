"""Daily notes in an Obsidian vault: append a line, safely, and take it out again.

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

    def note_at(self, note: str) -> Path:
        """A note by the name that was given for it."""
        return self._inside(Path(note))

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
        _append(note, entry, header=_header(note))
    except OSError as error:
        raise _unwritten(error) from error
    return {"note": f"{vault.folder}/{note.name}", "entry": entry.rstrip("\n")}


def take_entry_out(vault: Vault, note: str, entry: str) -> bool:
    """Remove an entry that was appended. False when it is not there any more as it was."""
    path = vault.note_at(note)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unwritten(error) from error
    with os.fdopen(descriptor, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        text, line = file.read(), f"{entry}\n".encode()
        at = text.rfind(line)
        if at < 0 or (at > 0 and text[at - 1 : at] != b"\n"):
            return False
        left = text[:at] + text[at + len(line) :]
        if left == _header(path).encode():
            path.unlink()
            return True
        os.pwrite(descriptor, left[at:], at)
        os.ftruncate(descriptor, len(left))
        return True


def put_entry_in(vault: Vault, note: str, entry: str) -> None:
    """Append an entry again that was taken out."""
    path = vault.note_at(note)
    try:
        _append(path, f"{entry}\n", header=_header(path))
    except OSError as error:
        raise _unwritten(error) from error


def _header(note: Path) -> str:
    return f"# {note.stem}\n\n"


def _unwritten(error: OSError) -> StorageError:
    return StorageError(
        f"The note could not be written: {error.strerror}.",
        code=ErrorCode.STORAGE_FULL if error.errno in FULL else ErrorCode.STORAGE_FAILED,
        fix="Check the vault folder's space and permissions.",
    )


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
