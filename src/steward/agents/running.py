"""The turns that run in this process, and stopping them from anywhere.

Owns who is running here. A turn is stopped at once by who shares its process; who does not leaves the wish in
the store, which is looked at while turns run.
"""

import asyncio
import logging

from steward.contract.errors import StewardError
from steward.conversations.ports import ConversationStore
from steward.models.runs import Stop

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.5


class RunningTurns:
    def __init__(self, store: ConversationStore, *, every: float = SECONDS_BETWEEN_LOOKS) -> None:
        self._store = store
        self._every = every
        self._turns: dict[str, tuple[str, Stop]] = {}
        self._watching: asyncio.Task[None] | None = None

    def begin(self, conversation: str, *, user: str) -> Stop:
        stop = Stop()
        self._turns[conversation] = (user, stop)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="wishes to stop")
        return stop

    def end(self, conversation: str) -> None:
        self._turns.pop(conversation, None)
        if not self._turns and self._watching is not None:
            self._watching.cancel()
            self._watching = None

    def stop(self, conversation: str, *, user: str) -> bool:
        """End the turn of this conversation that runs here; False when none does."""
        owner, stop = self._turns.get(conversation, ("", None))
        if stop is None or owner != user:
            return False
        stop()
        return True

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            try:
                wanted = await self._store.stops(tuple(self._turns))
            except StewardError as error:  # the turn itself will hear of a database that is gone
                logger.warning("stops_not_read", extra={"problem": error.message})
                continue
            for conversation in wanted:
                _, stop = self._turns.get(conversation, ("", None))
                if stop is not None:
                    stop()
