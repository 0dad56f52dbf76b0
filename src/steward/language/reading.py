"""A Reading: what a request asks of these tools, said once and never read again.

Which tools serve it and how surely, the calls that are meant with their arguments, and what each of them
lacks. The encoder behind it is a port (`RequestReader`); everything else here is arithmetic on what it marks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from steward.language.filling import FilledCall, Marks, fill
from steward.language.layout import Layout, ToolText
from steward.language.slots import Schema, Slot
from steward.language.thresholds import DEFAULT, Thresholds
from steward.language.values import Moment, Said


class RequestReader(Protocol):
    """Marks a request beside each of some tools. CPU-bound: async callers run it in a thread."""

    def tool(self, name: str, description: str, schema: Schema) -> ToolText: ...

    def mark(self, request: str, tools: Sequence[ToolText]) -> list[tuple[Layout, Marks]]: ...


@dataclass(frozen=True, slots=True)
class Readable:
    """A tool as far as a reader looks at it."""

    name: str
    description: str
    schema: Schema
    examples: tuple[str, ...] = ()


class ToolJudge(Protocol):
    """Says how surely each tool serves a request, comparable between requests. CPU-bound."""

    def fits(self, request: str, tools: Sequence[Readable]) -> Mapping[str, float]: ...


@dataclass(frozen=True, slots=True)
class ReadCall:
    tool: str
    arguments: Mapping[str, Any]
    missing: tuple[Slot, ...]  # required, and not said
    fit: float
    where: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])  # characters


@dataclass(frozen=True, slots=True)
class Reading:
    """Nothing fits where there are no calls; `fits` says how near each tool came, best first."""

    request: str
    calls: tuple[ReadCall, ...]
    fits: tuple[tuple[str, float], ...]

    @property
    def best(self) -> float:
        return self.fits[0][1] if self.fits else 0.0


def read(
    request: str,
    tools: Sequence[Readable],
    reader: RequestReader,
    *,
    moments: Sequence[Moment] = (),
    limits: Thresholds = DEFAULT,
    judged: Mapping[str, float] | None = None,
) -> Reading:
    """What the request asks of these tools: a handful, chosen before by whoever ranks.

    `judged`: how surely each of them serves the request, where more than the pair itself was looked at.
    """
    texts = [reader.tool(each.name, each.description, each.schema) for each in tools]
    pairs = zip(tools, reader.mark(request, texts), strict=True)
    known: Mapping[str, float] = {} if judged is None else judged
    marked = sorted(pairs, key=lambda each: -known.get(each[0].name, each[1][1].fit))
    fits = tuple((tool.name, known.get(tool.name, marks.fit)) for tool, (_, marks) in marked)
    if not marked or fits[0][1] < (limits.alone if judged is None else limits.judged):
        return Reading(request, (), fits)
    said = Said(request, tuple(moments))
    calls: list[ReadCall] = []
    for place, (tool, (layout, marks)) in enumerate(marked):
        if place and (marked[0][1][1].total[0] >= limits.one_tool or marks.fit < limits.also):
            continue
        if place and fits[place][1] < limits.judged:
            continue
        filled = fill(said, layout, marks, limits)
        if any(each.missing for each in filled) and (place or marks.fit < limits.denied):
            continue  # a second wish that lacks something was hardly meant, nor one that is only alike
        for each in filled:
            call = _read_call(tool.name, each, fits[place][1])
            if not any(_same(call, other) for other in calls):
                calls.append(call)
    return Reading(request, tuple(each for each in calls if not _is_less(each, calls)), fits)


def _is_less(call: ReadCall, calls: Sequence[ReadCall]) -> bool:
    """Whether another call asks the same and more: "his etchings, 15 at most" is one wish."""
    return any(
        call.tool == other.tool
        and len(call.arguments) < len(other.arguments)
        and all(
            name in other.arguments and other.arguments[name] == value
            for name, value in call.arguments.items()
        )
        for other in calls
    )


def _same(call: ReadCall, other: ReadCall) -> bool:
    """Whether two calls would do the same thing: nobody asks for that twice in one breath."""
    return call.tool == other.tool and call.arguments == other.arguments


def _read_call(tool: str, filled: FilledCall, fit: float) -> ReadCall:
    return ReadCall(tool, filled.arguments, filled.missing, fit, filled.where)
