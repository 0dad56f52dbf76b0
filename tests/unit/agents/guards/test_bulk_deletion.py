"""Nothing is deleted wholesale because of what was left out of a call."""

from typing import Any

import pytest

from steward.agents.guards.bulk_deletion import refuse_unasked_everything
from steward.contract.errors import ErrorCode
from steward.contract.tool import ToolHints, ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {"user_id": {"type": "string"}, "id": {"type": "string"}, "tags": {"type": "array"}},
}


def spec(name: str = "forget_memory", **more: Any) -> ToolSpec:
    return ToolSpec(
        name=name, description="Forgets memories.", input_schema=SCHEMA, user_argument="user_id", **more
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"user_id": "ana"},
        {"id": None},
        {"id": " "},
        {"id": "*"},
        {"id": "%", "force": True},
        {"everything": True},
        {"tags": []},
        {"tags": ["work", "*"]},
        {"where": {}},
    ],
)
def test_a_call_that_names_nothing_is_refused(arguments: dict[str, Any]) -> None:
    refused = refuse_unasked_everything(spec(), arguments, "Forget my insurance number")
    assert refused is not None
    assert refused.code == ErrorCode.INVALID_ARGUMENTS


def test_words_that_nobody_said_ask_for_nothing() -> None:
    assert refuse_unasked_everything(spec(), {}, None) is not None


@pytest.mark.parametrize("said", ["Forget everything", "delete ALL of it", "Forget every single one"])
def test_a_person_who_asks_for_everything_is_asked_about_everything(said: str) -> None:
    assert refuse_unasked_everything(spec(), {"everything": True}, said) is None


@pytest.mark.parametrize(
    "arguments", [{"id": "7"}, {"tags": ["work"]}, {"where": {"tag": "x"}}, {"number": 0}]
)
def test_a_call_that_names_something_goes_on(arguments: dict[str, Any]) -> None:
    assert refuse_unasked_everything(spec(), arguments, "Forget it") is None


def test_a_tool_that_takes_no_choice_goes_on() -> None:
    clear = ToolSpec(name="clear_cache", description="Clears the cache.", input_schema={"type": "object"})
    assert refuse_unasked_everything(clear, {}, "Clear the cache") is None


def test_a_tool_that_destroys_nothing_goes_on() -> None:
    listing = ToolSpec(name="list_notes", description="Lists notes.", input_schema=SCHEMA)
    assert refuse_unasked_everything(listing, {}, "Show my notes") is None


def test_a_tool_that_says_it_destroys_is_believed() -> None:
    odd = ToolSpec(name="tidy", description="Tidies.", input_schema=SCHEMA, hints=ToolHints(destructive=True))
    assert refuse_unasked_everything(odd, {}, "Tidy up") is not None
