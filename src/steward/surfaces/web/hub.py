"""What happens while somebody looks: one stream of short words for each visit.

Owns the events' numbers and who hears which. An event says that something changed, never what it is: the
page asks for that with the right of its visit. Numbers go up; a stream that broke off names the last one it
heard and gets what came since. Where that is not known any more, it is told to look at everything again.
"""

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from itertools import islice

KEPT = 2_000  # events
SECONDS_BETWEEN_SIGNS = 15.0  # of life; the visit's right is looked at again whenever something is sent
RETRY_MS = 1_000


@dataclass(frozen=True, slots=True)
class PageEvent:
    number: int
    name: str
    user: str | None  # None: everybody's
    data: str


class Hub:
    def __init__(self, *, kept: int = KEPT) -> None:
        self._run = secrets.token_hex(4)  # numbers of another process mean nothing here
        self._events: deque[PageEvent] = deque(maxlen=kept)
        self._last = 0
        self._news: asyncio.Future[None] | None = None
        self.streams = 0

    @property
    def mark(self) -> str:
        """Where the numbers are: what is drawn now shows everything up to here."""
        return f"{self._run}-{self._last}"

    def publish(self, name: str, *, user: str | None, data: str = "") -> None:
        self._last += 1
        self._events.append(PageEvent(self._last, name, user, data))
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def resync(self) -> None:
        """Something may have been missed: every page looks again."""
        self.publish("resync", user=None)

    async def follow(
        self,
        hears: Callable[[PageEvent], bool],
        *,
        since: str | None,
        still: Callable[[], Awaitable[bool]],
        seconds: float = SECONDS_BETWEEN_SIGNS,
    ) -> AsyncGenerator[bytes]:
        """Lines of server-sent events, until `still` says that the visit has ended."""
        last = self._resumed(since)
        self.streams += 1
        try:
            resumed = json.dumps({"resumed": last is not None})
            last = self._last if last is None else last
            yield b"retry: %d\n" % RETRY_MS + self._line(PageEvent(last, "hello", None, resumed))
            looked = time.monotonic()
            while True:
                fresh = self._since(last)
                last = self._last
                lines = b"".join(self._line(event) for event in fresh if hears(event))
                if lines or time.monotonic() - looked >= seconds:  # however much there is to tell
                    if not await still():  # news may never stop coming
                        yield self._line(PageEvent(last, "left", None, ""))
                        return
                    looked = time.monotonic()
                    yield lines or b": waiting\n\n"
                elif last == self._last:
                    await self._wait(max(0.0, looked + seconds - time.monotonic()))
        finally:
            self.streams -= 1

    async def _wait(self, seconds: float) -> None:
        """Until there is news, and no longer than this."""
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        await asyncio.wait((self._news,), timeout=seconds)

    def _since(self, last: int) -> list[PageEvent]:
        """Numbers have no gaps, so that the newest are counted off from the end."""
        count = min(self._last - last, len(self._events))
        return [*islice(reversed(self._events), count)][::-1]

    def _resumed(self, since: str | None) -> int | None:
        run, _, number = (since or "").partition("-")
        if run != self._run or not number.isdecimal() or len(number) > len(str(self._last)):
            return None
        oldest = self._events[0].number if self._events else self._last + 1
        last = int(number)
        return last if oldest - 1 <= last <= self._last else None

    def _line(self, event: PageEvent) -> bytes:
        return f"id: {self._run}-{event.number}\nevent: {event.name}\ndata: {event.data}\n\n".encode()
