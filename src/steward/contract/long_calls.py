"""A call over MCP that outlasts its request: what is known of it, and where that is kept.

Its client looks for it by its id, at any instance. Only the one that runs it says how far it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class LongState(StrEnum):
    """As the protocol calls them; what waits for its client is `WORKING` with questions."""

    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class LongCall:
    id: str
    state: LongState
    note: str | None
    questions: Mapping[str, Any]
    outcome: Mapping[str, Any] | None  # a result, or an error of the protocol
    created_at: datetime
    changed_at: datetime
    left: bool = False  # the program that ran it is gone


@dataclass(frozen=True, slots=True)
class LongWords:
    """What its client said since the last time."""

    answers: Sequence[Mapping[str, Any]] = field(default=())
    stopping: bool = False


class LongCallStore(Protocol):
    """Each method is one atomic step. A call is its caller's alone, for the user it acts for: to others it
    is not there, also to a later key of the same name."""

    async def begin(self, call_id: str, *, caller: str, user: str) -> None: ...

    async def beat(self, call_id: str, *, note: str | None, questions: Mapping[str, Any]) -> LongWords:
        """Whoever runs it lives; how far it is; what was said to it meanwhile, told once."""
        ...

    async def end(
        self, call_id: str, state: LongState, *, note: str | None, outcome: Mapping[str, Any] | None
    ) -> None: ...

    async def get(self, call_id: str, *, caller: str, user: str) -> LongCall | None: ...

    async def answer(self, call_id: str, answers: Mapping[str, Any], *, caller: str, user: str) -> bool:
        """Leave answers for whoever runs it. False where there is no such call."""
        ...

    async def stop(self, call_id: str, *, caller: str, user: str) -> bool:
        """Ask whoever runs it to stop. False where there is no such call."""
        ...
