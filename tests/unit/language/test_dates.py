# ruff: noqa: DTZ001, SIM905
"""Reading dates in running text."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.language.date_phrases import DATES, NOT_DATES, NOW

from steward.language.dates.calendar import Grain, OutOfCalendarError, floor, nth_weekday, shift
from steward.language.dates.find import DateNotUnderstoodError, find_dates, parse_due
from steward.language.dates.mention import DateMention

BERLIN = ZoneInfo("Europe/Berlin")
_VOCABULARY = (
    "next last this monday fri may march 3 15th the of at in on from to until end half past quarter "
    "noon pm am 5 tomorrow week month year two weeks ago days 2016 12/25 9999 10000 year first second "
    "- / : . , 's q3 christmas easter evening tonight every after before between and st h eod 31 "
    "february 0 99 minutes couple closest upcoming weekend rest mid summer 90s now halloween "
).split()


@pytest.mark.parametrize(("text", "value", "grain"), DATES)
def test_a_phrase_means_its_date(text: str, value: str, grain: str) -> None:
    first = find_dates(text, NOW)[0]
    assert (first.value, first.grain) == (datetime.fromisoformat(value), grain)


@pytest.mark.parametrize("text", NOT_DATES)
def test_what_is_no_date_gives_none(text: str) -> None:
    assert find_dates(text, NOW) == ()


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_an_error_and_spans_lie_inside_it(text: str) -> None:
    last = 0
    for mention in find_dates(text, NOW):
        start, end = mention.span
        assert last <= start < end <= len(text)
        last = end


@given(st.lists(st.sampled_from(_VOCABULARY), max_size=12).map(" ".join), st.booleans())
@settings(max_examples=600, deadline=None)
def test_any_heap_of_date_words_is_read_without_an_error(text: str, future: bool) -> None:
    for mention in find_dates(text, NOW, prefer_future=future):
        assert mention.start <= mention.value
        assert mention.end is None or mention.end > mention.value


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)))
@settings(max_examples=150, deadline=None)
def test_every_moment_can_be_now(now: datetime) -> None:
    phrases = (
        "tomorrow",
        "next week",
        "last month",
        "in 3 years",
        "monday",
        "easter",
        "next weekend",
        "at 5",
        "halloween",
    )
    for text in (
        *phrases,
        "the 31st",
        "summer 2027",
        "end of next year",
        "this past winter",
        "eom",
        "last easter",
    ):
        assert len(find_dates(text, now)) <= 1


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2199, 12, 31)))
@settings(max_examples=200, deadline=None)
def test_an_iso_date_is_itself(moment: datetime) -> None:
    exact = moment.replace(microsecond=0)
    text = exact.isoformat()
    assert find_dates(text, NOW) == (DateMention(exact, Grain.SECOND, (0, len(text))),)


def test_dates_take_the_zone_of_now() -> None:
    now = datetime(2026, 3, 28, 10, tzinfo=BERLIN)
    (mention,) = find_dates("tomorrow at 9am", now)
    assert mention.value == datetime(2026, 3, 29, 9, tzinfo=BERLIN)
    assert mention.value.utcoffset() == timedelta(hours=2)  # summer time began that night


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4pm CET", datetime(2026, 11, 16, 15, tzinfo=UTC)),
        ("thursday 8:00 PST", datetime(2026, 11, 19, 16, tzinfo=UTC)),
        ("friday 9 am (IST)", datetime(2026, 11, 20, 3, 30, tzinfo=UTC)),
        ("2026-11-20T10:00:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("2026-11-20T10:00:00+05:30", datetime(2026, 11, 20, 4, 30, tzinfo=UTC)),
        ("2026-11-20T10:00:00-0800", datetime(2026, 11, 20, 18, tzinfo=UTC)),
        ("friday at 5pm UTC+2", datetime(2026, 11, 20, 15, tzinfo=UTC)),
        ("friday 5pm ET", datetime(2026, 11, 20, 22, tzinfo=UTC)),
        ("friday 5pm pacific time", datetime(2026, 11, 21, 1, tzinfo=UTC)),
    ],
)
def test_a_named_zone_is_converted_to_the_zone_of_now(text: str, expected: datetime) -> None:
    now = datetime(2026, 11, 16, 9, tzinfo=timezone(timedelta(hours=1)))
    (mention,) = find_dates(text, now)
    assert (mention.value, mention.value.tzinfo) == (expected, now.tzinfo)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("monday", "2016-10-31"),
        ("december 24", "2015-12-24"),
        ("the 20th", "2016-10-20"),
        ("at 5pm", "2016-11-06 17:00"),
        ("december", "2015-12-01"),
        ("christmas", "2015-12-25"),
    ],
)
def test_the_past_is_read_where_it_is_preferred(text: str, value: str) -> None:
    (mention,) = find_dates(text, NOW, prefer_future=False)
    assert mention.value == datetime.fromisoformat(value)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("from dec 5 to dec 9", "2016-12-10"),
        ("december 5-9", "2016-12-10"),
        ("9am to 5pm tomorrow", "2016-11-08 17:00"),
        ("3-5pm", "2016-11-07 17:00"),
        ("11-1pm tomorrow", "2016-11-08 13:00"),
        ("tomorrow morning", "2016-11-08 12:00"),
        ("this weekend", "2016-11-14"),
        ("the next 3 days", "2016-11-11"),
        ("the rest of the week", "2016-11-14"),
        ("the 90s", "2000-01-01"),
    ],
)
def test_an_interval_has_an_end(text: str, end: str) -> None:
    assert find_dates(text, NOW)[0].end == datetime.fromisoformat(end)


def test_a_sentence_keeps_the_words_around_its_dates() -> None:
    text = "Meet Bob next tuesday at 3pm, or on friday if he can't"
    assert [text[m.span[0] : m.span[1]] for m in find_dates(text, NOW)] == ["next tuesday at 3pm", "friday"]


def test_a_time_without_a_day_says_so() -> None:
    assert [m.time_only for m in find_dates("at 5pm or tomorrow", NOW)] == [True, False]


def test_a_holiday_is_marked() -> None:
    assert [m.holiday for m in find_dates("christmas, dec 26 or next easter", NOW)] == [True, False, True]


@pytest.mark.parametrize(
    "text", ["tomorrow", "by friday", "next friday at 5pm", "due 2027-03-01", "in 3 days please"]
)
def test_a_due_date_is_one_date(text: str) -> None:
    assert parse_due(text, NOW).value > NOW


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soonish",
        "32 january",
        "year 10000",
        "tomorrow or friday",
        "buy milk tomorrow",
        "13/13/2026",
        "\0",
    ],
)
def test_what_is_no_due_date_is_refused(text: str) -> None:
    with pytest.raises(DateNotUnderstoodError) as error:
        parse_due(text, NOW)
    assert error.value.code == "INVALID_DATE"


def test_a_very_long_text_is_read_in_part() -> None:
    assert find_dates("x " * 5_000_000 + "tomorrow", NOW) == ()


def test_arithmetic_that_leaves_the_calendar_is_refused() -> None:
    with pytest.raises(OutOfCalendarError):
        shift(datetime(9999, 12, 31), Grain.YEAR, 1)
    with pytest.raises(OutOfCalendarError):
        shift(datetime(1, 1, 1), Grain.DAY, -1)


def test_a_month_that_is_too_short_gives_its_last_day() -> None:
    assert shift(datetime(2026, 1, 31), Grain.MONTH, 1) == datetime(2026, 2, 28)


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31)), st.sampled_from(list(Grain))
)
def test_flooring_twice_is_flooring_once_and_never_moves_forward(moment: datetime, grain: Grain) -> None:
    once = floor(moment, grain)
    assert floor(once, grain) == once <= moment < shift(once, grain, 1)


def test_a_fifth_monday_is_not_in_every_month() -> None:
    assert nth_weekday(2026, 2, weekday=0, nth=5) is None


@pytest.mark.parametrize("unit", ["the day after ", "of the month ", "2 weeks before the "])
def test_dates_within_dates_are_read_so_deep_and_no_deeper(unit: str) -> None:
    first = find_dates("friday " + unit * 300, NOW)[0]
    assert first.value.weekday() == 4


@pytest.mark.parametrize("said", ["half ", "half past ", "quarter to "])
def test_minutes_of_minutes_of_minutes_are_no_time_however_often_they_are_said(said: str) -> None:
    assert find_dates(said * 900, NOW) == ()


def test_minutes_past_a_number_again_and_again_are_read_two_by_two() -> None:
    assert [found.span for found in find_dates("20 past " * 900, NOW)[:2]] == [(0, 10), (16, 26)]


def test_the_same_moment_in_another_zone_has_its_own_tomorrow() -> None:
    there = NOW.replace(tzinfo=UTC, hour=23)
    here = there.astimezone(ZoneInfo("Asia/Tokyo"))
    assert find_dates("tomorrow", here)[0].value.day == find_dates("tomorrow", there)[0].value.day + 1
