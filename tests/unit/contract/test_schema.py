from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.errors import InvalidArgumentsError, InvalidSchemaError
from steward.contract.schema import Problem, compile_schema, without_nulls

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": ["string", "null"]}},
        "role": {"enum": ["guest", "host"]},
        "code": {"type": "string", "pattern": "^[a-z]+$"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.req("SKL-FR-005", "ORC-Q03")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, Problem("", "'name' is required")),
        ({"name": 3}, Problem("name", "expected string, got number")),
        ({"name": "ana", "age": True}, Problem("age", "expected integer, got boolean")),
        ({"name": "ana", "age": None}, Problem("age", "expected integer, got null")),
        ({"name": "ana", "age": -1}, Problem("age", "does not satisfy minimum 0")),
        ({"name": "ana", "tags": ["x", 1]}, Problem("tags[1]", "expected null or string, got number")),
        ({"name": "ana", "tags": "x"}, Problem("tags", "expected array, got string")),
        ({"name": "ana", "role": "boss"}, Problem("role", 'expected one of ["guest","host"]')),
        ({"name": "anabel"}, Problem("name", "does not satisfy maxLength 5")),
        ({"name": "ana", "code": "A"}, Problem("code", 'does not satisfy pattern "^[a-z]+$"')),
        ({"name": "ana", "x": 1}, Problem("", "unknown field 'x'")),
        ([1], Problem("", "expected object, got array")),
        ({"name": {"a": 1}}, Problem("name", "expected string, got object")),
    ],
)
def test_a_violation_says_which_field_is_wrong_and_what_was_expected(value: Any, problem: Problem) -> None:
    assert compile_schema(PERSON).problems(value) == (problem,)


def test_a_valid_value_has_no_problems() -> None:
    schema = compile_schema(PERSON)
    assert (schema.problems({"name": "ana"}), schema.accepts({"name": "ana"})) == ((), True)


def test_checking_raises_with_every_problem_named() -> None:
    with pytest.raises(InvalidArgumentsError) as caught:
        compile_schema(PERSON).check({"name": 1, "age": "x"}, what="Wrong arguments for 'greet'")
    assert caught.value.code == "INVALID_ARGUMENTS"
    assert sorted(caught.value.details["problems"], key=lambda item: item["field"]) == [
        {"field": "age", "expected": "expected integer, got string"},
        {"field": "name", "expected": "expected string, got number"},
    ]


def test_many_problems_are_cut_to_a_readable_few() -> None:
    schema = compile_schema({"type": "array", "items": {"type": "string"}})
    assert len(schema.problems(list(range(100)))) == 5


@pytest.mark.parametrize(
    "schema",
    [{"type": "nonsense"}, {"$ref": "https://example.org/other.json"}, {"minimum": "x"}, {"a": object()}],
)
def test_what_is_not_a_schema_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        compile_schema(schema)
    assert caught.value.code == "INVALID_SCHEMA"


@pytest.mark.parametrize("value", [object(), {"a": object()}, {1: 2}, float("nan")])
def test_a_value_that_is_not_json_is_a_problem_and_not_a_crash(value: Any) -> None:
    schema = compile_schema({"type": "string"})
    assert (schema.accepts(value), len(schema.problems(value))) == (False, 1)


def test_equal_schemas_share_one_validator() -> None:
    assert compile_schema({"type": "object", "title": "A"}) is compile_schema(
        {"title": "A", "type": "object"}
    )


def test_a_boolean_schema_means_all_or_nothing() -> None:
    assert (compile_schema(True).accepts(1), compile_schema(False).accepts(1)) == (True, False)


def test_a_secret_or_huge_value_is_not_echoed() -> None:
    schema = compile_schema({"type": "object", "properties": {"password": {"type": "integer"}}})
    (problem,) = schema.problems({"password": "hunter2" * 10_000})
    assert str(problem) == "password: expected integer, got string"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_value_is_accepted_exactly_when_it_has_no_problems(value: Any) -> None:
    schema = compile_schema(PERSON)
    assert schema.accepts(value) == (not schema.problems(value))


ORDER = {
    "type": "object",
    "properties": {
        "item": {"type": "string"},
        "size": {"type": "string"},
        "note": {"type": ["string", "null"]},
        "ship": {"$ref": "#/$defs/address"},
        "back": {"anyOf": [{"$ref": "#/$defs/address"}, {"type": "null"}]},
        "gifts": {"type": "array", "items": {"$ref": "#/$defs/address"}},
        "any": True,
        "odd": {"$ref": "#/properties/item"},
    },
    "required": ["item"],
    "$defs": {
        "address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}
    },
}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"item": "tea", "size": None}, {"item": "tea"}),
        ({"item": None}, {"item": None}),  # required: a null there is wrong, and stays to be refused
        ({"item": "tea", "note": None}, {"item": "tea", "note": None}),  # a null with a meaning
        ({"item": "tea", "other": None}, {"item": "tea", "other": None}),
        ({"item": "tea", "ship": None}, {"item": "tea"}),
        ({"item": "tea", "back": None}, {"item": "tea", "back": None}),
        ({"item": "tea", "any": None}, {"item": "tea", "any": None}),
        ({"item": "tea", "odd": {"x": None}}, {"item": "tea", "odd": {"x": None}}),
        ({"item": "tea", "any": {"x": None}}, {"item": "tea", "any": {"x": None}}),
        ({"item": "tea", "ship": {"city": "Rome", "zip": None}}, {"item": "tea", "ship": {"city": "Rome"}}),
        ({"item": "tea", "gifts": [{"city": None}]}, {"item": "tea", "gifts": [{}]}),
    ],
)
def test_a_null_for_an_optional_value_that_takes_none_was_never_said(sent: Any, kept: Any) -> None:
    assert without_nulls(ORDER, sent) == kept


def test_what_is_nested_without_end_is_left_as_it_is() -> None:
    deep: Any = {"size": None}
    for _ in range(200):
        deep = [deep]
    assert without_nulls({"type": "array"}, deep) == deep
