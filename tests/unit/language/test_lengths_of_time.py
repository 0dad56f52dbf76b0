"""Lengths of time, in the unit that a slot takes."""

import pytest

from steward.language.numbers import length_of_time, unit_of_time
from steward.language.slots import slots_of
from steward.language.values import Said, value_of

HOUR = 3600


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("two days", 48 * HOUR),
        ("half an hour", HOUR / 2),
        ("an hour and a half", 1.5 * HOUR),
        ("30-minute call", HOUR / 2),
        ("7 up", None),
        ("two", None),
    ],
)
def test_a_length_is_a_number_with_its_unit(text: str, seconds: float | None) -> None:
    assert length_of_time(text) == seconds


@pytest.mark.parametrize(
    ("named", "seconds"), [("max minutes", 60), ("For how many hours", HOUR), ("limit", None)]
)
def test_the_words_about_a_slot_name_its_unit(named: str, seconds: float | None) -> None:
    assert unit_of_time(named) == seconds


@pytest.mark.parametrize(
    ("said", "value"), [("two days", 48), ("3", 3), ("90 minutes", None), ("120 minutes", 2)]
)
def test_what_was_said_is_reckoned_in_the_unit_of_the_slot(said: str, value: int | None) -> None:
    [slot] = slots_of({"type": "object", "properties": {"hours": {"type": "integer"}}})
    assert value_of(slot, Said(said), 0, len(said)) == value
