"""What was asked for: the tools that an utterance means, as the taught reader sees them.

Owns how a reading becomes goals. What the calls of a domain's own tools mean is said by the reader that they
bring along (`Interpreter`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from steward.language.by_name import ordered_name
from steward.language.deeds import MOST_SENTENCES, deeds, moved_each, moved_last, sentences_of
from steward.language.forms.examples import forms_in, shown_forms
from steward.language.reading import ReadCall, RequestReader, ToolJudge, read
from steward.language.reading import Reading as TaughtReading
from steward.language.repairs import mended
from steward.language.thresholds import DEFAULT
from steward.language.values import Moment
from steward.language.wishes import enumerated, gapped, halves, ordered, orders, points, tells
from steward.models.acts import acts_in
from steward.models.planner.decisions import Goal
from steward.models.planner.finding import SaidClause
from steward.models.planner.parameters import ParameterKind
from steward.models.planner.ranking import KnownTool, Ranking, Scored, can_look_up
from steward.models.planner.readers import (
    READER,
    DateFound,
    DateReader,
    Deferring,
    InterpretedCall,
    Interpreter,
    PutOffRequest,
    ReaderQuestion,
    SoleReader,
    SpeakingReader,
)
from steward.models.planner.words import STOP, split_name, stems, without_tag

MOST_JUDGED = 140  # tools that are judged; of more, those that the words and their meaning rank first
BEYOND_DOUBT = 0.9  # how surely a tool must be meant whose arguments are no everyday words
_JOINING = frozenset({"the", "a", "an", "my", "our", "some", "and", ","})
ALSO_LIKELY = 0.15  # how surely a tool must fit that is meant by the form of a reference
BEHIND = 0.01  # how far a search comes behind the tool that it yields to
FIRST_READ = 5  # tools that are read beside a request
QUOTES = '"\u201c\u201d\u2018'


class GoalFinder:
    def __init__(
        self,
        ranking: Ranking,
        *,
        dates: DateReader,
        readers: Mapping[str, Interpreter],
        taught: RequestReader,
        judge: ToolJudge | None = None,
    ) -> None:
        self._ranking = ranking
        self._dates = dates
        self._readers = readers
        self._taught = taught
        self._judge = judge

    def read(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal]:
        """What an utterance asks for, in order; empty where nothing fits."""
        name = ordered_name(utterance)
        for tool in tools:
            if tool.name == name:
                return self._read(utterance, [tool], now) or [Goal(tool=tool, clause=utterance, score=1.0)]
        utterance = without_tag(mended(utterance, lambda text: self._moments(text, now)))
        for name, reader in self._readers.items():
            if not isinstance(reader, Deferring) or all(tool.name != reader.puts_off for tool in tools):
                continue
            put = reader.put_off(utterance, now)
            if put is not None and self._is_ours(put, tools, now):
                return read_goals(name, [put.reading], tools, utterance)
            if put is not None or self._is_done_once(reader.puts_off, utterance, tools):
                tools = [tool for tool in tools if tool.name != reader.puts_off]
        return self._several(utterance, tools, now) or self._read(utterance, tools, now)

    def wishes(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[str]:
        """The wishes of one message, each to be followed on its own; empty where it is one."""
        listed = enumerated(utterance)
        if listed:
            return listed
        utterance = self._wished(utterance)
        named = frozenset(_verb(tool) for tool in tools if tool.is_brought)
        shared = gapped(utterance)
        before, moved = moved_last(utterance, now)
        if moved:
            return [*(each for each in before if self._is_wish(each, tools, now)), *moved]
        said = ordered(utterance, named) or shared or (utterance,)
        each_of = [deeds(part) or moved_each(part, now) or (part,) for part in said]
        if any(len(found) > 1 for found in each_of):
            return [wish for found in each_of for wish in found]
        if len(said) < 2:
            return ()
        parts = list(said)
        # A verb that is said again, and one that is left out but for its two ends, part without a doubt.
        again = sum(part.split()[0].lower() == parts[0].split()[0].lower() for part in parts) > 1
        if said == shared or (again and len(parts) > 2):
            return parts
        whole = self._read(utterance, tools, now)
        apart = sum(max(len(self._read(part, tools, now)), 1) for part in parts)
        # "Add water the plants and change the bulb": as one it is said as well, and of one kind.
        alike = len({goal.tool.name for goal in whole}) == 1
        return () if alike and len(whole) >= apart else parts

    def after_small_talk(self, utterance: str) -> str:
        """A message from its first sentence on that does more than talk: a greeting asks for nothing."""
        sentences = sentences_of(utterance)
        listened_to = 2 <= len(sentences) <= MOST_SENTENCES
        if not listened_to or ":" in utterance or any(mark in utterance for mark in QUOTES):
            return utterance
        plain = (
            orders(each) or tells(each) or acts_in(each).talk < DEFAULT.surely_talk for each in sentences
        )
        first = next((at for at, asks in enumerate(plain) if asks), 0)
        rest = " ".join(sentences[first:])
        return utterance if points(rest) else rest  # "I work at a bank. Remember that."

    def _wished(self, utterance: str) -> str:
        """A message without the sentences that only talk; all of it where nothing else is left."""
        sentences = sentences_of(utterance)
        listened_to = 2 <= len(sentences) <= MOST_SENTENCES
        if not listened_to or any(mark in utterance for mark in QUOTES):
            return utterance
        kept = [each for each in sentences if orders(each) or tells(each) or not self._only_talks(each)]
        return " ".join(kept) if 0 < len(kept) < len(sentences) else utterance

    def _is_wish(self, sentence: str, tools: Sequence[KnownTool], now: datetime) -> bool:
        """Whether a sentence that orders nothing asks for something to be done, or tells that it was."""
        goals = () if tells(sentence) else self._read(sentence, tools, now)
        return tells(sentence) or any(
            not goal.tool.reads and goal.score >= BEYOND_DOUBT and goal.question is None for goal in goals
        )

    def _only_talks(self, sentence: str) -> bool:
        return acts_in(sentence).only_talks

    def _several(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal]:
        """What several wishes ask for, each read on its own; empty where one of them is no wish."""
        wishes = self.wishes(utterance, tools, now)
        if not wishes:
            return self._two(utterance, tools, now)
        read = [self._read(wish, tools, now) for wish in wishes]
        goals = _with_wishes(read, wishes) if all(read) else []
        return [replace(goal, clause=utterance, place=place) for place, goal in enumerate(goals)]

    def _moments(self, text: str, now: datetime) -> list[Moment]:
        return [replace(_moment(each), dated=each.has_day) for each in self._dates(text, now)]

    def _two(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal]:
        """Two wishes that no known verb parts: each half asks, beyond doubt, something of another tool."""
        parts = halves(utterance)
        read = [self._read(part, tools, now) for part in parts]
        sure = all(goals and goals[0].score >= BEYOND_DOUBT for goals in read)
        goals = _with_wishes(read, parts)
        if not sure or len({goal.tool.name for goal in goals}) < len(parts) or not parts:
            return ()
        return [replace(goal, clause=utterance, place=place) for place, goal in enumerate(goals)]

    def _is_done_once(self, puts_off: str, utterance: str, tools: Sequence[KnownTool]) -> bool:
        """Whether a tool that keeps the time itself may be meant: what comes once needs no schedule then."""
        fits = self._fits(utterance, tools)
        timed = (tool.name for tool in tools if tool.changes and tool.name != puts_off and _keeps_time(tool))
        return max((fits.get(name, 0.0) for name in timed), default=0.0) >= DEFAULT.judged

    def _is_ours(self, put: PutOffRequest, tools: Sequence[KnownTool], now: datetime) -> bool:
        """Whether what is put off is for tools to do; what people do is theirs."""
        if put.for_us is not None:
            return put.for_us
        asked = self._read(put.request, tools, now)
        return bool(asked) and asked[0].tool.reads

    def _read(self, utterance: str, tools: Sequence[KnownTool], now: datetime) -> Sequence[Goal]:
        fits = self._fits(utterance, tools)
        sole = {name for name in self._sole() if fits.get(name, 0.0) < BEYOND_DOUBT}
        readable = {tool.name: tool for tool in tools if tool.name not in sole}
        found = self._taught_reading(utterance, readable, fits, now)
        goals: list[Goal] = []
        for name, calls in _by_reader(found.calls, readable):
            reader = self._readers.get(name) if name else None
            if reader is not None:
                told = reader.interpret(calls, utterance, unasked=_unasked(found), now=now)
                goals += read_goals(name, told, tools, utterance)
            else:
                goals += [
                    Goal(
                        tool=readable[call.tool], clause=utterance, arguments=call.arguments,
                        score=call.fit, read=True,
                    )
                    for call in calls
                ]  # fmt: skip
        return [replace(goal, place=place) for place, goal in enumerate(goals)]

    def is_command(self, utterance: str, tools: Sequence[KnownTool], now: datetime, *, but: str = "") -> bool:
        """Whether something is asked for beyond doubt, of any tool but this, and not merely named."""
        fits = self._fits(utterance, tools)
        said = frozenset(stems(utterance))
        sure = (tool for tool in tools if len(tool.name_stems) > 1 and tool.name_stems <= said)
        least = DEFAULT.judged if any(sure) else BEYOND_DOUBT
        if max(fits.values(), default=0.0) < least:
            return False
        found = self._taught_reading(utterance, {tool.name: tool for tool in tools}, fits, now)
        return any(call.tool != but for call in found.calls[:1]) and not _unasked(found)

    def _fits(self, utterance: str, tools: Sequence[KnownTool]) -> Mapping[str, float]:
        """How surely each tool serves this; of tools that both may, descriptions say which is preferred."""
        near = tools
        if self._judge is None or len(tools) > MOST_JUDGED:
            most = 3 * FIRST_READ if self._judge is None else MOST_JUDGED
            near = [each.tool for each in self._ranking.rank(utterance, tools)[:most]]
        readable = [tool.readable for tool in near]
        if self._judge is None:
            fits = dict(read(utterance, readable, self._taught).fits)
        else:
            fits = self._judge.fits(utterance, readable)
        fits = by_reference(utterance, self._ranking.settled(utterance, fits, near), near)
        return _made_for_it(utterance, fits, near)

    def _taught_reading(
        self, utterance: str, tools: Mapping[str, KnownTool], fits: Mapping[str, float], now: datetime
    ) -> TaughtReading:
        """The tools that fit best, beside the request."""
        ordered = sorted((name for name in fits if name in tools), key=lambda name: -fits[name])
        moments = [_moment(each) for each in self._dates(utterance, now)]
        some = [tools[name].readable for name in ordered[:FIRST_READ]]
        limits = replace(DEFAULT, judged=self._least([tools[name] for name in ordered], utterance))
        return read(utterance, some, self._taught, moments=moments, judged=fits, limits=limits)

    def _least(self, tools: Sequence[KnownTool], utterance: str) -> float:
        """How surely the first of these must be meant, the best one first.

        Who commands a specialist means its subject, more so by the verb of its tool; who asks it something
        may ask about anything.
        """
        subjects = {tool.metadata.get(READER) for tool in tools}
        specialist = len(subjects) == 1 and None not in subjects
        if self._judge is None or (specialist and not tools[0].reads):
            first = stems(utterance)[:1]
            return DEFAULT.named_fit if tools[0].name_stems.intersection(first) else DEFAULT.fit
        return DEFAULT.judged

    def _sole(self) -> set[str]:
        soles = [each for each in self._readers.values() if isinstance(each, SoleReader)]
        return {name for each in soles for name in each.sole}

    def said(self, text: str, now: datetime) -> SaidClause:
        return SaidClause(text, tuple(self._dates(text, now)))

    def rank(self, text: str, tools: Sequence[KnownTool]) -> list[Scored]:
        return self._ranking.rank(text, tools)

    def speaker(self, name: str | None) -> SpeakingReader | None:
        """The reader of this name, where it also speaks."""
        reader = self._readers.get(name) if name else None
        return reader if isinstance(reader, SpeakingReader) else None

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


def _with_wishes(read: Sequence[Sequence[Goal]], wishes: Sequence[str]) -> list[Goal]:
    return [replace(goal, wish=wish) for goals, wish in zip(read, wishes, strict=True) for goal in goals]


def _verb(tool: KnownTool) -> str:
    """What an order to use it may begin with: "pause" of `music__pause_playback`."""
    words = split_name(tool.name.rpartition("__")[2])
    return words[0] if words and words[0] not in STOP else ""


def _keeps_time(tool: KnownTool) -> bool:
    return any(parameter.kind is ParameterKind.DATE for parameter in tool.parameters)


def _made_for_it(
    utterance: str, fits: Mapping[str, float], tools: Sequence[KnownTool]
) -> Mapping[str, float]:
    """A search of the house's own, for anything, yields to a tool that was brought for this very thing."""
    best = max((fits.get(tool.name, 0.0) for tool in tools if tool.is_brought), default=0.0)
    if best < DEFAULT.judged_of_many:
        return fits
    said = frozenset(stems(utterance))
    own = (tool for tool in tools if can_look_up(tool) and not tool.is_brought)
    searches = {tool.name for tool in own if not tool.name_stems & said}
    return {name: min(fit, best - BEHIND) if name in searches else fit for name, fit in fits.items()}


def by_reference(
    utterance: str, fits: Mapping[str, float], tools: Sequence[KnownTool]
) -> Mapping[str, float]:
    """ "Cancel RB-2207": of two that cancel, the one is meant whose description shows such a reference."""
    said = forms_in(utterance)
    shown = {tool.name: shown_forms(tool.readable.schema) for tool in tools} if said else {}
    best = max(fits, key=lambda name: fits[name], default="")
    meant = [name for name in fits if said & shown.get(name, frozenset()) and fits[name] >= ALSO_LIKELY]
    if not meant or not shown.get(best) or best in meant:
        return fits
    other = max(meant, key=lambda name: fits[name])
    return {**fits, best: fits[other], other: fits[best]}


def _moment(found: DateFound) -> Moment:
    return Moment(found.start, found.end, found.value, timed=found.has_time)


def _by_reader(calls: Sequence[ReadCall], tools: Mapping[str, KnownTool]) -> list[tuple[str, list[ReadCall]]]:
    """Calls in their order; what one reader is to interpret stands together."""
    groups: list[tuple[str, list[ReadCall]]] = []
    for call in calls:
        name = str(tools[call.tool].metadata.get(READER) or "")
        if groups and groups[-1][0] == name:
            groups[-1][1].append(call)
        else:
            groups.append((name, [call]))
    return groups


def _unasked(found: TaughtReading) -> bool:
    """Whether every word fills something, but for articles, so that none asks for it: "the milk"."""
    spans = [span for call in found.calls for span in call.where.values()]
    unmarked = [
        char for at, char in enumerate(found.request) if not any(start <= at < end for start, end in spans)
    ]
    left = "".join(unmarked).lower().strip(" .!?").split()
    return bool(found.calls) and all(word in _JOINING for word in left)


def read_goals(
    reader: str,
    readings: Sequence[InterpretedCall],
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
            read=not reading.mentions and reading.finish is None,
            question=ReaderQuestion(reading.question)
            if isinstance(reading.question, str)
            else reading.question,
            memo=dict(reading.memo),
            reader=reader,
            place=place,
            reply_to=reply_to,
        )
        for place, reading in enumerate(readings)
        if reading.tool in by_name
    ]


def state_text(state: Mapping[str, Any], key: str) -> str:
    value = state.get(key)
    return value if isinstance(value, str) else ""


def state_map(state: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = state.get(key)
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}
