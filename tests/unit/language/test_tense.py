"""Whether a date lies behind us, by the words before it."""

import pytest

from steward.language.dates.tense import behind_us


@pytest.mark.parametrize(
    ("said", "past"),
    [
        ("had dinner with the Okafors on monday", True),
        ("i paid 64.20 for the groceries on saturday", True),
        ("we stayed at the Grand from friday", True),
        ("how many steps since monday", True),
        ("My phone broke on thursday", True),
        ("book the room for monday", False),
        ("I need the car on friday", False),
        ("we have a call on monday", False),
        ("send the report that Ana finished to Bob on friday", False),
        ("i bought a lamp, deliver it on friday", False),
    ],
)
def test_what_was_done_lies_behind_us(said: str, *, past: bool) -> None:
    place = max(said.rfind(day) for day in ("monday", "saturday", "friday", "thursday"))
    assert behind_us(said, place) == past
