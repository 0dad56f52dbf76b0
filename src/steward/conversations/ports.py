"""Where conversations are kept. Any process takes the next turn of any conversation, one at a time."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from steward.contract.errors import ConflictError
from steward.conversations.model import (
    Beat,
    CallRecord,
    Conversation,
    ConversationPage,
    NewTurn,
    OpenCall,
    Opening,
)

TURNS_LOADED = 50


class LeaseLostError(ConflictError):
    """Somebody else goes on with this turn: whoever held it was away too long, and must do nothing more."""


def lease_lost() -> LeaseLostError:
    return LeaseLostError(
        "This turn is not ours any more: another Steward goes on with it, or it was deleted.",
        fix="Look at the conversation.",
    )


class ConversationStore(Protocol):
    """Each method is one atomic step, safe between processes.

    Whoever takes a turn holds the conversation on lease from `create` or `claim` to `append` or `release`,
    and gives signs of life (`beat`). Without them others may take over, under a higher number; whoever comes
    back then is refused by its own.
    """

    async def create(
        self, conversation_id: str, *, user: str, agent: str, title: str, opening: Opening
    ) -> Conversation:
        """A new one, held. `NotFoundError` (INVALID_USER) when there is no such user."""
        ...

    async def claim(self, conversation_id: str, *, user: str, opening: Opening) -> Conversation:
        """Hold it for a turn. `ConflictError` while another turn is under way, `NotFoundError` otherwise.

        With `left` set somebody else's turn was found unfinished: the opening is not kept, and whoever holds
        it now accounts for that one first.
        """
        ...

    async def claim_left(
        self, conversation_id: str, *, user: str, queued: int | None = None
    ) -> Conversation | None:
        """Hold it to go on with the turn that was left, or with the one that was queued under this number.

        None when there is none, or it is not free.
        """
        ...

    async def queue(self, held: Conversation) -> bool:
        """Leave the turn to a worker that knows the lease's number."""
        ...

    async def leave(self, held: Conversation) -> None:
        """Let go in the middle of a turn: whoever comes first goes on with it."""
        ...

    async def left(self, *, limit: int = 20) -> Sequence[tuple[str, str, str]]:
        """Conversation, user and title of turns that nobody holds any more, the oldest first."""
        ...

    async def begin_call(self, held: Conversation, call: OpenCall) -> None:
        """Before each call of a turn. `LeaseLostError` when it is somebody else's turn by now."""
        ...

    async def end_call(self, held: Conversation, call_id: str, record: CallRecord) -> None: ...

    async def append(self, held: Conversation, turn: NewTurn) -> bool:
        """Keep the turn and let go. False when the conversation was deleted or taken over meanwhile."""
        ...

    async def release(self, held: Conversation) -> None:
        """Let go without a turn."""
        ...

    async def request_stop(self, conversation_id: str, *, user: str) -> bool:
        """Ask whoever takes a turn of it now, in whichever program, to stop. False when nobody does."""
        ...

    async def beat(self, leases: Mapping[str, int]) -> Beat:
        """A sign of life for these conversations, held here under these numbers."""
        ...

    async def load(self, conversation_id: str, *, user: str, turns: int = TURNS_LOADED) -> Conversation:
        """To look at, without holding it. `NotFoundError` when this user has no such conversation."""
        ...

    async def list(
        self, user: str, *, limit: int = 50, after: str | None = None, containing: str | None = None
    ) -> ConversationPage:
        """The latest first; only those in whose title or turns these words stand, where some are given."""
        ...

    async def find(self, thread: str, *, user: str) -> str | None:
        """The conversation that a client with this fingerprint was in."""
        ...

    async def rename(self, conversation_id: str, *, user: str, title: str) -> bool: ...

    async def delete(self, conversation_id: str, *, user: str) -> bool:
        """Put it away: it is nowhere to be seen, and can be restored for a while."""
        ...

    async def restore(self, conversation_id: str, *, user: str) -> bool:
        """Take a deletion back; False when there is none, or it was too long ago."""
        ...
