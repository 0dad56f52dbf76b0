"""Arguments by JSON Schema, from what was said."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.planner_talk import NOW

from steward.contract.schema import compile_schema
from steward.models.planner.arguments import fill, read_value
from steward.models.planner.dates import spoken_dates
from steward.models.planner.finding import SaidClause
from steward.models.planner.parameters import ParameterKind, parameters_of
from steward.models.planner.readers import plain_dates
from steward.models.planner.words import stems

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
DAY = {"type": "string", "format": "date"}
TEXTS = {"type": "array", "items": {"type": "string"}}
FLAG = {"type": "boolean"}
LEVEL = {"enum": ["low", "medium", "high"]}


def said(words: str) -> SaidClause:
    return SaidClause(words, tuple(plain_dates(words, NOW)))


def filled(words: str, about: str, optional: tuple[str, ...], properties: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }
    return fill(schema, said(words), tool_words=frozenset(stems(about))).values


CASES: list[tuple[str, str, tuple[str, ...], dict[str, Any], dict[str, Any]]] = [
    ("add a gizmo to fix the roof", "add gizmo", (), {"title": TEXT}, {"title": "fix the roof"}),
    ("pour it into the jar blue", "pour", (), {"jar": TEXT}, {"jar": "blue"}),
    ("how much is 17 * 23", "reckon", (), {"query": TEXT}, {"query": "17 * 23"}),
    ("tell me what time it is in Oslo", "current time", (), {"zone": TEXT}, {"zone": "Oslo"}),
    ("remember that the key is at Ana's", "save fact", (), {"text": TEXT}, {"text": "the key is at Ana's"}),
    ("search for python 3.13 releases", "search web", (), {"query": TEXT}, {"query": "python 3.13 releases"}),
    (
        "add a high priority gizmo to fix it all by 2026-12-01",
        "add gizmo",
        ("priority", "due_date"),
        {"title": TEXT, "priority": LEVEL, "due_date": DAY},
        {"title": "fix it all", "priority": "high", "due_date": "2026-12-01"},
    ),
    (
        "book a table for 4 people tomorrow at the corner bistro",
        "book table",
        (),
        {"place": TEXT, "people": WHOLE, "date": DAY},
        {"place": "the corner bistro", "people": 4, "date": "2026-11-16"},
    ),
    ("set the volume to 30 percent", "set volume", (), {"level": {**WHOLE, "maximum": 100}}, {"level": 30}),
    ("set the volume to 130", "set volume", (), {"level": {**WHOLE, "maximum": 100}}, {}),
    ("repeat 'ha' three times", "repeat", (), {"text": TEXT, "times": WHOLE}, {"text": "ha", "times": 3}),
    (
        'create box "A" with note "b c"',
        "create box",
        (),
        {"name": TEXT, "note": TEXT},
        {"name": "A", "note": "b c"},
    ),
    (
        "send 'see you' to ana@example.org",
        "send email",
        (),
        {"to": {**TEXT, "format": "email"}, "body": TEXT},
        {"to": "ana@example.org", "body": "see you"},
    ),
    ("fetch https://example.org/a.", "fetch page", (), {"url": TEXT}, {"url": "https://example.org/a"}),
    ("read ~/notes/today.txt", "read file", (), {"path": TEXT}, {"path": "~/notes/today.txt"}),
    ("tag it with red, green and blue", "tag thing", (), {"tags": TEXTS}, {"tags": ["red", "green", "blue"]}),
    ("pick 'a b' and 'c'", "pick words", (), {"words": TEXTS}, {"words": ["a b", "c"]}),
    (
        "sum 1, 2 and 3",
        "sum numbers",
        (),
        {"numbers": {"type": "array", "items": {"type": "number"}}},
        {"numbers": [1, 2, 3]},
    ),
    (
        "list gizmos including completed",
        "list gizmos",
        ("completed",),
        {"completed": FLAG},
        {"completed": True},
    ),
    (
        "list gizmos without completed",
        "list gizmos",
        ("completed",),
        {"completed": FLAG},
        {"completed": False},
    ),
    ("list gizmos", "list gizmos", ("completed",), {"completed": FLAG}, {}),
    (
        "show the first 5 gizmos",
        "list gizmos",
        ("limit",),
        {"limit": {**WHOLE, "description": "How many gizmos"}},
        {"limit": 5},
    ),
    ("query: dogs; limit=3", "search", (), {"query": TEXT, "limit": WHOLE}, {"query": "dogs", "limit": 3}),
    ("done: yes, level: HIGH", "set", (), {"done": FLAG, "level": LEVEL}, {"done": True, "level": "high"}),
    (
        "what time is it in Berlin?",
        "get current time",
        ("timezone",),
        {"timezone": TEXT},
        {"timezone": "Berlin"},
    ),
    ("what is the weather in Oslo", "get weather", (), {"city": TEXT}, {"city": "Oslo"}),
    (
        "place an order for 2 lamps",
        "place order",
        (),
        {
            "order": {
                "type": "object",
                "properties": {"item": TEXT, "amount": WHOLE},
                "required": ["item", "amount"],
            }
        },
        {"order": {"item": "lamps", "amount": 2}},
    ),
    (
        "convert 3.5 miles",
        "convert",
        (),
        {"value": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "unit": {"enum": ["miles", "km"]}},
        {"value": 3.5, "unit": "miles"},
    ),
    ("add a gizmo", "add gizmo", (), {"title": TEXT}, {}),
    ("call code abc", "call code", (), {"code": {**TEXT, "pattern": "^[0-9]+$"}}, {}),
]


@pytest.mark.parametrize(
    ("words", "about", "optional", "properties", "values"), CASES, ids=[c[0] for c in CASES]
)
def test_values_are_taken_from_what_was_said(
    words: str, about: str, optional: tuple[str, ...], properties: dict[str, Any], values: dict[str, Any]
) -> None:
    assert filled(words, about, optional, properties) == values


def test_references_in_a_schema_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"level": {"$ref": "#/$defs/Level"}, "other": {"$ref": "https://elsewhere.example"}},
        "$defs": {"Level": {"enum": ["low", "high"]}},
        "required": ["level"],
    }
    assert [each.kind for each in parameters_of(schema)] == [ParameterKind.CHOICE, ParameterKind.TEXT]
    assert fill(schema, said("make it low"), tool_words=frozenset()).values == {"level": "low"}


@pytest.mark.parametrize(
    ("schema", "words", "value"),
    [
        (TEXT, "water the plants", "water the plants"),
        (FLAG, "yes please", True),
        (FLAG, "nope", False),
        (FLAG, "perhaps", None),
        (LEVEL, "the high one", "high"),
        (LEVEL, "purple", None),
        (WHOLE, "make it seven", 7),
        (WHOLE, "a few", None),
        (DAY, "tomorrow", "2026-11-16"),
        (TEXTS, "a, b and c", ["a", "b", "c"]),
        ({"type": "object"}, "anything", None),
        ({"type": "string", "format": "date-time"}, "2026-12-01 09:30", "2026-12-01T09:30:00+00:00"),
    ],
)
def test_an_answer_to_a_question_is_read_by_the_parameter_it_was_asked_for(
    schema: dict[str, Any], words: str, value: Any
) -> None:
    [parameter] = parameters_of({"properties": {"it": schema}, "required": ["it"]})
    assert read_value(parameter, said(words)) == value


def test_a_date_that_never_was_is_no_date() -> None:
    assert plain_dates("on 2026-02-31", NOW) == []


def test_dates_are_read_as_people_say_them() -> None:
    words = "book the hall next friday at 5pm for the choir"
    schema = {
        "type": "object",
        "properties": {"purpose": TEXT, "starts_at": {"type": "string", "format": "date-time"}},
        "required": ["purpose", "starts_at"],
    }
    read = SaidClause(words, tuple(spoken_dates(words, NOW)))
    assert fill(schema, read, tool_words=frozenset(stems("book hall"))).values == {
        "purpose": "the choir",
        "starts_at": "2026-11-20T17:00:00+00:00",
    }


SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "title": st.just(TEXT),
        "level": st.just(LEVEL),
        "count": st.just({**WHOLE, "minimum": 0}),
        "when": st.just(DAY),
        "tags": st.just(TEXTS),
        "done": st.just(FLAG),
        "thing_id": st.just(TEXT),
        "nested": st.just({"type": "object", "properties": {"note": TEXT}}),
    },
)


@given(st.text(max_size=80), SCHEMAS)
def test_whatever_is_said_each_value_fits_its_schema(words: str, properties: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    values = fill(schema, said(words), tool_words=frozenset()).values
    assert compile_schema({"type": "object", "properties": properties}).problems(values) == ()
