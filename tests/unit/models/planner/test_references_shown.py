"""Which of several tools a reference belongs to, by the example that its description shows."""

from typing import Any

import pytest
from pydantic_ai import ToolDefinition

from steward.models.planner.goals import by_reference
from steward.models.planner.ranking import KnownTool


def tool(name: str, described: str) -> KnownTool:
    properties: dict[str, Any] = {"code": {"type": "string", "description": described}}
    schema = {"type": "object", "properties": properties, "required": ["code"]}
    return KnownTool(ToolDefinition(name=name, parameters_json_schema=schema))


TOOLS = (
    tool("cancel_court", "Code of the court, for example CT310"),
    tool("cancel_loan", "Number of the loan, e.g. LN-2044"),
    tool("cancel_claim", "Claim, such as K-77"),
    tool("cancel_table", "Reference of the table"),
)


def best(said: str, **fits: float) -> str:
    found = by_reference(said, {each.name: fits.get(each.name, 0.0) for each in TOOLS}, TOOLS)
    return max(found, key=lambda name: found[name])


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("cancel LN-88", "cancel_loan"),
        ("we no longer need ct12, drop it", "cancel_court"),
        ("K-4012 can go", "cancel_claim"),
        ("give up ln-51 please", "cancel_loan"),
        ("call off CT77, the others are ill", "cancel_court"),
        ("withdraw k-91", "cancel_claim"),
    ],
)
def test_the_form_of_a_reference_says_whose_it_is(said: str, meant: str) -> None:
    others = {each.name: 0.6 + 0.1 * at for at, each in enumerate(TOOLS[:3]) if each.name != meant}
    assert best(said, **others, **{meant: 0.4}) == meant


def test_nothing_is_turned_where_no_example_says_so() -> None:
    assert best("cancel LN-88", cancel_table=0.7, cancel_loan=0.4) == "cancel_table"
    assert best("cancel XY-88", cancel_court=0.7, cancel_loan=0.4) == "cancel_court"
    assert best("cancel LN-88", cancel_court=0.7, cancel_loan=0.05) == "cancel_court"
    assert best("cancel the loan", cancel_court=0.7, cancel_loan=0.4) == "cancel_court"
