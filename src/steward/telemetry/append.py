"""Files of JSON lines that several processes append to and anybody may read meanwhile.

Owns appending whole lines, files by day, their retention, and reading them from either end in bounded
memory. Does not own what a line says.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from steward.orchestrator.orchestrator import SystemClock

BLOCK = 1 << 16
SYSTEM_CLOCK = SystemClock()


class AppendFile:
    """One descriptor in append mode: a line is one write, so lines of several processes never mix.

    A write that the disk cut short leaves the beginning of a line behind. Whoever appends next, in
    whatever process, ends that line first; readers then skip it as torn. (Somebody else's write in progress
    looks the same and costs an empty line, which readers skip as well.) Not safe between threads.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._end = 0  # of the file after our last line, where nobody else wrote at that moment
        self._named = False  # whether the folder's entry of this file is known to be on the disk

    def append(self, line: bytes) -> None:
        """Append the line, which has no newline in it. Raises `OSError` when not all of it was written."""
        descriptor, size = self._open()
        try:
            # What ends where our last line did was whole when we wrote it: no need to read it again.
            torn = size not in (0, self._end) and os.pread(descriptor, 1, size - 1) != b"\n"
            data = b"\n%b\n" % line if torn else b"%b\n" % line
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            self._end = size + len(data)
        except OSError:
            self.close()  # whoever repairs this may put another file or disk in its place
            raise

    def syncing(self) -> Callable[[], None]:
        """What waits until all that was appended is on the disk, with the file's name; for another thread.

        Call it once: it holds a descriptor of its own, so that the file may be closed meanwhile.
        """
        descriptor = os.dup(self._open()[0])
        unnamed, self._named = not self._named, True

        def sync() -> None:
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if unnamed:
                folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)

        return sync

    def size(self) -> int:
        return self._open()[1]

    def close(self) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _open(self) -> tuple[int, int]:
        if self._descriptor is not None:
            status = os.fstat(self._descriptor)
            if status.st_nlink:
                return self._descriptor, status.st_size
            self.close()  # somebody removed the file: lines must not vanish with it
        self._named, self._end = False, 0
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._descriptor = os.open(self.path, flags, 0o600)
        return self._descriptor, os.fstat(self._descriptor).st_size


@dataclass(frozen=True, slots=True)
class DailyFiles:
    """`{name}-YYYY-MM-DD.jsonl` in a folder, one for each UTC day."""

    folder: Path
    name: str

    def path(self, day: date) -> Path:
        return self.folder / f"{self.name}-{day.isoformat()}.jsonl"

    def days(self) -> list[date]:
        """The days there are files for, oldest first."""
        days: list[date] = []
        with suppress(FileNotFoundError, NotADirectoryError):
            for path in self.folder.glob(f"{self.name}-????-??-??.jsonl"):
                with suppress(ValueError):
                    days.append(date.fromisoformat(path.stem.removeprefix(f"{self.name}-")))
        return sorted(days)

    def keep_last(self, count: int) -> None:
        """Remove all but the last days that have lines. Which day it is by the clock does not matter."""
        for day in self.days()[:-count]:
            with suppress(OSError):  # another process was faster, or it goes next time
                self.path(day).unlink()


class DailyAppender:
    """Appends to the file of a line's day; drops what is more than `keep_days` of them when one begins."""

    def __init__(self, files: DailyFiles, *, keep_days: int) -> None:
        self._files = files
        self._keep_days = keep_days
        self._file: AppendFile | None = None
        self._day: date | None = None
        self._swept: date | None = None

    def append(self, line: bytes, *, day: date) -> None:
        self.file(day).append(line)
        if self._swept != day:
            self._swept = day
            self._files.keep_last(self._keep_days)

    def syncing(self) -> Callable[[], None] | None:
        """The same for the file that the last line went to; None where there is none."""
        return None if self._file is None else self._file.syncing()

    def file(self, day: date) -> AppendFile:
        if self._file is None or self._day != day:
            self.close()
            self._file, self._day = AppendFile(self._files.path(day)), day
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line and where it begins, so that reading can go on there."""

    offset: int
    content: bytes

    def parsed(self) -> dict[str, Any] | None:
        """The JSON object in it; None for a torn line."""
        try:
            value = orjson.loads(self.content)
        except orjson.JSONDecodeError:
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def lines(path: Path, *, order: Literal["oldest", "newest"], position: int | None = None) -> Iterator[Line]:
    """The lines of a file from one end. Holds one block and one line in memory, whatever the file's size.

    `position` is the offset of a line already seen: oldest first goes on after it, newest first before it.
    A last line without its newline is still being written, or torn: it is given like the others.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        end = os.fstat(descriptor).st_size
        if order == "newest":
            yield from _backwards(descriptor, end if position is None else min(position, end))
        else:
            yield from _forwards(descriptor, end, position)
    finally:
        os.close(descriptor)


def _forwards(descriptor: int, end: int, seen: int | None) -> Iterator[Line]:
    start = 0 if seen is None else seen
    pending: list[bytes] = []
    at = start
    while at < end and (block := os.pread(descriptor, min(BLOCK, end - at), at)):
        at += len(block)
        *whole, rest = block.split(b"\n")
        for part in whole:
            content = b"".join((*pending, part))
            pending.clear()
            if content and start != seen:
                yield Line(start, content)
            start += len(content) + 1
        pending.append(rest)
    if (content := b"".join(pending)) and start != seen:
        yield Line(start, content)


def _backwards(descriptor: int, end: int) -> Iterator[Line]:
    at = stop = end  # everything from `stop` on has been given
    pending: list[bytes] = []  # pieces of the line whose beginning is not read yet, last piece first
    while at > 0:
        size = min(BLOCK, at)
        at -= size
        first, *rest = os.pread(descriptor, size, at).split(b"\n")
        for piece in reversed(rest):
            content = b"".join((piece, *reversed(pending)))
            pending.clear()
            stop -= len(content)
            if content:
                yield Line(stop, content)
            stop -= 1
        pending.append(first)
    if content := b"".join(reversed(pending)):
        yield Line(0, content)
