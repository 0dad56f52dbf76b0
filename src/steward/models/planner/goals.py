"""What was asked for: the clauses of an utterance and the tool that each one means."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from steward.models.planner.answers import numbered
from steward.models.planner.arguments import fill
from steward.models.planner.decisions import Ask, Goal
from steward.models.planner.finding import Said
from steward.models.planner.parameters import Kind
from steward.models.planner.ranking import CLOSE, THRESHOLD, KnownTool, Ranking, Scored
from steward.models.planner.readers import READER, DateReader, Reading, UtteranceReader
from steward.models.planner.words import bare, intention, split_name

_THEN = re.compile(
    r"\s*(?:;|,?\s*\b(?:and then|then|after that|afterwards)\b|[.!?]\s+(?=[A-Z]))\s*", re.IGNORECASE
)
_AND = re.compile(r"\s*,?\s+and\s+", re.IGNORECASE)
_QUOTE = re.compile(r"\"[^\"]*\"|“[^”]*”|'[^']*'(?!\w)")
MAX_CLAUSES = 6


def clauses_of(utterance: str) -> list[str]:
    """The commands in an utterance, in order. 'and' joins two only where both sides command something."""
    found: list[str] = []
    for piece in _split(_THEN, utterance):
        parts = _split(_AND, piece)
        commands = len(parts) > 1 and all(_commands(part) for part in parts)
        found += parts if commands else [piece]
    return found[:MAX_CLAUSES] or [utterance]


def _split(separator: re.Pattern[str], text: str) -> list[str]:
    """Split outside of quotes."""
    hidden = _QUOTE.sub(lambda found: "\0" * len(found.group()), text)
    pieces: list[str] = []
    at = 0
    for found in separator.finditer(hidden):
        pieces.append(text[at : found.start()])
        at = found.end()
    return [piece.strip() for piece in (*pieces, text[at:]) if piece.strip()]


def _commands(clause: str) -> bool:
    words = split_name(bare(clause))
    return len(words) > 1 and intention(words[0]) is not None


class GoalFinder:
    def __init__(
        self, ranking: Ranking, *, dates: DateReader, readers: Mapping[str, UtteranceReader]
    ) -> None:
        self._ranking = ranking
        self._dates = dates
        self._readers = readers

    def said(self, text: str, now: datetime) -> Said:
        return Said(text, tuple(self._dates(text, now)))

    def rank(self, text: str, tools: Sequence[KnownTool]) -> list[Scored]:
        return self._ranking.rank(text, tools)

    def choose(self, clause: str, tools: Sequence[KnownTool], now: datetime) -> Goal | Ask | None:
        """The tool that a clause means, a question between several, or None when nothing fits."""
        scored = self._ranking.rank(clause, tools)
        reading = self._reading(clause, tools, now)
        if reading is not None:
            by_name = {tool.name: tool for tool in tools}
            group = by_name[reading.tool].metadata.get(READER)
            others = [each.score for each in scored if each.tool.metadata.get(READER) != group]
            if reading.certainty >= max(THRESHOLD, max(others, default=0.0) - CLOSE):
                return _read_goal(reading, by_name[reading.tool], clause)
        if not scored or scored[0].score < THRESHOLD:
            return None
        rivals = [each for each in scored if scored[0].score - each.score < CLOSE]
        lacking = {each.tool.name: self._lacking(each.tool, clause, now) for each in rivals}
        least = min(lacking.values())
        fitting = [each for each in rivals if lacking[each.tool.name] == least]
        if len(fitting) > 1 and not all(each.tool.reads for each in fitting):
            return _which_tool(fitting, clause)
        return Goal(tool=fitting[0].tool, clause=clause, score=fitting[0].score)

    def _reading(self, clause: str, tools: Sequence[KnownTool], now: datetime) -> Reading | None:
        """What the readers that the tools bring along make of a clause; the surest one."""
        readings: list[Reading] = []
        names = dict.fromkeys(str(tool.metadata.get(READER)) for tool in tools if tool.metadata.get(READER))
        for name in names:
            reader = self._readers.get(name)
            group = [tool.definition for tool in tools if tool.metadata.get(READER) == name]
            reading = reader.read(clause, group, now) if reader else None
            if reading is not None and any(reading.tool == each.name for each in group):
                readings.append(reading)
        return max(readings, key=lambda each: each.certainty, default=None)

    def _lacking(self, tool: KnownTool, clause: str, now: datetime) -> int:
        filling = fill(
            tool.definition.parameters_json_schema, self.said(clause, now), tool_words=tool.name_stems
        )
        return sum(each.kind is not Kind.IDENTIFIER for each in filling.missing(tool.parameters))


def _read_goal(reading: Reading, tool: KnownTool, clause: str) -> Goal:
    return Goal(
        tool=tool,
        clause=clause,
        arguments=dict(reading.arguments),
        mentions=dict(reading.mentions),
        score=reading.certainty,
        question=reading.question,
    )


def _which_tool(fitting: Sequence[Scored], clause: str) -> Ask:
    names = [each.tool.name for each in fitting]
    labels = [
        f"`{each.tool.name}`: {each.tool.definition.description or 'no description'}" for each in fitting
    ]
    return Ask(
        question=f"I can read that in {len(names)} ways. Which one do you mean?\n{numbered(labels)}",
        state={"kind": "tool", "clause": clause, "tools": names},
    )


def state_text(state: Mapping[str, Any], key: str) -> str:
    value = state.get(key)
    return value if isinstance(value, str) else ""


def state_map(state: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = state.get(key)
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}
