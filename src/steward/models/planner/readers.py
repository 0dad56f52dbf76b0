"""Helpers that the planner is given: who reads dates, and who reads the language of certain tools.

A tool brings a reader along by naming it in its definition's metadata (`reader`); the planner is given
readers by name and asks them first. That is how a domain's own language plugs in: the planner knows
the hook, the reader knows the domain.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from pydantic_ai import ToolDefinition

READER = "reader"  # the metadata key


@dataclass(frozen=True, slots=True)
class DateFound:
    """A date in a text: where it stands and what it means."""

    start: int
    end: int
    value: datetime
    has_time: bool = False


class DateReader(Protocol):
    def __call__(self, text: str, now: datetime) -> Sequence[DateFound]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader made of an utterance: one of its tools and what to call it with.

    `mentions` are arguments that the person only described ("the milk one"): the planner finds the value
    among the results of a tool that lists such things. `certainty` is comparable with a tool's rank, 0 to
    1. A `question` is asked instead of calling anything.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mentions: Mapping[str, str] = field(default_factory=dict[str, str])
    certainty: float = 1.0
    question: str | None = None


class UtteranceReader(Protocol):
    def read(self, utterance: str, tools: Sequence[ToolDefinition], now: datetime) -> Reading | None:
        """None when this utterance is not in this reader's language. Pure and quick."""
        ...


_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?\b")
_NEAR = re.compile(r"\b(today|tonight|tomorrow|yesterday)\b", re.IGNORECASE)
_DAYS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}


def plain_dates(text: str, now: datetime) -> Sequence[DateFound]:
    """The dates nobody can misread, for when no better reader is given."""
    found: list[DateFound] = []
    for match in _ISO.finditer(text):
        year, month, day, hour, minute = (int(part) if part else 0 for part in match.groups())
        try:
            value = datetime(year, month, day, hour, minute, tzinfo=now.tzinfo)
        except ValueError:
            continue
        found.append(DateFound(match.start(), match.end(), value, match[4] is not None))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for match in _NEAR.finditer(text):
        value = midnight + timedelta(days=_DAYS[match[1].lower()])
        found.append(DateFound(match.start(), match.end(), value))
    return sorted(found, key=lambda each: each.start)
