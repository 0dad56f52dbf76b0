"""The planner by itself, beside tools that answer nothing: what it would call for a request.

For measuring. Runs the same decisions as a conversation does; a call that it makes is taken to have worked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, assert_never

from pydantic_ai import ToolDefinition

from steward.contract.ports import Embedder
from steward.language.reading import RequestReader, ToolJudge
from steward.models.planner.dates import spoken_dates
from steward.models.planner.decisions import Ask, Call, Several, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.goals import GoalFinder
from steward.models.planner.plan import Planner
from steward.models.planner.ranking import KnownTool, Ranking
from steward.models.planner.readers import READER, Interpreter
from steward.models.reader import taught_reader

Calls = list[tuple[str, Mapping[str, Any]]]


class Bench:
    def __init__(
        self,
        embedder: Embedder,
        *,
        now: datetime,
        judge: ToolJudge,
        reader: RequestReader | None = None,
        readers: Mapping[str, Interpreter] | None = None,
    ) -> None:
        """`readers` are found by the `reader` that a tool names, as in a conversation."""
        self._finder = GoalFinder(
            Ranking(embedder),
            dates=spoken_dates,
            readers=readers or {},
            taught=reader or taught_reader(),
            judge=judge,
        )
        self._planner = Planner(self._finder)
        self._now = now

    def meant(self, request: str, tools: Sequence[Mapping[str, Any]]) -> str | None:
        """The tool that is meant first; `asked` where a reader would ask back, None where nothing fits."""
        known = [KnownTool(_definition(tool)) for tool in tools]
        goals = self._finder.read(request, known, self._now)
        first = next(iter(goals), None)
        return None if first is None else first.tool.name if first.question is None else "asked"

    def outcome(self, request: str, tools: Sequence[Mapping[str, Any]], *, most: int) -> Calls | str:
        """The calls in order, `asked` where a value is missing, `refused` where nothing fits."""
        known = [KnownTool(_definition(tool)) for tool in tools]
        dialogue = Dialogue(utterance=request)
        calls: Calls = []
        while len(calls) < most:
            decision = self._planner.decide(dialogue, known, self._now)
            match decision:
                case Ask():
                    return "asked"
                case Tell():
                    return calls or ("refused" if decision.gap else "asked")
                case Call():
                    made = (decision,)
                case Several():
                    made = decision.calls
                case _:
                    assert_never(decision)
            calls += [(each.tool, each.arguments) for each in made if not each.helper]
            steps = [
                Step(tool=each.tool, arguments=each.arguments, data={}, goal=each.goal, helper=each.helper)
                for each in made
            ]
            dialogue = replace(dialogue, steps=(*dialogue.steps, *steps))
        return calls


def _definition(tool: Mapping[str, Any]) -> ToolDefinition:
    schema = dict(tool.get("inputSchema") or {})
    return ToolDefinition(
        name=str(tool["name"]),
        description=str(tool.get("description") or ""),
        parameters_json_schema=schema if schema.get("type") == "object" else {"type": "object", **schema},
        metadata={READER: tool["reader"]} if tool.get("reader") else None,
    )
