"""The last words of a stream, for whoever asks why a server went away."""

from collections import deque

STDERR_BYTES = 16 * 1024


class Tail:
    """The last bytes of a stream, as lines."""

    def __init__(self, limit: int = STDERR_BYTES) -> None:
        self._limit = limit
        self._parts: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        self._parts.append(data[-self._limit :])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) >= self._limit:
            self._size -= len(self._parts.popleft())

    def lines(self) -> tuple[str, ...]:
        text = b"".join(self._parts)[-self._limit :].decode("utf-8", errors="replace")
        return tuple(text.splitlines())
