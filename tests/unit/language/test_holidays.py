"""Holidays by name."""

from datetime import date, datetime

import pytest

from steward.language.dates.find import find_dates

NOW = datetime(2026, 11, 16, 9)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("new year's eve", "2026-12-31"),
        ("new years day", "2027-01-01"),
        ("MLK day", "2027-01-18"),
        ("valentine's day", "2027-02-14"),
        ("presidents day", "2027-02-15"),
        ("st patrick's day", "2027-03-17"),
        ("good friday", "2027-03-26"),
        ("easter", "2027-03-28"),
        ("easter monday 2028", "2028-04-17"),
        ("last easter", "2026-04-05"),
        ("mother's day", "2027-05-09"),
        ("memorial day", "2027-05-31"),
        ("father's day", "2027-06-20"),
        ("juneteenth", "2027-06-19"),
        ("labor day", "2027-09-06"),
        ("columbus day", "2027-10-11"),
        ("halloween", "2027-10-31"),
        ("veterans day", "2027-11-11"),
        ("thanksgiving", "2026-11-26"),
        ("black friday", "2026-11-27"),
        ("cyber monday", "2026-11-30"),
        ("christmas eve", "2026-12-24"),
        ("xmas", "2026-12-25"),
        ("boxing day", "2026-12-26"),
        ("thanksgiving of next year", "2027-11-25"),
        ("thanksgiving 3 years ago", "2023-11-23"),
        ("boss's day 2021", "2021-10-15"),
        ("king's day 2014", "2014-04-26"),
        ("victoria day 2026", "2026-05-18"),
        ("tax day 2028", "2028-04-17"),
        ("orthodox easter 2018", "2018-04-08"),
        ("leap day 2028", "2028-02-29"),
        ("the closest xmas to today", "2026-12-25"),
        ("advent 2026", "2026-11-29"),
    ],
)
def test_a_holiday_falls_on_its_day(text: str, day: str) -> None:
    (mention,) = find_dates(text, NOW)
    assert (mention.value.date(), mention.holiday) == (date.fromisoformat(day), True)


@pytest.mark.parametrize("text", ["leap day 2027", "palm", "mother", "labor", "Martin Luther King' day"])
def test_what_is_no_holiday_of_that_year_is_none(text: str) -> None:
    assert find_dates(text, NOW) == ()
