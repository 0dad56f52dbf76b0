"""Asking to be told, and putting it off."""

from datetime import UTC, datetime, timedelta

import pytest

from steward.language.telling import asks_to_be_told
from steward.tasks.telling import PutOff, read_put_off

NOW = datetime(2026, 11, 16, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "said",
    [
        "Remind me at 5 to call Ana",
        "please wake us at 7",
        "set a reminder for the dentist tomorrow",
        "I want to be notified at noon about the cake",
    ],
)
def test_somebody_asks_to_be_told(said: str) -> None:
    assert asks_to_be_told(said)


@pytest.mark.parametrize(
    "said",
    ["Add buy milk tomorrow", "delete the old reminder", "remember to call mom", "alert the press team"],
)
def test_somebody_asks_for_something_else(said: str) -> None:
    assert not asks_to_be_told(said)


@pytest.mark.parametrize(
    ("said", "of", "minutes"),
    [
        ("snooze", "", 10),
        ("snooze it for half an hour", "it", 30),
        ("snooze 20 minutes", "", 20),
        ("snooze the dentist until 5pm", "the dentist", 90),
        ("remind me again in an hour", "", 60),
        ("remind me of that later", "", 10),
    ],
)
def test_a_reminder_is_put_off(said: str, of: str, minutes: int) -> None:
    found = read_put_off(said, NOW)
    assert found is not None
    assert found.of == of
    assert abs(found.until - NOW - timedelta(minutes=minutes)) < timedelta(minutes=1)


def test_a_day_without_an_hour_is_its_morning() -> None:
    assert read_put_off("snooze the taxes until tomorrow", NOW) == PutOff(
        "the taxes", datetime(2026, 11, 17, 9, tzinfo=UTC)
    )


@pytest.mark.parametrize("said", ["remind me at 5 to call Ana", "postpone the dentist by a day", ""])
def test_nothing_is_put_off(said: str) -> None:
    assert read_put_off(said, NOW) is None
