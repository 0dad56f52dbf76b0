"""A number is reckoned in the unit that its slot states."""

from typing import Any

import pytest

from steward.language.slots import slots_of
from steward.language.values import Said, value_of


def filled(text: str, piece: str, name: str, about: str, kind: str = "number") -> Any:
    [slot] = slots_of({"properties": {name: {"type": kind, "description": about}}, "required": [name]})
    start = text.index(piece)
    return value_of(slot, Said(text), start, start + len(piece))


@pytest.mark.parametrize(
    ("text", "piece", "name", "about", "value"),
    [
        ("1.79 m tall", "1.79", "height_cm", "Height", 179),
        ("compressed by 12 centimetres", "12", "displacement", "In meters.", 0.12),
        ("a kilogram of flour", "a kilogram", "flour_g", "Flour", 1000),
        ("5 feet 10 inches", "5 feet 10 inches", "height_cm", "", 177.8),
        ("90 seconds", "90", "timeout", "How long, in ms", 90_000),
        ("2 years", "2 years", "months", "Number of months", 24),
        ("60 mph", "60", "speed", "Speed in m/s", 26.8224),
        ("send $49.90 now", "49.90", "amount_cents", "Amount", 4990),
        ("49,90 € now", "49,90", "amount_cents", "Amount", 4990),
    ],
)
def test_a_measure_is_reckoned_in_the_unit_of_its_slot(
    text: str, piece: str, name: str, about: str, value: float
) -> None:
    assert filled(text, piece, name, about) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "piece", "name", "about", "value"),
    [
        ("a 10 kg weight", "10", "mass", "Mass in kg", 10),
        ("20 degrees in 5 minutes", "20", "temperature", "In celsius", 20),
        ("3 apples", "3", "length", "Length in meters or feet", 3),
        ("ticket TCK-88213", "TCK-88213", "number", "", 88_213),
        ("in 500 BC", "500", "year", "", -500),
        ("3,5,7", "3,5,7", "first", "", 3),
    ],
)
def test_a_number_without_another_unit_stays(
    text: str, piece: str, name: str, about: str, value: float
) -> None:
    assert filled(text, piece, name, about) == value


def test_a_whole_number_takes_no_part_of_an_hour() -> None:
    assert filled("90 minutes", "90 minutes", "hours", "Number of hours", "integer") is None
