"""Lengths of time, in the unit that a slot takes."""

import pytest

from steward.language.lengths import length_of_time, lengths_in, unit_of_time
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
        ("1h 20", 4800),
        ("1h30m", 5400),
        ("hour and a half", 1.5 * HOUR),
        ("3 hours and 45 minutes", 3.75 * HOUR),
        ("2 and a half hours", 2.5 * HOUR),
        ("a couple of hours", 2 * HOUR),
        ("7 up", None),
        ("two", None),
    ],
)
def test_a_length_is_a_number_with_its_unit(text: str, seconds: float | None) -> None:
    assert length_of_time(text) == seconds


@pytest.mark.parametrize(
    ("text", "count"), [("2 hours, then 3 hours", 2), ("1 day, 2 hours and 5 minutes", 1), ("second time", 0)]
)
def test_parts_of_smaller_and_smaller_units_are_one_length(text: str, count: int) -> None:
    assert len(lengths_in(text)) == count


@pytest.mark.parametrize("cut", ["1h", "20"])
def test_a_piece_of_a_length_stands_for_all_of_it(cut: str) -> None:
    said = "1h 20 timer"
    [slot] = slots_of({"type": "object", "properties": {"seconds": {"type": "integer"}}})
    at = said.index(cut)
    assert value_of(slot, Said(said), at, at + len(cut)) == 4800


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
