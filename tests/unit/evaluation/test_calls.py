"""The suite `calls`: its numbers, its comparison and its errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from steward.contract.errors import InputError
from steward.evaluation.calls import agree, all_agree, evaluate

WEATHER = {
    "name": "get_weather",
    "description": "Get the weather forecast for a city.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "days": {"type": "integer", "description": "Number of days"},
        },
        "required": ["city"],
    },
}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "calls.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    return file


def test_the_shares_count_what_they_say(tmp_path: Path) -> None:
    right = {"name": "get_weather", "arguments": {"city": ["Lisbon"], "days": [""]}}
    numbers = evaluate(
        written(
            tmp_path,
            {"request": "What is the weather in Lisbon?", "tools": [WEATHER], "calls": [right]},
            {"request": "Sell all my shares of the railway", "tools": [WEATHER], "calls": []},
        )
    )
    assert {name: numbers[name] for name in ("n", "right", "wrong")} == {"n": 2, "right": 1.0, "wrong": 0.0}
    assert 0 < numbers["p50_ms"] <= numbers["max_ms"]


def test_a_row_without_what_it_needs_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1"):
        evaluate(written(tmp_path, {"request": "hello", "tools": []}))


@pytest.mark.parametrize(
    ("given", "accepted", "same"),
    [
        ({"city": "New-York"}, {"city": ["new york"]}, True),
        ({"city": "Rome"}, {"city": ["Oslo", "Rome"]}, True),
        ({}, {"city": ["Oslo", ""]}, True),
        ({}, {"city": ["Oslo"]}, False),
        ({"city": "Oslo", "days": 3}, {"city": ["Oslo"]}, False),
        ({"days": 3.0}, {"days": [3]}, True),
        ({"quiet": True}, {"quiet": [1]}, False),
        ({"to": ["Ana", "Bo"]}, {"to": [["ana", "bo"]]}, True),
        ({"to": ["Ana"]}, {"to": [["ana", "bo"]]}, False),
        ({"at": {"city": "Rome"}}, {"at": [{"city": ["rome"]}]}, True),
        ({"at": None}, {"at": [None]}, True),
    ],
)
def test_values_are_compared_as_people_would(
    given: dict[str, Any], accepted: dict[str, Any], same: bool
) -> None:
    assert agree(given, accepted) is same


def test_calls_agree_in_any_order_and_none_is_left_over() -> None:
    truth = [{"name": "a", "arguments": {"x": [1]}}, {"name": "b", "arguments": {}}]
    assert all_agree([("b", {}), ("a", {"x": 1})], truth)
    assert not all_agree([("b", {}), ("a", {"x": 1}), ("b", {})], truth)
    assert not all_agree([("b", {})], truth)
