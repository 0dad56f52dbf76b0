"""What the planner makes of words about tasks, with the task tools alone or beside the house's own."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, cast

from pydantic_ai import ToolDefinition

from steward.agents.assistant.builtin_reader import HOUSE, HouseReader
from steward.agents.tasks.task_reader import NAME, TaskReader
from steward.bootstrap.tools.schedule_tools import schedules_agent
from steward.contract.tool import Effect, Origin, ToolSpec
from steward.models.embedding import MiniLMEmbedder
from steward.models.planner.dates import spoken_dates
from steward.models.planner.decisions import Goal
from steward.models.planner.goals import GoalFinder
from steward.models.planner.ranking import KnownTool, Ranking
from steward.models.planner.readers import READER
from steward.models.reader import TextsApart, taught_reader
from steward.selection.fit import FitJudge
from steward.servers.tasks import definitions

WEB = ToolSpec(
    name="web_search",
    description="Search the web for current information, news and facts.",
    input_schema={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    origin=Origin.BUILTIN,
    effect=Effect.READS,
)


def read_tasks(said: str, now: datetime) -> list[Goal]:
    """With the task tools alone, as the task assistant reads."""
    return list(_finder().read(said, [_known(each, NAME) for each in task_specs()], now))


def read_with_schedules(said: str, now: datetime) -> list[Goal]:
    """With a search and the schedules beside them."""
    adding, *_ = schedules_agent(cast("Any", None)).manifest().tools
    house = [_known(each, HOUSE) for each in (adding, WEB)]
    return list(_finder().read(said, [*(_known(each, NAME) for each in task_specs()), *house], now))


@cache
def task_specs() -> Sequence[ToolSpec]:
    return [
        ToolSpec(
            name=each["name"],
            description=each["description"],
            input_schema=each["inputSchema"],
            origin=Origin.BUILTIN,
            effect=Effect.READS if each["name"] == "list_tasks" else Effect.WRITES_STORE,
        )
        for each in definitions()
    ]


def find_task_tool(name: str) -> ToolSpec | None:
    return next((each for each in task_specs() if each.name == name), None)


@cache
def _finder() -> GoalFinder:
    return GoalFinder(
        Ranking(MiniLMEmbedder()),
        dates=spoken_dates,
        readers={NAME: TaskReader(), HOUSE: HouseReader()},
        taught=taught_reader(),
        judge=FitJudge(TextsApart(), together=taught_reader()),
    )


def _known(spec: ToolSpec, reader: str) -> KnownTool:
    return KnownTool(
        ToolDefinition(
            name=spec.name,
            description=spec.description,
            parameters_json_schema=dict(spec.input_schema),
            metadata={READER: reader, "read_only": spec.effect is Effect.READS},
        )
    )
