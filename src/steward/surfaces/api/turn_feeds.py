"""A turn that is followed as it runs, and can be followed again where a connection broke off.

Its events are numbered and kept until a while after its end. Whoever comes back with the last number they saw
gets what came since. A turn that nobody follows any more has a moment of grace, then it is stopped: a client
that went away for good does not want it. Owns nothing that lasts: the conversation itself is the record.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from steward.contract.errors import InputError, NotFoundError
from steward.conversations.model import TurnEvent, TurnFinished

if TYPE_CHECKING:  # talking imports Pydantic AI, which takes seconds
    from steward.agents.chat import StartedTurn

GRACE_SECONDS = 5.0
KEPT_SECONDS = 60.0
MOST_FEEDS = 1_000


class TurnFeed:
    """The events of one turn, as they happen and once more."""

    def __init__(self, started: "StartedTurn", *, user: str, grace: float | None = None) -> None:
        self.user = user
        self.conversation = started.conversation
        self._name = secrets.token_hex(4)
        self._started = started
        self._grace = GRACE_SECONDS if grace is None else grace
        self._events: list[TurnEvent] = []
        self._news = asyncio.Event()
        self._followers = 0
        self._leaving: asyncio.TimerHandle | None = None
        self._turn = asyncio.create_task(started.run(self._hear))
        self._turn.add_done_callback(lambda _: self._wake())

    @property
    def over(self) -> "asyncio.Task[Any]":
        return self._turn

    async def _hear(self, event: TurnEvent) -> None:
        self._events.append(event)
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def name_of(self, number: int) -> str:
        return f"{self._name}-{number}"

    def number_in(self, name: str) -> int | None:
        """The number in an event's name; None where it is not one of this turn's."""
        turn, _, number = name.partition("-")
        return int(number) if turn == self._name and number.isdecimal() and len(number) < 10 else None

    async def follow(self, after: int, *, signs: float) -> AsyncGenerator[tuple[int, TurnEvent] | None]:
        """Events from `after` on with their numbers; None as a sign of life, every so many seconds."""
        self._followers += 1
        if self._leaving is not None:
            self._leaving.cancel()
        try:
            at = after
            while True:
                while at < len(self._events):
                    event = self._events[at]
                    at += 1
                    yield at, event
                    if isinstance(event, TurnFinished):
                        return
                if self._turn.done():
                    await self._turn  # ended without a last word: it raises why
                    return
                if not await self._heard(signs):
                    yield None
        finally:
            self._followers -= 1
            if not self._followers and not self._turn.done():
                self._leaving = asyncio.get_running_loop().call_later(self._grace, self._started.stop)

    async def _heard(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        return True


class TurnFeeds:
    """The turns that are followed here, by conversation."""

    def __init__(self, *, kept: float = KEPT_SECONDS) -> None:
        self._kept = kept
        self._feeds: dict[str, TurnFeed] = {}

    def begin(self, started: "StartedTurn", *, user: str) -> TurnFeed:
        feed = TurnFeed(started, user=user)
        while len(self._feeds) >= MOST_FEEDS:
            del self._feeds[next(iter(self._feeds))]
        self._feeds[feed.conversation] = feed
        loop = asyncio.get_running_loop()
        feed.over.add_done_callback(lambda _: loop.call_later(self._kept, self._forget, feed))
        return feed

    def _forget(self, feed: TurnFeed) -> None:
        if self._feeds.get(feed.conversation) is feed:
            del self._feeds[feed.conversation]

    def resume(self, conversation: str, *, user: str, last: str | None) -> tuple[TurnFeed, int]:
        """The turn of this conversation and the number of the last event that was seen."""
        feed = self._feeds.get(conversation)
        if feed is None or feed.user != user:
            raise NotFoundError(
                f"No turn of conversation '{conversation[:80]}' can be followed here.",
                fix="GET the conversation: it has what was said and done.",
            )
        if last is None:
            return feed, 0
        number = feed.number_in(last)
        if number is None:
            raise InputError(
                "This Last-Event-ID is not one of the turn that runs now.",
                fix="Leave it out to follow that turn from its beginning.",
            )
        return feed, number
