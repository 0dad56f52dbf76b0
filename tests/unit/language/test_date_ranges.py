"""Both ends of a stretch of time, and days that are counted in weeks."""

from datetime import UTC, datetime

import pytest

from steward.language.dates.find import find_dates
from steward.models.planner.dates import spoken_dates

NOW = datetime(2026, 11, 18, 9, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("hotels from Friday to Sunday", "2026-11-20", "2026-11-22"),
        ("Dec 5 through Dec 9", "2026-12-05", "2026-12-09"),
        ("Dec 5-9", "2026-12-05", "2026-12-09"),
        ("between Monday and Wednesday", "2026-11-23", "2026-11-25"),
        ("from the 23rd until the 27th", "2026-11-23", "2026-11-27"),
    ],
)
def test_a_stretch_gives_both_of_its_days(said: str, first: str, last: str) -> None:
    assert [f"{each.value:%Y-%m-%d}" for each in spoken_dates(said, NOW)] == [first, last]


def test_a_stretch_of_hours_ends_at_its_hour() -> None:
    assert [f"{each.value:%d %H}" for each in spoken_dates("tomorrow from 2 to 4pm", NOW)] == [
        "19 14",
        "19 16",
    ]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("by friday week.", "2026-11-27"),
        ("tomorrow week", "2026-11-26"),
        ("a week tomorrow", "2026-11-26"),
        ("two weeks today", "2026-12-02"),
        ("a fortnight tomorrow", "2026-12-03"),
    ],
)
def test_weeks_are_counted_from_a_day(said: str, day: str) -> None:
    [found] = find_dates(said, NOW)
    assert f"{found.value:%Y-%m-%d}" == day


@pytest.mark.parametrize("said", ["friday week plan", "the tuesday week's menu"])
def test_a_week_that_is_part_of_a_name_counts_nothing(said: str) -> None:
    [found] = find_dates(said, NOW)
    assert said[slice(*found.span)] in ("friday", "tuesday")


@pytest.mark.parametrize(
    ("said", "day"),
    [("since Monday", "2026-11-16"), ("since November", "2026-11-01"), ("since the 3rd", "2026-11-03")],
)
def test_since_lies_behind_us(said: str, day: str) -> None:
    [found] = spoken_dates(said, NOW)
    assert f"{found.value:%Y-%m-%d}" == day
