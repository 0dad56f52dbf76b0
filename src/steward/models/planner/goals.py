"""What was asked for: the clauses of an utterance and the tool that each one means."""

import math
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from steward.contract import linear_re as re
from steward.language.reading import Reading as TaughtReading
from steward.language.reading import RequestReader, ToolJudge, read
from steward.language.values import Moment
from steward.models.planner.answers import first_sentence, numbered
from steward.models.planner.arguments import fill
from steward.models.planner.decisions import Ask, Goal
from steward.models.planner.finding import Said
from steward.models.planner.parameters import Kind
from steward.models.planner.ranking import (
    CLOSE,
    REMOVES,
    STORES,
    THRESHOLD,
    KnownTool,
    Ranking,
    Scored,
    calls_by_name,
)
from steward.models.planner.readers import (
    READER,
    DateFound,
    DateReader,
    Interpreter,
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
MAX_CLAUSES = 12
MOST_JUDGED = 60  # tools that are judged; of more, those that the words and their meaning rank first
SURELY = 0.6  # from here on the taught reader is believed against the rules of a tool's own reader
BEYOND_DOUBT = 0.9  # and from here on also where those rules would ask first
CLEARLY = 1.2  # where the tool that those rules chose is that much less likely (a difference of logits)
MOST_OF_IT = 0.9  # of an utterance: where that much fills a tool, nothing in it asked for the call
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
        judge: ToolJudge | None = None,
    ) -> None:
        self._ranking = ranking
        self._dates = dates
        self._readers = readers
        self._taught = taught
        self._judge = judge

    def read(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal] | None:
        """What the taught reader makes of a whole utterance; empty where nothing fits.

        None where there is no such reader, or where the readers of certain tools know better.
        """
        if self._taught is None:
            return None
        rules = self._understood(utterance, tools, now)
        fits = self._fits(utterance, tools)
        sole = {name for name in self._sole() if fits.get(name, 0.0) < BEYOND_DOUBT}
        readable = [tool for tool in tools if tool.name not in sole]
        fits = {name: fit for name, fit in fits.items() if name not in sole}
        found = self._taught_reading(utterance, readable, fits, now)
        removing = {tool.name for tool in tools if tool.intention == REMOVES and not tool.reads}
        if rules is not None and not _outdone(rules, fits, found, removing):
            return None
        if found is None or not found.calls:
            return None if any(tool.metadata.get(READER) for tool in tools) else ()
        by_name = {tool.name: tool for tool in readable}
        name = by_name[found.calls[0].tool].metadata.get(READER)
        reader = self._readers.get(str(name)) if name else None
        if isinstance(reader, Interpreter):
            own = [call for call in found.calls if by_name[call.tool].metadata.get(READER) == name]
            told = reader.interpret(own, utterance, rules=() if rules is None else rules, now=now)
            return read_goals(str(name), told, tools, utterance)
        return [
            Goal(
                tool=by_name[call.tool], clause=utterance, arguments=call.arguments, score=call.fit,
                read=True, place=place,
            )
            for place, call in enumerate(found.calls)
        ]  # fmt: skip

    def _fits(self, utterance: str, tools: Sequence[KnownTool]) -> Mapping[str, float]:
        if self._judge is None:
            ranked = self._ranking.rank(utterance, tools)
            return {each.tool.name: each.score for each in ranked}
        near = tools
        if len(tools) > MOST_JUDGED:
            near = [each.tool for each in self._ranking.rank(utterance, tools)[:MOST_JUDGED]]
        return self._judge.fits(utterance, [tool.readable for tool in near])

    def _taught_reading(
        self, utterance: str, tools: Sequence[KnownTool], fits: Mapping[str, float], now: datetime
    ) -> TaughtReading | None:
        if self._taught is None:
            return None
        by_name = {tool.name: tool for tool in tools}
        ordered = sorted(fits, key=lambda name: -fits[name])
        moments = [_moment(each, utterance, now) for each in self._dates(utterance, now)]
        judged = fits if self._judge is not None else None
        for names in (ordered[:FIRST_READ], ordered[FIRST_READ : 3 * FIRST_READ]):
            some = [by_name[name].readable for name in names]
            found = read(utterance, some, self._taught, moments=moments, judged=judged) if some else None
            if found is not None and found.calls:
                return found
            if judged is not None:
                break  # the judge has looked at the rest already
        return None

    def _understood(
        self, utterance: str, tools: Sequence[KnownTool], now: datetime
    ) -> Sequence[Reading] | None:
        """What the readers of certain tools make of any part of this, where they are sure enough."""
        for piece in dict.fromkeys((utterance, *clauses_of(utterance))):
            found = self._readings(piece, tools, now)
            if found is not None and found[1] and min(each.certainty for each in found[1]) >= THRESHOLD:
                return found[1]
        return None

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
        storing = {tool.name for tool in tools if tool.intention == STORES}
        start = end = 0
        keeps = False
        for piece in clauses_of(utterance):
            at = utterance.find(piece, end)
            reading = self._readings(piece, tools, now)
            asks = bool(reading and reading[1] and reading[1][0].question is not None)
            if joined and at >= 0 and (asks or (keeps and not _commands(piece))):
                joined[-1] = utterance[start : at + len(piece)].strip()
            else:
                start = max(at, 0)
                joined.append(piece)
                # What is told after "remember that ..." is told to be remembered, too.
                keeps = reading is not None and bool(reading[1]) and reading[1][0].tool in storing
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


def _moment(found: DateFound, utterance: str, now: datetime) -> Moment:
    """ "Since November" lies behind us, where "in November" lies ahead."""
    value = found.value
    before = utterance[: found.end].lower().split()[-6:]
    if "since" in before and value.replace(tzinfo=None) > now.replace(tzinfo=None):
        with suppress(ValueError):  # the 29th of February
            value = value.replace(year=value.year - 1)
    return Moment(found.start, found.end, value, timed=found.has_time)


def _outdone(
    rules: Sequence[Reading],
    fits: Mapping[str, float],
    found: TaughtReading | None,
    removing: Set[str],
) -> bool:
    """Whether the taught reader is to be followed, and not what a reader's own rules say.

    Where both mean the same tool it is: the rules go along, and what it fills is free of by-words.
    """
    if found is None or not found.calls:
        return False
    theirs = {each.tool for each in rules}
    first = found.calls[0]
    asks = any(each.question is not None for each in rules)
    if asks and _marked(found) >= MOST_OF_IT * len(found.request):
        return False
    if first.tool in theirs:
        return not asks or not first.missing
    if (asks or not first.arguments) and first.fit < BEYOND_DOUBT:
        return False  # who asks does no harm, and a call that nothing was said for says little
    best = max((fits.get(name, 0.0) for name in theirs), default=0.0)
    clearly = 2 * CLEARLY if first.tool in removing else CLEARLY  # what removes something must be plainer
    return first.fit >= SURELY and _logit(first.fit) - _logit(best) >= clearly


def _marked(found: TaughtReading) -> int:
    """How many characters fill something: the rest is what asks for it."""
    return sum(end - start for call in found.calls for start, end in call.where.values())


def _logit(probability: float) -> float:
    held = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(held / (1 - held))


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
