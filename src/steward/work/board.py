"""The board: notices for whoever is looking now, at the page or a terminal.

    async for notice in board.follow("local"):
        show(notice)

A notice made by this program is seen at once, one of another program on the same database within a second.
While nobody follows, nothing is asked of the database. Does not own what a notice is (tasks).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field

from steward.contract.errors import StewardError
from steward.tasks.notices import Notice, NoticeStore

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 1.0
OVERLAP = 200  # numbers looked at again: one that was given out earlier may be kept later
MOST_WAITING = 200  # notices for somebody who reads slowly; more are on the list


@dataclass(eq=False, slots=True)
class _Follower:
    user: str
    notices: "asyncio.Queue[Notice]" = field(default_factory=lambda: asyncio.Queue[Notice](MOST_WAITING))

    def hear(self, notice: Notice) -> None:
        if notice.user_id == self.user:
            with suppress(asyncio.QueueFull):
                self.notices.put_nowait(notice)

    async def next(self, closed: "asyncio.Event") -> Notice | None:
        """The next one; None when the board closes."""
        coming, closing = asyncio.ensure_future(self.notices.get()), asyncio.ensure_future(closed.wait())
        try:
            await asyncio.wait({coming, closing}, return_when=asyncio.FIRST_COMPLETED)
            return coming.result() if coming.done() else None
        finally:
            coming.cancel()
            closing.cancel()


class NoticeBoard:
    def __init__(self, store: NoticeStore, *, seconds: float = SECONDS_BETWEEN_LOOKS) -> None:
        self.store = store
        self._seconds = seconds
        self._followers: set[_Follower] = set()
        self._news = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    @property
    def followed(self) -> bool:
        return bool(self._followers)

    def close(self) -> None:
        """Nobody follows any longer: the program ends, and must not wait for readers that never leave."""
        self._closed.set()

    def ring(self) -> None:
        """Something was put up by this program: look now."""
        self._news.set()

    async def follow(self, user: str) -> AsyncGenerator[Notice]:
        """What this user has not seen yet, then everything new, each once."""
        follower = _Follower(user)
        await self._begin(follower)
        try:
            known: set[str] = set()
            for notice in await self.store.list(user, unseen=True):
                known.add(notice.id)
                yield notice
            while (notice := await follower.next(self._closed)) is not None:
                if notice.id not in known:
                    known.add(notice.id)
                    yield notice
        finally:
            self._followers.discard(follower)
            if not self._followers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _begin(self, follower: _Follower) -> None:
        latest = await self.store.latest()
        self._followers.add(follower)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look(latest), name="looking for notices")

    async def _look(self, latest: int) -> None:
        told: set[int] = set()
        began = latest
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._news.wait()
            self._news.clear()
            try:
                found = await self.store.newer(max(began, latest - OVERLAP))
            except StewardError as error:
                logger.warning("notices_not_read", extra={"problem": error.message})
                continue
            for notice in found:
                if notice.number not in told:
                    for follower in tuple(self._followers):
                        follower.hear(notice)
            latest = max([latest, *(notice.number for notice in found)])
            told = {notice.number for notice in found if notice.number > latest - OVERLAP}
