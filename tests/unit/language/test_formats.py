"""Dates, times, lengths and seasons as a description writes them."""

from datetime import datetime

import pytest

from steward.language.formats import in_format, length_in, season_of, wanted_format

AT = datetime(2025, 11, 12, 8, 30, 15)  # noqa: DTZ001 the wall clock that was said


@pytest.mark.parametrize(
    ("about", "written"),
    [
        ("Start as YYYY-MM-DDTHH:MM", "2025-11-12T08:30"),
        ("MM/DD/YYYY", "11/12/2025"),
        ("Day, DD.MM.YYYY", "12.11.2025"),
        ("Month (YYYY-MM)", "2025-11"),
        ("YYYYMMDD", "20251112"),
        ("ISO 8601 date", "2025-11-12"),
        ("ISO 8601 timestamp", "2025-11-12T08:30:15"),
        ("Time as HH:MM", "08:30"),
        ("HH:MM:SS", "08:30:15"),
        ("24-hour clock", "08:30"),
    ],
)
def test_a_moment_is_written_as_the_description_says(about: str, written: str) -> None:
    wanted = wanted_format({"description": about})
    assert wanted is not None
    assert in_format(wanted, AT) == written


def test_a_description_without_a_format_wants_none() -> None:
    assert wanted_format({"description": "The name of the place"}) is None


@pytest.mark.parametrize(
    ("about", "said", "written"),
    [
        ("Season, YYYY-YYYY", "2010/11", "2010-2011"),
        ("e.g. 2018-19", "2018/2019", "2018-19"),
        ("The season", "2010/11", None),
        ("Season, YYYY-YYYY", "last season", None),
    ],
)
def test_a_season_is_written_as_the_description_says(about: str, said: str, written: str | None) -> None:
    assert season_of({"description": about}, said) == written


@pytest.mark.parametrize(
    ("about", "said", "written"),
    [
        ("Finish time HH:MM:SS", "3 hours and 45 minutes", "03:45:00"),
        ("Finish time HH:MM:SS", "2:59:59", "02:59:59"),
        ("Length HH:MM", "90 minutes", "01:30"),
        ("Length in minutes", "90 minutes", None),
        ("Start, HH:MM", "at noon", None),
    ],
)
def test_a_length_of_time_is_written_as_a_clock_shows_it(about: str, said: str, written: str | None) -> None:
    assert length_in({"description": about}, said) == written
