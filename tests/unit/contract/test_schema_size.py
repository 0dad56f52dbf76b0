"""Schemas of other people are counted before they are used: some would keep a validator busy for years."""

import time
from typing import Any

import pytest

from steward.contract.errors import InvalidSchemaError
from steward.contract.schema import Problem, compile_schema
from steward.contract.schema_size import UNKNOWN, written_out

CHAIN: dict[str, Any] = {f"d{each}": {"$ref": f"#/$defs/d{each + 1}"} for each in range(5_000)}


def doubling(steps: int, **more: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        f"d{each}": {"allOf": [{"$ref": f"#/$defs/d{each + 1}"}] * 2} for each in range(steps)
    }
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**parts, f"d{steps}": more}}


@pytest.mark.parametrize(
    "schema",
    [
        doubling(40, type="string"),
        {"$ref": "#/$defs/d0", "$defs": {**CHAIN, "d5000": {}}},
        {"allOf": [{"$ref": "part"}] * 51, "$defs": {"part": {"$id": "part"}}},
    ],
    ids=["doubling", "a chain", "parts by name"],
)
def test_a_schema_that_grows_without_end_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchemaError, match="once its references are written out"):
        compile_schema(schema)


@pytest.mark.parametrize(
    ("schema", "parts", "circular"),
    [
        ({"type": "object", "properties": {"a": {}}}, 3, False),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "string"}}}, 5, False),
        ({"properties": {"a": {"$ref": "#"}}}, 4, True),
        ({"$ref": "#/$defs/a~1b/0", "$defs": {"a/b": [{}]}}, 4, False),
        ({"$ref": "#/$defs/none"}, 1 + UNKNOWN, True),
        ({"$ref": "#/$defs/9", "$defs": [{}]}, 2 + UNKNOWN, True),
        ({"$ref": "#name", "$defs": {"a": {"$anchor": "name"}}}, 3 + UNKNOWN, True),
        ({"$dynamicRef": "#meta"}, 1 + UNKNOWN, True),
        ({"$ref": "#/b", "b": {"$id": "b"}}, 2 + UNKNOWN, True),
        ({"$ref": "#/b", "b": {"id": "b"}}, 3, False),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "$ref": "#/b", "b": {"id": "b"}},
         2 + UNKNOWN, True),
        ({"properties": {"$ref": {"type": "string"}}}, 3, False),
    ],
)  # fmt: skip
def test_a_schemas_parts_are_counted(schema: dict[str, Any], parts: int, *, circular: bool) -> None:
    found = written_out(schema)
    assert (found.parts, found.circular) == (parts, circular)


def test_what_leads_back_to_itself_is_explained_without_going_round() -> None:
    node = {"properties": {"a": {"allOf": [{"$ref": "#/$defs/n"}] * 2}, "b": False}}
    schema = compile_schema({"required": ["a"], "$ref": "#/$defs/n", "$defs": {"n": node}})
    value: dict[str, Any] = {"b": 1}
    for _ in range(40):
        value = {"a": value}
    started = time.monotonic()
    assert schema.problems(value) == (Problem("", "it does not fit its schema"),)
    assert time.monotonic() - started < 1
    assert schema.problems({"b": {}})[0].expected == "'a' is required"
    assert schema.problems({"a": {"a": {}}}) == ()


def test_a_huge_schema_is_compiled_and_not_kept() -> None:
    schema = {"properties": {f"p{number}": {"type": "string"} for number in range(1_000)}}
    assert compile_schema(schema) is not compile_schema(schema)
    assert compile_schema(schema).accepts({"p1": "x"})
