"""How many days it is until a day that somebody names."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from steward.agents.assistant.countdown import AskedDay, asked_day

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("How many days until Christmas?", "2026-12-25"),
        ("how many days are there until the 24th of December", "2026-12-24"),
        ("how long is it till Friday?", "2026-11-20"),
        ("how many days left until New Year's Eve?", "2026-12-31"),
        ("how many days is it till christmas day", "2026-12-25"),
        ("how many more sleeps until the 24th?", "2026-11-24"),
        ("how long do we have to wait until new year's day", "2027-01-01"),
    ],
)
def test_the_day_is_found_that_is_waited_for(said: str, day: str) -> None:
    assert asked_day(said, NOW) == AskedDay(date.fromisoformat(day), how_far=True)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("what date is a week on Saturday?", "2026-11-28"),
        ("what day is the 24th", "2026-11-24"),
        ("What day of the week is 3 December?", "2026-12-03"),
        ("which day does Christmas fall on", "2026-12-25"),
        ("what's the date 90 days from today", "2027-02-14"),
        ("when is Easter?", "2027-03-28"),
    ],
)
def test_a_day_is_found_whose_date_is_asked_for(said: str, day: str) -> None:
    assert asked_day(said, NOW) == AskedDay(date.fromisoformat(day), how_far=False)


def test_which_day_it_is_comes_first_and_then_how_far_it_is() -> None:
    told = AskedDay(date(2026, 11, 28), how_far=False).told(date(2026, 11, 16))
    assert told == "Saturday, 28 November 2026, in 12 days."


@pytest.mark.parametrize(
    "said",
    [
        "how long to boil an egg?",
        "how long until the party on Friday?",
        "how many days until my birthday?",
        "how many days until January?",
        "what day is it?",
        "what's on Friday?",
        "when is the dentist on Friday?",
        "when do I see Ana?",
        "which day suits Ben on Friday?",
    ],
)
def test_what_names_no_day_or_more_than_a_day_is_left_to_others(said: str) -> None:
    assert asked_day(said, NOW) is None


@pytest.mark.parametrize(
    ("today", "answer"),
    [
        (date(2026, 11, 16), "39 days until Friday, 25 December 2026."),
        (date(2026, 12, 24), "1 day until Friday, 25 December 2026."),
        (date(2026, 12, 25), "That is today: Friday, 25 December 2026."),
        (date(2026, 12, 27), "That was 2 days ago: Friday, 25 December 2026."),
    ],
)
def test_days_are_counted_from_what_the_clock_says(today: date, answer: str) -> None:
    assert AskedDay(date(2026, 12, 25), how_far=True).told(today) == answer
