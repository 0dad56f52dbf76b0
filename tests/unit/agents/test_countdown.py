"""How many days it is until a day that somebody names."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from steward.agents.countdown import countdown, counted

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("How many days until Christmas?", "2026-12-25"),
        ("how many days are there until the 24th of December", "2026-12-24"),
        ("how long is it till Friday?", "2026-11-20"),
        ("how many days left until New Year's Eve?", "2026-12-31"),
    ],
)
def test_the_day_is_kept_in_mind_while_the_clock_is_asked(said: str, day: str) -> None:
    reading = countdown(said, NOW)
    assert reading is not None
    assert (reading.tool, reading.arguments, reading.memo) == (
        "get_current_time",
        {"timezone": "Europe/Berlin"},
        {"until": day},
    )


def test_a_zone_without_a_name_is_not_named() -> None:
    reading = countdown("how many days until Christmas", NOW.astimezone(UTC))
    assert reading is not None
    assert reading.arguments == {}


@pytest.mark.parametrize(
    "said",
    [
        "how long to boil an egg?",
        "how long until the party on Friday?",
        "how many days until my birthday?",
        "how many days until January?",
        "when is Christmas?",
    ],
)
def test_what_names_no_day_or_more_than_a_day_is_left_to_others(said: str) -> None:
    assert countdown(said, NOW) is None


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
    assert counted({"until": "2026-12-25"}, today) == answer


def test_who_only_asks_the_time_is_told_the_time() -> None:
    assert counted({}, date(2026, 11, 16)) is None
