"""What the planner may decide in a step: call, call several at once, ask, or tell. Nothing else happens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steward.models.planner.ranking import KnownTool
from steward.models.planner.readers import Mention, ReaderQuestion, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One thing that was asked for: a tool, and the words that asked for it."""

    tool: KnownTool
    clause: str
    wish: str = ""  # the part of the clause that asked for it, where it has parts
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mentions: Mapping[str, Mention | str] = field(default_factory=dict[str, Mention | str])
    listing: Mapping[str, Any] = field(default_factory=dict[str, Any])
    chosen: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])  # by the person
    finish: Callable[[Record], Mapping[str, Any] | ReaderQuestion] | None = None
    score: float = 0.0
    question: ReaderQuestion | None = None
    memo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reader: str | None = None  # who read it; None when the planner did
    read: bool = False  # the taught reader has filled it: what it left out was not said
    place: int = 0  # among the readings of its clause
    reply_to: Mapping[str, Any] | None = None  # the memo that the clause answers, where it answers one


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    goal: int
    helper: bool = False
    confidence: float = 0.0
    memo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    behind: tuple[str, ...] = ()  # the wishes of the same message whose turn comes after it


@dataclass(frozen=True, slots=True)
class Several:
    """Calls that need nothing of each other: they run side by side."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    question: str
    state: Mapping[str, Any]  # JSON: it is stored with the response and read back on the next turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    text: str
    confidence: float = 0.0
    gap: bool = False  # no tool can do what was asked for
    looked: str = ""  # where the person's own things were looked through before that: what came of it


Decision = Call | Several | Ask | Tell
