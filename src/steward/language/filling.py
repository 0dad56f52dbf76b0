"""From what the reader marks to calls: which words fill which slot, how many calls, what is missing.

Decides jointly: no words twice, types by the schema. Owns no English and no model: numbers in, arguments out.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steward.language.forms.windows import meant_by_hours, slot_of_hours
from steward.language.layout import Layout
from steward.language.slots import Slot, SlotKind, words_of
from steward.language.thresholds import DEFAULT, Thresholds
from steward.language.values import Said, item_kind, item_of, value_of

Floats = NDArray[np.float32]
LONGEST_SPAN = 48
BEAM = 32
KEPT = 8  # spans of a slot that are weighed against those of others
OVERLAP = 3.0  # what it costs that two slots take the same words


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What the reader says of one request and one tool, as probabilities."""

    fit: float
    calls: Floats  # one, two, three, four or more calls of this tool
    total: Floats  # the same over all tools
    spans: Floats  # begins, ends, inside; slot; token
    there: Floats  # slot
    chosen: Floats  # choice
    starts: Floats  # token: begins the values of a further call
    shared: Floats  # token: belongs to every call


@dataclass(frozen=True, slots=True)
class Span:
    slot: int
    first: int
    last: int
    score: float

    def meets(self, other: "Span") -> bool:
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class FilledCall:
    arguments: Mapping[str, Any]
    missing: tuple[Slot, ...] = ()
    where: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])  # characters


def fill(said: Said, layout: Layout, marks: Marks, limits: Thresholds = DEFAULT) -> list[FilledCall]:
    """The calls of this tool that a request asks for; at least one, perhaps with something missing."""
    return _Filling(said, layout, marks, limits).calls()


class _Filling:
    def __init__(self, said: Said, layout: Layout, marks: Marks, limits: Thresholds) -> None:
        self._said = said
        self._layout = layout
        self._marks = marks
        self._limits = limits
        self._spans = [self._candidates(at) for at in range(len(layout.slots))]

    def calls(self) -> list[FilledCall]:
        several = self._several() if self._marks.calls[0] < self._limits.one_call else []
        return several if len(several) > 1 else [self._single()]

    # --- spans ---

    def _candidates(self, at: int) -> list[Span]:
        """The pieces of the request that may fill a slot, the likeliest first."""
        slot = self._layout.slots[at]
        if slot.kind in (SlotKind.CHOICE, SlotKind.BOOLEAN) or (slot.kind is SlotKind.LIST and slot.choices):
            return []
        begins, ends, inside = self._marks.spans[:, at, :]
        tokens = len(begins)
        summed = np.concatenate([[0.0], np.cumsum(inside)])
        found: list[Span] = []
        likeliest: list[int] = np.argsort(-begins)[:12].tolist()
        for first in likeliest:
            last: NDArray[np.intp] = np.arange(first, min(tokens, first + LONGEST_SPAN))
            mean: Floats = (summed[last + 1] - summed[first]) / (last + 1 - first)
            scores: Floats = np.sqrt(begins[first] * ends[last]) * (0.4 + 0.6 * mean)
            found += [
                Span(at, first, int(last[place]), float(scores[place]))
                for place in np.argsort(-scores)[:4]
                if scores[place] > self._limits.faintest
            ]
        found.sort(key=lambda each: -each.score)
        return [each for each in found if self._value(each) is not None][:24]

    def _value(self, span: Span) -> Any:
        slot = self._layout.slots[span.slot]
        read = item_of if slot.kind is SlotKind.LIST else value_of
        return read(slot, self._said, *self._characters(span))

    def _characters(self, span: Span) -> tuple[int, int]:
        return self._layout.offsets[span.first][0], self._layout.offsets[span.last][1]

    def _weight(self, span: Span) -> float:
        """How much speaks for a span: above 0 it is taken."""
        needed = self._layout.slots[span.slot].required
        there = max(float(self._marks.there[span.slot]), 1e-6)
        share = self._limits.required_there_share if needed else self._limits.there_share
        least = self._limits.required if needed else self._limits.optional
        return math.log(span.score ** (1 - share) * there**share / least)

    def _listed(self, at: int) -> list[Span]:
        slot = self._layout.slots[at]
        kept: list[Span] = []
        for span in self._spans[at]:
            least = self._limits.listed * (1.0 if kept or not slot.required else 0.25)
            if span.score >= least and not any(span.meets(each) for each in kept):
                kept.append(span)
        return sorted(kept, key=lambda each: each.first)

    # --- one call ---

    def _single(self) -> FilledCall:
        lists = {
            at: self._listed(at) for at, slot in enumerate(self._layout.slots) if slot.kind is SlotKind.LIST
        }
        chosen = self._best(frozenset(lists))
        arguments: dict[str, Any] = {}
        where: dict[str, tuple[int, int]] = {}
        for span in chosen:
            name = self._layout.slots[span.slot].name
            arguments[name] = self._value(span)
            where[name] = self._characters(span)
        for at, spans in lists.items():
            taken = [each for each in spans if not any(each.meets(other) for other in chosen)]
            values = self._list_values(at, taken or spans)
            if values:
                arguments[self._layout.slots[at].name] = values
        arguments |= self._chosen()
        return self._finished(arguments, where)

    def _best(self, lists: frozenset[int]) -> tuple[Span, ...]:
        """The set of spans that speaks most for itself, words taken twice at a cost."""
        beam: list[tuple[float, tuple[Span, ...]]] = [(0.0, ())]
        for at, spans in enumerate(self._spans):
            if at in lists:
                continue
            weighed = [(self._weight(span), span) for span in spans[:KEPT]]
            grown = list(beam)
            for total, taken in beam:
                for weight, span in weighed:
                    if weight > 0:
                        cost = sum(OVERLAP for each in taken if each.meets(span))
                        grown.append((total + weight - cost, (*taken, span)))
            beam = sorted(grown, key=lambda each: -each[0])[:BEAM]
        return beam[0][1]

    def _list_values(self, at: int, spans: Sequence[Span]) -> list[Any]:
        if not spans:
            return []
        literal = self._literal(spans)
        if literal is not None:
            return literal
        slot = self._layout.slots[at]
        values: list[Any] = []
        for span in spans:
            value = self._value(span)
            if isinstance(value, str) and item_kind(slot) is SlotKind.TEXT:
                values += [each for each in _parted(value) if each]
            elif value is not None:
                values.append(value)
        return list(dict.fromkeys(values)) if all(isinstance(each, str) for each in values) else values

    def _literal(self, spans: Sequence[Span]) -> list[Any] | None:
        """What was written in brackets is taken as written."""
        text = self._said.text
        start, end = self._characters(spans[0])[0], self._characters(spans[-1])[1]
        left, right = text.rfind("[", 0, start + 1), text.find("]", max(end - 1, 0))
        if left < 0 or right < 0 or "]" in text[left:start] or "[" in text[end:right]:
            return None
        try:
            found = json.loads(text[left : right + 1].replace("'", '"'))
        except (ValueError, RecursionError):
            return [each.strip(" \"'") for each in text[left + 1 : right].split(",")]
        return list(found) if isinstance(found, list) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    def _chosen(self) -> dict[str, Any]:
        """Choices and switches, by their own likelihood."""
        found: dict[str, Any] = {}
        for at, slot in enumerate(self._layout.slots):
            options = self._options(at)
            if not options:
                continue
            if slot.kind is SlotKind.LIST:
                hot = [value for chance, value in options if chance > self._limits.choice]
                if hot or slot.required:
                    found[slot.name] = self._as_said(at, hot) or [options[0][1]]
                continue
            by_hours = meant_by_hours(slot, self._said) if self._alone_with_hours(at) else None
            if by_hours is not None:
                found |= {slot.name: by_hours[0]} if len(by_hours) == 1 else {}
                continue
            chance, value = options[0]
            share = self._limits.there_share
            there = max(float(self._marks.there[at]), 1e-6)
            sure = chance ** (1 - share) * there**share
            if sure > self._limits.choice or (slot.required and sure > self._limits.required_choice):
                found[slot.name] = value
        return found

    def _alone_with_hours(self, at: int) -> bool:
        """Whether the hours that were said can mean no other slot than this one."""
        return slot_of_hours(self._layout.slots) == at

    def _as_said(self, at: int, values: Sequence[Any]) -> list[Any]:
        """Choices in the order in which they are named; those said in other words come last, as listed."""
        text, listed = self._said.text.lower(), self._layout.slots[at].choices
        places = {str(each): text.find(words_of(str(each)).lower()) for each in values}
        return sorted(values, key=lambda each: (places[str(each)] % (len(text) + 1), listed.index(each)))

    def _options(self, at: int) -> list[tuple[float, Any]]:
        options = [
            (float(chance), value)
            for chance, (owner, value) in zip(self._marks.chosen, self._layout.choices, strict=False)
            if owner == at
        ]
        return sorted(options, key=lambda each: -each[0])

    def _finished(self, arguments: dict[str, Any], where: dict[str, tuple[int, int]]) -> FilledCall:
        missing = tuple(slot for slot in self._layout.slots if slot.required and slot.name not in arguments)
        return FilledCall(nested(arguments, self._layout.slots), missing, where)

    # --- several calls of one tool ---

    def _several(self) -> list[FilledCall]:
        spans = self._taken()
        cuts = self._cuts(spans)
        if not cuts:
            return []
        shared = [each for each in spans if self._is_shared(each)]
        groups: list[list[Span]] = [[] for _ in range(len(cuts) + 1)]
        for span in spans:
            if span not in shared:
                groups[sum(span.first >= cut for cut in cuts)].append(span)
        calls = [self._group(group, shared) for group in groups]
        self._inherit(calls)
        self._spread_choices(calls)
        return [self._finished(arguments, where) for arguments, where in calls]

    def _taken(self) -> list[Span]:
        """All spans that are likely enough, none over another."""
        pool = [span for spans in self._spans for span in spans]
        kept: list[Span] = []
        for span in sorted(pool, key=lambda each: -each.score):
            if span.score >= self._limits.several and not any(span.meets(each) for each in kept):
                kept.append(span)
        return sorted(kept, key=lambda each: each.first)

    def _cuts(self, spans: Sequence[Span]) -> list[int]:
        """The tokens where the values of the second call and of later ones begin."""
        count = int(np.argmax(self._marks.calls)) + 1
        places = sorted(
            ((float(self._marks.starts[span.first]), span.first) for span in spans[1:]), reverse=True
        )
        sure = [place for chance, place in places if chance > 0.5]
        wanted = max(count - 1, len(sure)) if count >= 4 else max(count - 1, 1)
        return sorted({place for chance, place in places[:wanted] if chance > self._limits.start})

    def _is_shared(self, span: Span) -> bool:
        return float(self._marks.shared[span.first : span.last + 1].mean()) > 0.5

    def _group(
        self, group: Sequence[Span], shared: Sequence[Span]
    ) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
        arguments: dict[str, Any] = {}
        where: dict[str, tuple[int, int]] = {}
        best: dict[int, list[Span]] = {}
        for span in (*group, *shared):
            best.setdefault(span.slot, []).append(span)
        for at, spans in best.items():
            slot = self._layout.slots[at]
            if slot.kind is SlotKind.LIST:
                arguments[slot.name] = self._list_values(at, sorted(spans, key=lambda each: each.first))
                continue
            span = max(spans, key=lambda each: (each in group, each.score))
            arguments[slot.name] = self._value(span)
            where[slot.name] = self._characters(span)
        return arguments, where

    def _inherit(self, calls: list[tuple[dict[str, Any], dict[str, tuple[int, int]]]]) -> None:
        """A required value that was said for one call holds for the others: 'rain in Oslo and in Rome'."""
        for slot in self._layout.slots:
            if not slot.required:
                continue
            for at, (arguments, where) in enumerate(calls):
                if slot.name in arguments:
                    continue
                order = [*range(at - 1, -1, -1), *range(at + 1, len(calls))]
                giver = next((each for each in order if slot.name in calls[each][0]), None)
                if giver is not None:
                    arguments[slot.name] = calls[giver][0][slot.name]
                    if slot.name in calls[giver][1]:
                        where[slot.name] = calls[giver][1][slot.name]

    def _spread_choices(self, calls: list[tuple[dict[str, Any], dict[str, tuple[int, int]]]]) -> None:
        common = self._chosen()
        for at, slot in enumerate(self._layout.slots):
            hot = [value for chance, value in self._options(at) if chance > self._limits.choice]
            if slot.kind is SlotKind.CHOICE and len(hot) == len(calls):
                for (arguments, _), value in zip(calls, self._as_said(at, hot), strict=True):
                    arguments[slot.name] = value
            elif slot.name in common:
                for arguments, _ in calls:
                    arguments[slot.name] = common[slot.name]


def _parted(value: str) -> list[str]:
    """'milk, eggs and bread' as its members; a name with 'and' stays whole where no comma parts it."""
    if "," not in value:
        return [value]
    pieces = [piece.strip() for piece in value.split(",")]
    last = pieces[-1].removeprefix("and ").removeprefix("or ")
    return [*pieces[:-1], last]


def nested(arguments: Mapping[str, Any], slots: Sequence[Slot]) -> dict[str, Any]:
    """Dotted names as objects in objects."""
    found: dict[str, Any] = {}
    for slot in slots:
        if slot.name not in arguments:
            continue
        place = found
        for name in slot.path[:-1]:
            place = place.setdefault(name, {})
        place[slot.path[-1]] = arguments[slot.name]
    return found
