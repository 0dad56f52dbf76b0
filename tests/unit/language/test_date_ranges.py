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


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("the hall for Thursday 1pm till 2.45, we are nine", "19 13:00", "19 14:45"),
        ("tomorrow 11am until 12.15", "19 11:00", "19 12:15"),
        ("from 9 until 11.15 tomorrow", "19 09:00", "19 11:15"),
        ("from 8.30 to 10 on Friday", "20 08:30", "20 10:00"),
        ("2-3.30pm on Friday", "20 14:00", "20 15:30"),
        ("between 10.20 and 11.40 tomorrow", "19 10:20", "19 11:40"),
        ("tomorrow 4pm to 5.30", "19 16:00", "19 17:30"),
    ],
)
def test_the_end_of_hours_is_read_in_the_light_of_their_start(said: str, first: str, last: str) -> None:
    assert [f"{each.value:%d %H:%M}" for each in spoken_dates(said, NOW)] == [first, last]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("stop my paper for 3 months from 1st jan", "2027-01-01"),
        ("hire the van for two weeks from Friday", "2026-11-20"),
        ("for a month from 5 March", "2027-03-05"),
        ("a locker for six weeks from 12/12/2026", "2026-12-12"),
        ("for ten days from the 3rd of December", "2026-12-03"),
        ("for one year from next Monday", "2026-11-23"),
    ],
)
def test_a_length_beside_a_date_is_no_part_of_it(said: str, day: str) -> None:
    assert [f"{each.value:%Y-%m-%d}" for each in spoken_dates(said, NOW)] == [day]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("two weeks from Friday", "2026-12-04"),
        ("set it for two weeks from now", "2026-12-02"),
        ("in 3 months", "2027-02-18"),
        ("a week after Christmas", "2027-01-01"),
        ("three days from tomorrow", "2026-11-22"),
        ("book it for a week from today", "2026-11-25"),
    ],
)
def test_a_length_that_is_counted_from_a_day_is_a_date(said: str, day: str) -> None:
    [found] = find_dates(said, NOW)
    assert f"{found.value:%Y-%m-%d}" == day
