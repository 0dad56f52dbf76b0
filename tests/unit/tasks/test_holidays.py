"""Holidays by name, and the calendars behind them."""

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tasks.dates.find import find_dates
from steward.tasks.dates.hebrew import gregorian
from steward.tasks.dates.holidays import orthodox_easter, western_easter
from steward.tasks.dates.moon_holidays import MOON_HOLIDAYS

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
        ("hanukkah", "2026-12-04"),
        ("passover 2027", "2027-04-21"),
        ("yom kippur 2018", "2018-09-18"),
        ("purim 2024", "2024-03-23"),
        ("tisha b'av 2018", "2018-07-21"),
        ("yom haatzmaut 2018", "2018-04-18"),
        ("ramadan 2026", "2026-02-18"),
        ("eid al-fitr 2018", "2018-06-15"),
        ("eid al-adha 2018", "2018-08-21"),
        ("islamic new year 2018", "2018-09-11"),
        ("jamat ul-vida 2018", "2018-06-08"),
        ("chinese new year", "2027-02-06"),
        ("chinese new year 2024", "2024-02-10"),
        ("lantern festival 2024", "2024-02-24"),
        ("mid-autumn festival 2024", "2024-09-17"),
        ("diwali 2025", "2025-10-20"),
        ("holi 2024", "2024-03-25"),
        ("maha shivaratri 2020", "2020-02-21"),
        ("ganesh chaturthi 2019", "2019-09-02"),
        ("makar sankranti 2019", "2019-01-15"),
        ("parsi new year 2022", "2022-08-16"),
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


@given(st.integers(1583, 4099))
@settings(max_examples=200)
def test_easter_is_a_sunday_in_spring(year: int) -> None:
    assert date(year, 3, 22) <= western_easter(year) <= date(year, 4, 25)
    assert (western_easter(year).weekday(), orthodox_easter(year).weekday()) == (6, 6)


@given(st.integers(5400, 6200))
@settings(max_examples=100)
def test_the_hebrew_new_year_never_falls_on_sunday_wednesday_or_friday(year: int) -> None:
    assert gregorian(year, 7, 1).weekday() not in (6, 2, 4)


@given(st.sampled_from(sorted(MOON_HOLIDAYS)), st.integers(1600, 2400))
@settings(max_examples=300, deadline=None)
def test_a_holiday_by_the_moon_lies_in_its_year(name: str, year: int) -> None:
    day = MOON_HOLIDAYS[name](year)
    assert day is None or day.year == year
