"""What the planner may decide in a step: call, call several at once, ask, or tell. Nothing else happens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steward.models.planner.ranking import KnownTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One thing that was asked for: a tool, and the words that asked for it."""

    tool: KnownTool
    clause: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mentions: Mapping[str, str] = field(default_factory=dict[str, str])
    score: float = 0.0
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    goal: int
    helper: bool = False
    confidence: float = 0.0


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


Decision = Call | Several | Ask | Tell
