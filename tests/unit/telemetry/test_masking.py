import dataclasses
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.secret_catalogue import HARMLESS, SHAPES, filled
from tests.support.secret_shapes import IN_TEXT, IN_VALUES

from steward.telemetry.masking import MAX_DEPTH, Masker
from steward.telemetry.shapes import MASK, is_secret_name

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SECRET_NAMES = st.sampled_from(["password", "API_KEY", "authToken", "x-api-key", "Client Secret", "cookie"])


@pytest.mark.parametrize(("text", "secret"), IN_TEXT)
def test_a_secret_in_text_is_not_seen_and_its_surroundings_are(text: str, secret: str) -> None:
    masked = Masker().text(f"before {text} \nafter")
    assert secret not in masked
    assert MASK in masked
    assert masked.startswith("before ")


@pytest.mark.parametrize(("value", "secret"), [*IN_VALUES, *(({"note": text}, it) for text, it in IN_TEXT)])
def test_a_secret_in_a_value_is_not_seen_in_any_form(value: Any, secret: str) -> None:
    masker = Masker()
    assert secret not in repr(masker.value(value))
    assert secret not in masker.dumps(value).decode()
    assert secret not in masker.clip(value, 1024)
    assert orjson.loads(masker.dumps(value)) == masker.value(value)


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 4096, "usage": {"input_tokens": 12, "token_count": 5}},
        {"secretary": "Bob", "keyboard": "qwerty", "author": "Ann", "passage": "Psalm 23", "monkey": "see"},
        {"key": "ctrl-c", "primary_key": "id", "password": "", "token": None, "has_secret": True},
        {
            "text": "the basic understanding of tokens: 1500 of them, passed along; see https://example.org:8080/a@b"
        },
        {
            "text": "a task-based risk-free approach, signed by Ann on 2026-11-15 at 10:30; http://[::1]:80/a@b"
        },
        {"email": "ann@example.org", "url": "https://example.org/a?page=2", "hash": "d41d8cd98f00b204e98"},
        {"text": "Ünïcode stays: 日本語, emoji 🎉"},
        [],
        {},
    ],
)
def test_what_is_no_secret_stays_as_it_is(value: Any) -> None:
    assert Masker().value(value) == value
    assert orjson.loads(Masker().dumps(value)) == value


SEEDS = range(3)
SHORTEST_PART = 4  # shorter ones may stand in the surroundings by chance


def test_the_catalogue_is_as_long_as_it_claims() -> None:
    assert (len(set(SHAPES)) >= 150, len(set(HARMLESS)) >= 150) == (True, True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("template", SHAPES)
def test_a_shape_that_scanners_know_is_hidden_with_any_tail(template: str, seed: int) -> None:
    text, secrets = filled(template, seed)
    for shown in (Masker().text(f"before {text} after"), Masker().dumps([text]).decode()):
        assert [part for part in secrets if len(part) >= SHORTEST_PART and part in shown] == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("template", HARMLESS)
def test_what_only_looks_like_a_secret_stays(template: str, seed: int) -> None:
    text, _ = filled(template, seed)
    assert Masker().text(f"before {text} after") == f"before {text} after"


@pytest.mark.parametrize("secret", ["plainvalue", 'with "quotes" and \\', "sp ace/slash?&=", "ünïcödé-wert"])
def test_a_registered_value_is_hidden_wherever_it_stands(secret: str) -> None:
    masker = Masker()
    assert secret in masker.text(f"see {secret}")
    masker.register([secret, "", "abc"])
    value = {"a": [f"see {secret} there"], secret: 1, "j": json.dumps({"x": secret}, ensure_ascii=False)}
    for shown in (repr(masker.value(value)), masker.dumps(value).decode(), masker.clip(value, 4096)):
        assert secret not in shown
        assert orjson.dumps(secret).decode()[1:-1] not in shown
    assert masker.text("abc stays, it is too short to be told from a word") == (
        "abc stays, it is too short to be told from a word"
    )


def test_the_password_of_a_registered_address_is_hidden_on_its_own() -> None:
    masker = Masker(["postgresql://steward:opensesame@db/x", "http://[not an address"])
    assert masker.text("login failed with opensesame") == "login failed with ***"


@dataclasses.dataclass
class Thing:
    password: str


class Colour(Enum):
    RED = "red"


def test_what_is_not_json_becomes_something_readable() -> None:
    value = {
        "thing": Thing("hunter22"),
        "bytes": b"hunter22",
        "at": datetime(2026, 11, 15, tzinfo=UTC),
        "day": date(2026, 11, 15),
        "id": UUID(int=1),
        "price": Decimal("1.50"),
        "colour": Colour.RED,
        "proxy": MappingProxyType({"a": 1}),
        "pair": (1, 2),
        "set": {1},
        "huge": 2**70,
        "surrogate": "\ud800",
        Colour.RED: 1,
        7: 2,
    }
    readable = {
        "thing": "<Thing>",
        "bytes": "<bytes>",
        "at": "2026-11-15T00:00:00+00:00",
        "day": "2026-11-15",
        "id": "00000000-0000-0000-0000-000000000001",
        "price": "1.50",
        "colour": "red",
        "proxy": {"a": 1},
        "pair": [1, 2],
        "set": [1],
        "huge": "0x400000000000000000",
        "surrogate": "?",
        "red": 1,
        "7": 2,
    }
    assert Masker().value(value) == readable
    assert orjson.loads(Masker().dumps(value)) == readable


def test_a_value_that_contains_itself_ends_somewhere() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    assert Masker().dumps(loop).count(b"again") == MAX_DEPTH
    assert len(Masker().clip(loop, 100).encode()) <= 100


def test_a_clipped_value_fits_and_hides_a_secret_on_the_edge() -> None:
    masker = Masker()
    text = "x" * 1000 + " password=" + "hunter22" * 50
    assert len(masker.clip(text, 1024).encode()) <= 1024
    for shown in (masker.clip(text, 1024), masker.clip({"a": text}, 1024)):
        assert "hunter" not in shown
        assert shown.startswith(("xxx", '{"a":"xxx'))
    many = masker.clip({"items": list(range(100_000))}, 1024)
    assert len(many.encode()) <= 1024
    assert many.endswith("…")
    assert masker.clip("é" * 2000, 1024).endswith("é…")
    assert masker.clip({"a": 1}, 1024) == '{"a":1}'
    assert masker.clip("short", 1024) == "short"


@settings(deadline=None)
@given(JSON)
def test_masking_never_fails_and_changes_nothing_the_second_time(value: Any) -> None:
    masker = Masker(["registered-secret"])
    once = masker.value(value)
    assert repr(masker.value(once)) == repr(once)  # repr: NaN is not equal to itself
    orjson.loads(masker.dumps(value))
    assert len(masker.clip(value, 64).encode()) <= 64


@settings(deadline=None)
@given(SECRET_NAMES, st.text(alphabet="abcdefghij0123456789", min_size=6), JSON)
def test_nothing_stands_under_a_secret_name(name: str, secret: str, other: Any) -> None:
    value = {"other": other, "list": [{name: secret}]}
    masked = Masker().value(value)
    assert masked["list"] == [{Masker().text(name): MASK}]
    assert orjson.loads(Masker().dumps(value))["list"] == masked["list"]


WORDS = st.sampled_from(
    [
        *("password", "userPin", "conn_str", "db_pass", "tokens", "token", "auth", "key", "name", "value"),
        *("Client Secret", "basic", "bearer", "is", "to", "--pwd", "https://u:", "://", "@", "sig", "sk-"),
        *(":", "=", " ", " ", "\n", '"', "'", "\\", "{", "}", ",", "İ", "é"),
        *("a1b2c3d4e5f6", "hunter22", "ann@example.org", "x" * 70),
    ]
)
PROSE = st.lists(WORDS, max_size=8).map("".join)
SUSPECT = st.recursive(
    PROSE | st.integers(0, 99) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PROSE, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None)
@given(SUSPECT)
def test_the_quick_look_at_the_whole_misses_nothing_that_the_walk_finds(value: Any) -> None:
    masker = Masker(["é@hunter22"])
    assert orjson.loads(masker.dumps(value)) == masker.value(value)


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_registered_value_never_survives(before: str, after: str) -> None:
    assert "Zq7-secret" not in Masker(["Zq7-secret"]).text(f"{before}Zq7-secret{after}")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_name_can_be_judged(name: str) -> None:
    assert is_secret_name(name) in (True, False)
