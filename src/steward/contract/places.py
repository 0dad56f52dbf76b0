"""Where files may be read: below the folders that a person allowed, and never inside Steward's own home.

Owns what lies where on the disk, however a path is spelled. Does not own what is sensitive (policy) or what
is done with a file. Whatever cannot be looked at counts as closed.
"""

import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

MOST_OWN_FILES = 50_000
SECONDS_BELIEVED = 2.0


@dataclass(frozen=True)
class Places:
    """`folders` may be read, `closed` may not although it may lie inside one, `opened` may inside `closed`.

    All as they really are on disk: links are followed before anything is judged.
    """

    folders: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()
    opened: tuple[Path, ...] = ()

    @classmethod
    def of(
        cls, folders: Sequence[Path], *, closed: Sequence[Path] = (), opened: Sequence[Path] = ()
    ) -> "Places":
        return cls(_real(folders), _real(closed), _real(opened))

    @cached_property
    def base(self) -> Path:
        """What a relative path is relative to."""
        return self.folders[0] if self.folders else Path.cwd()

    def real(self, path: str | Path) -> Path:
        """Where a path really leads."""
        asked = Path(path).expanduser() if str(path).startswith("~") else Path(path)
        return Path(os.path.realpath(asked if asked.is_absolute() else self.base / asked))

    def holds(self, real: Path) -> bool:
        """Whether this real path lies in an allowed folder and not in a closed one."""
        inside = any(_within(folder, real) for folder in (*self.folders, *self.opened))
        return inside and not self.closes(real)

    def closes(self, real: Path) -> bool:
        if any(_within(folder, real) for folder in self.opened):
            return False
        return any(_within(folder, real) for folder in self.closed) or self._is_own(real)

    def _is_own(self, real: Path) -> bool:
        """Whether it is a file of a closed folder under a second name."""
        try:
            facts = real.stat()
        except OSError:
            return False
        if facts.st_nlink < 2 or not stat.S_ISREG(facts.st_mode):
            return False
        own = _own_files(self.closed, int(time.monotonic() // SECONDS_BELIEVED))
        return own is None or (facts.st_dev, facts.st_ino) in own


def _real(folders: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(Path(os.path.realpath(folder.expanduser())) for folder in folders)


def _within(folder: Path, real: Path) -> bool:
    # By identity along the way up, too: on a disk that ignores case, or mounted twice, names alone would lie.
    if real == folder or folder in real.parents:
        return True
    return any(_same(folder, parent) for parent in (real, *real.parents))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


@lru_cache(maxsize=4)
def _own_files(folders: tuple[Path, ...], _moment: int) -> frozenset[tuple[int, int]] | None:
    """The files of these folders by identity, as they were a moment ago; None when there are too many."""
    found: set[tuple[int, int]] = set()
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                with suppress(OSError):  # gone meanwhile
                    facts = (Path(parent) / name).lstat()
                    found.add((facts.st_dev, facts.st_ino))
            if len(found) > MOST_OWN_FILES:
                return None
    return frozenset(found)
