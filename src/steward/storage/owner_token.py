"""The owner's token: a file of the home that only its owner can read. Whoever can read it is the owner.

Owns how it is made, kept and read. Does not own what it opens (policy/access.py). Nothing heavy is imported:
every command reads it.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from steward.contract.errors import ConfigError
from steward.policy.access import is_token, new_token

FILE = "token"
LONGEST = 1_000  # bytes that are looked at
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read(home: Path) -> str | None:
    """The token; None where there is none that can be relied on."""
    try:
        descriptor = os.open(home / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        kept = os.fstat(descriptor)
        if not stat.S_ISREG(kept.st_mode) or kept.st_uid != os.getuid() or kept.st_mode & _FOR_OTHERS:
            return None
        token = os.read(descriptor, LONGEST).decode("ascii", errors="replace").strip()
    finally:
        os.close(descriptor)
    return token if is_token(token) else None


def ensure(home: Path) -> str:
    """The token of this home, made with its first start.

    One that others could read may be known to them; one that was emptied would open the door to anybody.
    Both are replaced.
    """
    known = read(home)
    if known is not None:
        return known
    name, token = new_token()
    partial = home / f".{FILE}.{name}"
    try:
        _write(partial, token)
        _place(partial, home)
    except OSError as error:
        raise ConfigError(
            f"The owner's token {home / FILE} cannot be written: {error.strerror}.",
            fix="Check the folder's permissions, or choose another with STEWARD_HOME.",
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    made = read(home)
    if made is None:
        raise ConfigError(
            f"The owner's token {home / FILE} cannot be read back for its owner only.",
            fix="Put STEWARD_HOME on a file system that keeps owners and permissions.",
        )
    return made


def _place(partial: Path, home: Path) -> None:
    """Where another program was quicker, its token is the one that counts."""
    try:
        os.link(partial, home / FILE)
    except FileExistsError:
        if read(home) is None:
            partial.replace(home / FILE)


def _write(path: Path, token: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        os.fchmod(descriptor, 0o600)  # whatever the mask of this program
        file.write(token + "\n")
        file.flush()
        os.fsync(descriptor)
