"""What taking a change back means, for the rooms that make changes.

Owns the words, the codes and the shape of a step. Does not own where steps are kept (storage/undo.py), nor
how each kind of change is taken back (its own room).
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from steward.contract.deciding import Role
from steward.contract.errors import ConflictError, ErrorCode

UNDO = "undo"
MOST_AT_ONCE = 100


class CannotUndoError(ConflictError):
    """What was done since stands in the way, or it was final."""

    default_code = ErrorCode.CANNOT_UNDO


def changed_since(what: str) -> CannotUndoError:
    return CannotUndoError(
        f"Nothing was taken back: {what} was changed since.", fix="Take the later change back first."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """One part of a change, and what taking it back needs; once that was done, what doing it again needs."""

    kind: str
    thing: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoableChange:
    """Everything that one call changed."""

    id: str
    number: int
    at: datetime
    tool: str
    role: Role
    words: str
    things: tuple[str, ...] = ()
    undone_by: str | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What doing it again needs, and what is left to do once all of it is kept."""

    data: Mapping[str, Any]
    afterwards: Callable[[], Awaitable[None]] | None = None
