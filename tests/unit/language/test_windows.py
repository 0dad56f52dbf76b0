"""Choices that are stretches of the day, by the hours that a request says."""

from datetime import UTC, datetime
from typing import Any

import pytest

from steward.language.forms.windows import meant_by_hours, slot_of_hours, stretch_in, stretches_of
from steward.language.slots import slots_of
from steward.language.values import Moment, Said
from steward.models.planner.dates import spoken_dates

NOW = datetime(2026, 11, 18, 9, tzinfo=UTC)
SHORT = ["08-10", "10-12", "12-14", "16-18", "18-20"]
HALVES = ["9am-12pm", "12pm-3pm", "3pm-6pm"]
NAMED = ["morning (8-12)", "afternoon (12-17)", "evening (17-21)", "any"]


def meant(text: str, choices: list[str], name: str = "window") -> Any:
    [slot] = slots_of({"type": "object", "properties": {name: {"enum": choices}}})
    moments = [Moment(d.start, d.end, d.value, d.has_time, d.has_day) for d in spoken_dates(text, NOW)]
    return meant_by_hours(slot, Said(text, tuple(moments)))


@pytest.mark.parametrize(
    ("text", "choices", "wanted"),
    [
        ("bring the parcel on Monday between ten and noon", SHORT, ["10-12"]),
        ("could the engineer come tomorrow at 5pm", SHORT, ["16-18"]),
        ("Saturday from 12 to 2pm for the plumber", SHORT, ["12-14"]),
        ("pick the sofa up between 4 and 5.30pm on Friday", SHORT, ["16-18"]),
        ("the boiler man may come on Tuesday after 6pm", SHORT, ["18-20"]),
        ("next Thursday, before 10am, for the flowers", SHORT, ["08-10"]),
        ("tomorrow 9am till 12pm for the carpet", HALVES, ["9am-12pm"]),
        ("the vet on Monday at 4pm", HALVES, ["3pm-6pm"]),
        ("on Sunday at 9.30 for the keys", NAMED, ["morning (8-12)"]),
        ("coal on Friday at half past six in the evening", NAMED, ["evening (17-21)"]),
    ],
)
def test_hours_mean_the_stretch_that_they_lie_in(text: str, choices: list[str], wanted: list[str]) -> None:
    assert meant(text, choices) == wanted


@pytest.mark.parametrize(
    "text", ["on Friday between 2pm and 4pm", "tomorrow at 3pm", "Monday between nine and eleven"]
)
def test_hours_that_lie_in_none_choose_none(text: str) -> None:
    assert meant(text, SHORT) == []


@pytest.mark.parametrize("text", ["on Friday please", "tomorrow morning", "whenever"])
def test_without_hours_the_choice_is_the_readers(text: str) -> None:
    assert meant(text, SHORT) is None


def test_numbers_that_are_no_hours_are_left_alone() -> None:
    assert meant("a table for five at 7pm", ["1-5", "6-10", "11-20"], "party_size") is None


@pytest.mark.parametrize("choice", ["2025-26", "A4", "size 10", "1/2-3/4", "low"])
def test_what_names_no_hours_is_no_stretch(choice: str) -> None:
    assert stretch_in(choice) is None


def test_hours_belong_to_the_slot_that_takes_a_time() -> None:
    window = {"enum": SHORT, "description": "Window"}
    time = {"type": "string", "description": "Start, HH:MM"}
    slots = slots_of({"type": "object", "properties": {"window": window, "start": time}})
    assert stretches_of(slots[0])
    assert slot_of_hours(slots) is None
    assert slot_of_hours(slots[:1]) == 0
