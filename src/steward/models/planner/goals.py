"""What was asked for: the clauses of an utterance and the tool that each one means."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from steward.contract import linear_re as re
from steward.language.reading import Readable, RequestReader, read
from steward.language.values import Moment
from steward.models.planner.answers import first_sentence, numbered
from steward.models.planner.arguments import fill
from steward.models.planner.decisions import Ask, Goal
from steward.models.planner.finding import Said
from steward.models.planner.parameters import Kind
from steward.models.planner.ranking import (
    CLOSE,
    THRESHOLD,
    KnownTool,
    Ranking,
    Scored,
    calls_by_name,
)
from steward.models.planner.readers import (
    READER,
    DateReader,
    Question,
    Reading,
    SoleReader,
    Speaker,
    UtteranceReader,
)
from steward.models.planner.words import bare, intention, split_name

_THEN = re.compile(
    r"\s*(?:;|,?\s*\b(?:and then|then|after that|afterwards)\b|[.!?]\s+(?=[A-Z]))\s*", re.IGNORECASE
)
_AND = re.compile(r"\s*,?\s+and\s+", re.IGNORECASE)
_QUOTE = re.compile(r"\"[^\"]*\"|“[^”]*”|'[^']*'\B")
MAX_CLAUSES = 6
FIRST_READ = 5  # tools that are read beside a request; twice as many more where none of them fits


def clauses_of(utterance: str) -> list[str]:
    """The commands in an utterance, in order. 'and' joins two only where both sides command something."""
    found: list[str] = []
    for piece in _split(_THEN, utterance):
        parts = _split(_AND, piece)
        commands = len(parts) > 1 and all(_commands(part) for part in parts)
        found += parts if commands else [piece]
    return found[:MAX_CLAUSES] or [utterance]


def _split(separator: re.Pattern, text: str) -> list[str]:
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
        self,
        ranking: Ranking,
        *,
        dates: DateReader,
        readers: Mapping[str, UtteranceReader],
        taught: RequestReader | None = None,
    ) -> None:
        self._ranking = ranking
        self._dates = dates
        self._readers = readers
        self._taught = taught

    def read(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal] | None:
        """What the taught reader makes of a whole utterance; empty where nothing fits.

        None where there is no such reader, or where the readers of certain tools understand it.
        """
        if self._taught is None or self._understood(utterance, tools, now):
            return None
        sole = self._sole()
        ranked = self._ranking.rank(utterance, [tool for tool in tools if tool.name not in sole])
        by_name = {each.tool.name: each.tool for each in ranked}
        moments = [
            Moment(each.start, each.end, each.value, timed=each.has_time)
            for each in self._dates(utterance, now)
        ]
        for some in (ranked[:FIRST_READ], ranked[FIRST_READ : 3 * FIRST_READ]):
            readable = [
                Readable(each.tool.name, each.tool.about, each.tool.definition.parameters_json_schema)
                for each in some
            ]
            found = read(utterance, readable, self._taught, moments=moments) if readable else None
            if found is not None and found.calls:
                if any(by_name[call.tool].metadata.get(READER) for call in found.calls):
                    return None
                return [
                    Goal(
                        tool=by_name[call.tool], clause=utterance, arguments=call.arguments, score=call.fit,
                        read=True, place=place,
                    )
                    for place, call in enumerate(found.calls)
                ]  # fmt: skip
        return None if any(tool.metadata.get(READER) for tool in tools) else ()

    def _understood(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> bool:
        """Whether a reader of certain tools takes any part of this for its own."""
        pieces = (utterance, *clauses_of(utterance))
        return any(
            found is not None and found[1] and min(each.certainty for each in found[1]) >= THRESHOLD
            for found in (self._readings(piece, tools, now) for piece in pieces)
        )

    def _sole(self) -> set[str]:
        soles = [each for each in self._readers.values() if isinstance(each, SoleReader)]
        return {name for each in soles for name in each.sole}

    def said(self, text: str, now: datetime) -> Said:
        return Said(text, tuple(self._dates(text, now)))

    def rank(self, text: str, tools: Sequence[KnownTool]) -> list[Scored]:
        return self._ranking.rank(text, tools)

    def speaker(self, name: str | None) -> Speaker | None:
        """The reader of this name, where it also speaks."""
        reader = self._readers.get(name) if name else None
        return reader if isinstance(reader, Speaker) else None

    def clauses(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> list[str]:
        """The commands in an utterance. A piece that a reader only asks about belongs to the one before."""
        joined: list[str] = []
        start = end = 0
        for piece in clauses_of(utterance):
            at = utterance.find(piece, end)
            reading = self._readings(piece, tools, now)
            if joined and at >= 0 and reading and reading[1] and reading[1][0].question is not None:
                joined[-1] = utterance[start : at + len(piece)].strip()
            else:
                start = max(at, 0)
                joined.append(piece)
            end = max(at, 0) + len(piece)
        return joined

    def choose(self, clause: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal] | Ask | None:
        """What a clause asks for, a question between several tools, or None when nothing fits."""
        read = self._readings(clause, tools, now)
        if read is not None and not read[1]:  # its reader says: nothing to do with these tools
            tools = [tool for tool in tools if tool.metadata.get(READER) != read[0]]
        sole = self._sole()
        scored = self._ranking.rank(clause, [tool for tool in tools if tool.name not in sole])
        called = [each for each in scored if each.score >= THRESHOLD and calls_by_name(clause, each.tool)]
        if read is not None and read[1]:
            others = [each for each in scored if each.tool.metadata.get(READER) != read[0]]
            certainty = min(each.certainty for each in read[1])
            surest = max((each.score for each in others), default=0.0)
            if not any(each in others for each in called) and certainty >= max(THRESHOLD, surest - CLOSE):
                return read_goals(read[0], read[1], tools, clause)
        scored = called or scored
        if not scored or scored[0].score < THRESHOLD:
            return None
        rivals = [each for each in scored if scored[0].score - each.score < CLOSE]
        lacking = {each.tool.name: self._lacking(each.tool, clause, now) for each in rivals}
        least = min(lacking.values())
        fitting = [each for each in rivals if lacking[each.tool.name] == least]
        if len(fitting) > 1 and not all(each.tool.reads for each in fitting):
            return _which_tool(fitting, clause)
        return [Goal(tool=fitting[0].tool, clause=clause, score=fitting[0].score)]

    def replied(
        self, reader: str, memo: Mapping[str, Any], utterance: str, tools: Sequence[KnownTool], now: datetime
    ) -> Sequence[Goal] | str | None:
        """What an answer to a reader's own question asks for; None when it answers something else."""
        speaker = self.speaker(reader)
        if speaker is None:
            return None
        group = [tool.definition for tool in tools if tool.metadata.get(READER) == reader]
        found = speaker.answer(memo, utterance, group, now)
        if found is None or isinstance(found, str):
            return found
        return read_goals(reader, found, tools, utterance, reply_to=memo)

    def certainty(self, clause: str, tools: Sequence[KnownTool], now: datetime) -> float:
        """How surely some reader takes this for a request of its own; 0 where it would only ask."""
        read = self._readings(clause, tools, now)
        if read is None or not read[1] or any(each.question is not None for each in read[1]):
            return 0.0
        return min(each.certainty for each in read[1])

    def _readings(
        self, clause: str, tools: Sequence[KnownTool], now: datetime
    ) -> tuple[str, Sequence[Reading]] | None:
        """What the readers that tools bring along make of a clause: the surest one, and its readings."""
        found: list[tuple[str, Sequence[Reading]]] = []
        names = dict.fromkeys(str(tool.metadata.get(READER)) for tool in tools if tool.metadata.get(READER))
        for name in names:
            reader = self._readers.get(name)
            group = [tool.definition for tool in tools if tool.metadata.get(READER) == name]
            read = reader.read(clause, group, now) if reader else None
            if read is None:
                continue
            readings = [read] if isinstance(read, Reading) else list(read)
            known = {each.name for each in group}
            if all(each.tool in known for each in readings):
                found.append((name, readings))
        return max(found, key=lambda each: min((r.certainty for r in each[1]), default=0.0), default=None)

    def _lacking(self, tool: KnownTool, clause: str, now: datetime) -> int:
        filling = fill(
            tool.definition.parameters_json_schema, self.said(clause, now), tool_words=tool.name_stems
        )
        return sum(each.kind is not Kind.IDENTIFIER for each in filling.missing(tool.parameters))


def read_goals(
    reader: str,
    readings: Sequence[Reading],
    tools: Sequence[KnownTool],
    clause: str,
    *,
    reply_to: Mapping[str, Any] | None = None,
) -> list[Goal]:
    by_name = {tool.name: tool for tool in tools}
    return [
        Goal(
            tool=by_name[reading.tool],
            clause=clause,
            arguments=dict(reading.arguments),
            mentions=dict(reading.mentions),
            listing=dict(reading.listing),
            finish=reading.finish,
            score=reading.certainty,
            question=Question(reading.question) if isinstance(reading.question, str) else reading.question,
            memo=dict(reading.memo),
            reader=reader,
            place=place,
            reply_to=reply_to,
        )
        for place, reading in enumerate(readings)
        if reading.tool in by_name
    ]


def _which_tool(fitting: Sequence[Scored], clause: str) -> Ask:
    names = [each.tool.name for each in fitting]
    labels = [f"`{each.tool.name}`: {first_sentence(each.tool)}" for each in fitting]
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
