"""The lines of the record in a home's files, read on from where one was, and wiped in their place.

Owns finding what is new and blanking what was erased. Does not own writing them (executions.py).
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from steward.telemetry.append import DailyFiles, Line

AT_ONCE = 1 << 20  # bytes of a file that are read at a time
Key = tuple[str, str]
"""What tells lines apart: the call, and its status there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLine:
    content: bytes
    entry: Mapping[str, Any]

    @property
    def key(self) -> Key:
        return key_of(self.entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineStretch:
    """Whole lines of one file; `end` is where to read on."""

    file: str  # its name and inode: a copy of a home is another place than the home
    day: date
    begin: int
    end: int
    lines: tuple[RecordedLine, ...]


def key_of(entry: Mapping[str, Any]) -> Key:
    return word(entry, "call_id") or "-", word(entry, "status") or "-"


def word(entry: Mapping[str, Any], name: str) -> str | None:
    """A text of the line; without NUL, which PostgreSQL's text cannot hold."""
    value = entry.get(name)
    return value.replace("\0", "") if isinstance(value, str) else None


def file_names(files: DailyFiles) -> dict[str, date]:
    """The files that are there, by name and inode."""
    found: dict[str, date] = {}
    for day in files.days():
        path = files.path(day)
        try:
            found[f"{path.name}:{path.stat().st_ino}"] = day
        except FileNotFoundError:
            continue  # removed meanwhile
    return found


def unread(files: DailyFiles, positions: Mapping[str, int]) -> Iterator[LineStretch]:
    """What stands behind these positions, file by file, a stretch at a time. A last line without its end is
    still being written: it comes next time."""
    for name, day in file_names(files).items():
        begin = positions.get(name, 0)
        if files.path(day).stat().st_size < begin:
            begin = 0  # somebody cut it: what is new in it must not be missed
        while data := _whole_lines(files.path(day), begin):
            lines = [_line(content) for content in data.split(b"\n") if content]
            end = begin + len(data)
            yield LineStretch(
                file=name, day=day, begin=begin, end=end, lines=tuple(line for line in lines if line)
            )
            begin = end


def wipe(files: DailyFiles, keys: Collection[Key]) -> None:
    """Blank these lines where they stand: as long as before, saying only that they were erased."""
    for day in files.days():
        path = files.path(day)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            at = 0
            while data := _whole_lines(path, at):
                for content in data.splitlines(keepends=True):
                    line = _line(content)
                    if line is not None and line.key in keys and not line.entry.get("erased"):
                        os.pwrite(descriptor, _blank(line, len(content) - 1), at)
                    at += len(content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def local_lines(files: DailyFiles, day: date) -> Iterator[RecordedLine]:
    at = 0
    while data := _whole_lines(files.path(day), at):
        at += len(data)
        yield from (line for content in data.split(b"\n") if content and (line := _line(content)))


def _whole_lines(path: Path, begin: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(begin)
            data = file.read(AT_ONCE)
            while b"\n" not in data and (more := file.read(AT_ONCE)):
                data += more
    except FileNotFoundError:
        return b""
    return data[: data.rfind(b"\n") + 1]


def _line(content: bytes) -> RecordedLine | None:
    """None for what was cut short by a full disk."""
    entry = Line(0, content).parsed()
    return None if entry is None else RecordedLine(content=content.rstrip(b"\n"), entry=entry)


def _blank(line: RecordedLine, size: int) -> bytes:
    kept = {name: line.entry.get(name) for name in ("at", "call_id", "status")}
    return orjson.dumps(kept | {"erased": True}).ljust(size)[:size]
