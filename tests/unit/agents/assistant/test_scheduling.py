"""A request with its times in front or behind is parted into when and what."""

from datetime import UTC, datetime

import pytest
from tests.support.taught_tasks import read_with_schedules

from steward.agents.assistant.builtin_reader import HouseReader
from steward.agents.assistant.scheduling import filled, scheduled, told
from steward.language.reading import ReadCall
from steward.models.planner.dialogue import Step

NOW = datetime(2026, 11, 16, 15, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "when", "request_"),
    [
        ("every weekday at 8 tell me what is due", "every weekday at 8", "tell me what is due"),
        ("Every Monday at 9, please send me a summary.", "Every Monday at 9", "send me a summary"),
        ("search the web for rain every evening at 6", "every evening at 6", "search the web for rain"),
        ("each day list my tasks", "each day", "list my tasks"),
    ],
)
def test_when_and_what_are_parted(said: str, when: str, request_: str) -> None:
    assert scheduled(said, NOW) == (when, request_)


@pytest.mark.parametrize(
    "said",
    [
        "what happens every Monday at the library?",
        "tell me what is due",
        "show tasks that repeat every Monday",
    ],
)
def test_without_times_of_its_own_nothing_is_scheduled(said: str) -> None:
    assert scheduled(said, NOW) is None


@pytest.mark.parametrize(
    ("said", "for_us"),
    [
        ("every weekday at 8 tell me what is due", True),
        ("every evening at 6 search the web for news about Oslo", None),
        ("every Monday take out the trash", None),
        ("remind me to take my pills every day at 9", False),
    ],
)
def test_what_is_plainly_for_steward_to_do_is_known_by_its_words(said: str, for_us: bool | None) -> None:
    put = HouseReader().put_off(said, NOW)
    assert put is not None
    assert put.for_us is for_us


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        ("every evening at 6 search the web for news about Oslo", ["add_schedule"]),
        ("every weekday at 8 tell me what is due", ["add_schedule"]),
        ("every Monday at 7 take out the trash", ["add_task"]),
        ("remind me every day at 9 to take my pills", ["add_task"]),
    ],
)
def test_what_steward_does_is_scheduled_and_what_the_person_does_is_a_task(
    said: str, tools: list[str]
) -> None:
    assert [goal.tool.name for goal in read_with_schedules(said, NOW)] == tools


def test_what_is_missing_is_asked_for() -> None:
    call = ReadCall("add_schedule", {"request": "tell me what is due"}, (), 0.9)
    assert filled(call, "schedule: tell me what is due", NOW).question == "When should I do that?"


def test_it_is_said_what_was_scheduled_and_when_it_begins() -> None:
    data = {
        "request": "tell me what is due",
        "when": "every day at 8",
        "next_at": "2999-01-02T08:00:00+00:00",
    }
    words = told(Step(tool="add_schedule", arguments={}, data=data)) or ""
    assert "“tell me what is due”, every day at 8" in words
    assert "2 Jan 2999 at 8am" in words
