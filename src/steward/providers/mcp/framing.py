"""Bytes of a server's standard output to lines, in bounded memory.

Pure: no process, no loop. A line that is too long is reported once and skipped; output that goes on
without any line end is reported as endless.
"""

from collections.abc import Iterator
from dataclasses import dataclass

HEAD_BYTES = 4096
ENDLESS_FACTOR = 16  # a line this many times over the limit will not end


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line beyond the limit; `head` is how it began."""

    head: bytes


class EndlessLineError(Exception):
    """The server writes without ever ending a line."""


class LineFramer:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """Every line that `data` completes."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            yield from self._finish(data[start:end])
            start = end + 1
        if start < len(data):
            yield from self._extend(data[start:] if start else data)

    def _finish(self, tail: bytes) -> Iterator[bytes | TooLong]:
        if self._skipping:
            self._skipping, self._size = False, 0
            return
        line = b"".join((*self._parts, tail)) if self._parts else tail
        self._parts, self._size = [], 0
        if len(line) > self._limit:
            yield TooLong(line[:HEAD_BYTES])
        elif line.strip():
            yield line

    def _extend(self, part: bytes) -> Iterator[TooLong]:
        self._size += len(part)
        if self._size > self._limit * ENDLESS_FACTOR:
            raise EndlessLineError
        if self._skipping:
            return
        self._parts.append(part)
        if self._size > self._limit:
            head = b"".join(self._parts)[:HEAD_BYTES]
            self._parts, self._skipping = [], True
            yield TooLong(head)
