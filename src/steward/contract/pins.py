"""Definitions of other people's tools as they were when a person could first judge them.

Owns the record and the port that keeps it. Does not own when a change matters (providers/mcp/pinning.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from steward.contract.tool import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One tool of one agent, as it was first seen or last accepted."""

    agent: str
    tool: str  # the server's own name for it
    digest: str
    definition: JsonObject
    accepted: bool  # False: seen, but a person has yet to say yes
    registered: str | None = None  # the name it got then; no other tool ever gets it


SEEN = ""
"""Stands among an agent's pins for the agent itself: it was seen before, whatever it offered then."""


class PinStore(Protocol):
    async def of(self, agent: str) -> Mapping[str, Pin]:
        """Every pin of an agent, by tool."""
        ...

    async def remember(self, pins: Sequence[Pin]) -> None:
        """Keep what is seen for the first time; what is known stays as it is, but for a name it lacks."""
        ...

    async def accept(self, pin: Pin) -> None:
        """Replace whatever is kept for this tool, but for its name."""
        ...


@runtime_checkable
class AcceptingAgent(Protocol):
    """An agent whose tools may wait for a person to accept their definition."""

    async def accept(self, tool: str, *, shown: str | None = None) -> None:
        """Take the definition that is there now as the one to trust. Raises NotFoundError, ConflictError.

        `shown`: what the person read of why it waits; another definition by now is not what they accept.
        """
        ...
