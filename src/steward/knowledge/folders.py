"""Which files of a folder belong to a library, and which do not.

Owns the ignore rules and the walk. Does not own reading: what kinds can be read is asked of the readers.
"""

import fnmatch
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from steward.knowledge.model import DocumentError

IGNORE_FILE = ".stewardignore"
LARGEST_IGNORE_FILE = 64 * 1024
MOST_PATTERNS, LONGEST_PATTERN = 1_000, 1_000  # each is tried with each file
_IGNORED = """
.git .hg .svn .venv venv node_modules __pycache__ .mypy_cache .pytest_cache .ruff_cache .tox .idea .vscode
dist build .DS_Store
"""
IGNORED = frozenset(_IGNORED.split())

Withhold = Callable[[Path], str | None]
"""What a file is that is taken only when it is named by itself; None for any other."""


def nothing_withheld(_: Path) -> None:
    """For libraries without such a rule."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with its rules, as they stood when it was opened."""

    path: Path
    allowed: Callable[[Path], bool]  # of real paths: links that lead elsewhere are not followed
    readable: Callable[[Path], bool]
    patterns: Sequence[str]

    @classmethod
    def open(cls, path: Path, allowed: Callable[[Path], bool], readable: Callable[[Path], bool]) -> "Folder":
        return cls(path, allowed, readable, _patterns(path))

    def files(self, *, recursive: bool) -> Iterator[Path]:
        return filter(self.readable, self.walk(recursive=recursive))

    def walk(self, *, recursive: bool) -> Iterator[Path]:
        """Files of any kind."""
        for parent, folders, names in os.walk(self.path):
            here = Path(parent)
            folders[:] = sorted(name for name in folders if recursive and not self._ignored(here / name))
            yield from (here / name for name in sorted(names) if self._there(here / name))

    def takes(self, file: Path) -> bool:
        """Whether a walk through the folder would come to this file."""
        return self.readable(file) and not self.ignores(file) and self._there(file)

    def ignores(self, path: Path) -> bool:
        """By its name, or by that of a folder on the way to it."""
        way = (self.path / part for part in path.relative_to(self.path).parents if part.name)
        return any(map(self._ignored, (path, *way)))

    def _there(self, file: Path) -> bool:
        """Not for a pipe, a broken link, a link out of the allowed folders, or what is ignored."""
        if self._ignored(file):
            return False
        real = Path(os.path.realpath(file))
        return real.is_file() and self.allowed(real)

    def _ignored(self, path: Path) -> bool:
        if path.name in IGNORED or path.name.startswith("."):
            return True
        relative = path.relative_to(self.path).as_posix()
        return any(
            fnmatch.fnmatch(relative, pattern) or fnmatch.fnmatch(path.name, pattern)
            for pattern in self.patterns
        )


def _patterns(folder: Path) -> list[str]:
    file = folder / IGNORE_FILE
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", errors="replace") as opened:
        text = opened.read(LARGEST_IGNORE_FILE + 1)
    lines = (line.strip() for line in text.splitlines())
    patterns = [line.rstrip("/") for line in lines if line and not line.startswith("#")]
    longest = max(map(len, patterns), default=0)
    if len(text) > LARGEST_IGNORE_FILE or len(patterns) > MOST_PATTERNS or longest > LONGEST_PATTERN:
        raise DocumentError(
            f"{file} is too long to be followed.",
            fix=f"Use at most {MOST_PATTERNS} patterns of at most {LONGEST_PATTERN} characters.",
        )
    return patterns
