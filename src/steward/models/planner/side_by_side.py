"""Which calls of one message may be made at once, because none needs what another does. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from steward.language.wishes import points_back
from steward.models.planner.decisions import Call
from steward.models.planner.ranking import KnownTool
from steward.models.planner.words import stems

SHORTEST_NAME = 3


def are_apart(one: str, other: str) -> bool:
    """Whether the second of two wishes is understood without the first, and about something else."""
    return not points_back(other) and frozenset(stems(one)).isdisjoint(stems(other))


@dataclass(frozen=True, slots=True)
class SideBySide:
    tools: Sequence[KnownTool] = field(repr=False)

    def may_begin(self, calls: Sequence[Call]) -> bool:
        return not calls[0].helper and self._tool(calls[0]) is not None

    def of_each_other(self, first: Call, second: Call) -> bool:
        """Whether the second may be made before the first is done.

        Only of tools that were brought: the house's own wait for nobody, or list before they act. What reads
        is not asked before what changes is done, and what both name may be made by the first.
        """
        one, other = self._tool(first), self._tool(second)
        if one is None or other is None or second.helper or (one.changes and other.reads):
            return False
        mine, theirs = set(_names(first.arguments)), set(_names(second.arguments))
        mine, theirs = mine - _choices(one), theirs - _choices(other)
        return not any(name in each or each in name for name in mine for each in theirs)

    def _tool(self, call: Call) -> KnownTool | None:
        return next((tool for tool in self.tools if tool.name == call.tool and tool.is_brought), None)


def _names(value: Any) -> Iterator[str]:
    match value:
        case str() if len(value) >= SHORTEST_NAME and any(map(str.isalpha, value)):
            yield value.lower()
        case Mapping():
            for each in cast("Mapping[str, Any]", value).values():
                yield from _names(each)
        case list() | tuple():
            for each in cast("Sequence[Any]", value):
                yield from _names(each)
        case _:
            return


def _choices(tool: KnownTool) -> set[str]:
    return {str(choice).lower() for each in tool.parameters for choice in each.choices}
