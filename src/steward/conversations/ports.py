"""Where conversations are kept. Any process takes the next turn of any conversation, one at a time."""

from collections.abc import Collection
from typing import Protocol

from steward.conversations.model import Conversation, ConversationPage, NewTurn

TURNS_LOADED = 50


class ConversationStore(Protocol):
    """Each method is one atomic step, safe between processes.

    Whoever takes a turn holds the conversation from `create` or `claim` to `append` or `release`. A program
    that is killed in between holds nothing any more.
    """

    async def create(self, conversation_id: str, *, user: str, agent: str, title: str) -> Conversation:
        """A new one, held. `NotFoundError` (INVALID_USER) when there is no such user."""
        ...

    async def claim(self, conversation_id: str, *, user: str) -> Conversation:
        """Hold it for a turn. `ConflictError` while another turn is under way, `NotFoundError` otherwise."""
        ...

    async def append(self, conversation_id: str, turn: NewTurn) -> bool:
        """Keep the turn and let go. False when the conversation was deleted meanwhile."""
        ...

    async def release(self, conversation_id: str) -> None:
        """Let go without a turn."""
        ...

    async def request_stop(self, conversation_id: str, *, user: str) -> bool:
        """Ask whoever takes a turn of it now, in whichever program, to stop. False when nobody does."""
        ...

    async def stops(self, conversations: Collection[str]) -> Collection[str]:
        """Which of these, held here, somebody wants stopped."""
        ...

    async def load(self, conversation_id: str, *, user: str, turns: int = TURNS_LOADED) -> Conversation:
        """To look at, without holding it. `NotFoundError` when this user has no such conversation."""
        ...

    async def list(self, user: str, *, limit: int = 50, after: str | None = None) -> ConversationPage:
        """The latest first."""
        ...

    async def find(self, thread: str, *, user: str) -> str | None:
        """The conversation that a client with this fingerprint was in."""
        ...

    async def delete(self, conversation_id: str, *, user: str) -> bool: ...
