"""The turns that run in this process: their signs of life, and stopping them from anywhere.

Owns who is running here. A turn is stopped at once by who shares its process; who does not leaves the wish in
the store, which is read with each sign of life. A turn that somebody else has taken over is stopped as well.
"""

import asyncio
import logging

from steward.contract.errors import StewardError
from steward.conversations.model import Conversation
from steward.conversations.ports import ConversationStore
from steward.models.runs import Stop

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.5


class RunningTurns:
    def __init__(self, store: ConversationStore, *, every: float = SECONDS_BETWEEN_LOOKS) -> None:
        self._store = store
        self._every = every
        self._turns: dict[str, tuple[Conversation, Stop]] = {}
        self._watching: asyncio.Task[None] | None = None

    def begin(self, held: Conversation) -> Stop:
        stop = Stop()
        self._turns[held.id] = (held, stop)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="signs of life")
        return stop

    def end(self, held: Conversation) -> None:
        known = self._turns.get(held.id)
        if known is not None and known[0].lease == held.lease:
            del self._turns[held.id]
        if not self._turns and self._watching is not None:
            self._watching.cancel()
            self._watching = None

    def stop(self, conversation: str, *, user: str) -> bool:
        """End the turn of this conversation that runs here; False when none does."""
        held, stop = self._turns.get(conversation, (None, None))
        if held is None or stop is None or held.user != user:
            return False
        stop()
        return True

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            try:
                beat = await self._store.beat({name: held.lease for name, (held, _) in self._turns.items()})
            except StewardError as error:  # the turn itself will hear of a database that is gone
                logger.warning("signs_of_life_not_given", extra={"problem": error.message})
                continue
            for conversation in beat.stops | beat.lost:
                _, stop = self._turns.get(conversation, (None, None))
                if stop is not None:
                    stop()
            if beat.lost:
                logger.warning("turns_lost", extra={"conversations": sorted(beat.lost)})
