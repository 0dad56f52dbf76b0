"""Which questions are put to one's own memory, and which are orders in the form of a question."""

from collections.abc import Mapping, Sequence

import pytest
from pydantic_ai import ToolDefinition

from steward.agents.assistant.own_knowledge import OwnKnowledge
from steward.agents.tasks.task_reader import NAME
from steward.language.reading import Readable
from steward.models.planner.ranking import KnownTool
from steward.models.planner.readers import READER

LIKELY = 0.8  # of a change to the list, though not beyond doubt


def tool(name: str, *, reads: bool) -> KnownTool:
    schema = {"type": "object", "properties": {}}
    metadata = {READER: NAME, "read_only": reads}
    return KnownTool(ToolDefinition(name=name, parameters_json_schema=schema, metadata=metadata))


class Sure:
    """A judge that is as sure of the first tool, whatever is asked."""

    def fits(self, request: str, tools: Sequence[Readable]) -> Mapping[str, float]:
        return {each.name: LIKELY if at == 0 else 0.0 for at, each in enumerate(tools)}


@pytest.mark.parametrize(
    "said",
    [
        "can we shove the hedge trimming back a week",
        "could we push the eye test to Friday",
        "can I bump the tyre change to next month?",
        "shall we put the vet off till Monday",
        "may I cross off the rent",
        "could we bring the piano tuning forward two days",
    ],
)
def test_what_is_to_be_changed_is_no_question(said: str) -> None:
    assert OwnKnowledge(judge=Sure()).served(said, [tool("update_task", reads=False)])


@pytest.mark.parametrize("said", ["when is the hedge trimming?", "is the rent paid?", "where is the vet?"])
def test_a_question_is_not_served_by_what_changes(said: str) -> None:
    assert OwnKnowledge(judge=Sure()).served(said, [tool("update_task", reads=False)]) is None


def test_a_question_is_not_served_by_a_list_that_hardly_fits() -> None:
    assert OwnKnowledge(judge=Sure()).served("can we see a castle", [tool("list_tasks", reads=True)]) is None
