"""Recurrence rules: which are accepted, and when a task is due again."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.tasks.envelopes import TaskRefusal
from steward.tasks.model import Due
from steward.tasks.repeats import first_due, next_due, read_rule

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)  # a Sunday
ZONE = ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("freq=daily", "FREQ=DAILY"),
        ("RRULE:FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=WEEKLY;BYDAY=MO,TH"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=-1FR"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
        ("FREQ=WEEKLY;UNTIL=20271231T000000Z", "FREQ=WEEKLY;UNTIL=20271231T000000Z"),
        ("FREQ=HOURLY;INTERVAL=6", "FREQ=HOURLY;INTERVAL=6"),
    ],
)
def test_a_usual_rule_is_kept(said: str, kept: str) -> None:
    assert read_rule(said) == kept


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "every monday",
        "FREQ=OFTEN",
        "FREQ=SECONDLY",
        "FREQ=DAILY;FREQ=WEEKLY",
        "FREQ=DAILY;COUNT=2;UNTIL=20271231",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=100000000",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=x",
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYSETPOS=31;BYDAY=MO",
        "FREQ=WEEKLY;BYMONTH=13",
        "FREQ=WEEKLY;UNTIL=tomorrow",
        "BYDAY=MO",
        "FREQ=YEARLY;BYDAY=500MO",
        "FREQ=DAILY;" * 100,
    ],
)
def test_a_rule_that_is_none_or_never_comes_true_is_refused(rule: str) -> None:
    with pytest.raises(TaskRefusal) as refused:
        read_rule(rule)
    assert refused.value.code == "INVALID_RECURRENCE"


@given(st.text(alphabet="FREQDAILYWKOMNTH=;,BUSPX0123456789-+", max_size=60))
def test_whatever_is_accepted_has_a_next_day(text: str) -> None:
    for rule in (text, f"FREQ=MONTHLY;{text}"):
        try:
            kept = read_rule(rule)
        except TaskRefusal:
            continue
        next_due(Due.day(date(2026, 11, 16), ZONE), kept, now=NOW, zone=ZONE)


def days(rule: str, start: date, *, now: datetime = NOW) -> list[str]:
    """Every day a task falls due when it is done again and again."""
    due, found = Due.day(start, ZONE), [start.isoformat()]
    while len(found) < 5 and (following := next_due(due, rule, now=now, zone=ZONE)) is not None:
        due, rule = following
        found.append(due.text(ZONE))
    return found


def test_a_count_belongs_to_the_series() -> None:
    assert days("FREQ=WEEKLY;BYDAY=MO,TH;COUNT=3", date(2026, 11, 16)) == [
        "2026-11-16",
        "2026-11-19",
        "2026-11-23",
    ]


def test_a_series_ends_where_its_rule_says() -> None:
    assert days("FREQ=DAILY;UNTIL=20261117T000000Z", date(2026, 11, 16)) == ["2026-11-16", "2026-11-17"]


def test_what_was_missed_is_not_asked_for_again() -> None:
    assert days("FREQ=WEEKLY;BYDAY=MO", date(2026, 10, 5))[:2] == ["2026-10-05", "2026-11-16"]
    assert days("FREQ=DAILY", date(2026, 11, 1))[:2] == ["2026-11-01", "2026-11-16"]


def test_wall_clock_time_survives_a_change_of_clocks() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    due = Due.moment(datetime(2027, 3, 27, 9, tzinfo=berlin), berlin)
    following = next_due(due, "FREQ=DAILY", now=NOW, zone=berlin)
    assert following is not None
    assert following[0].text(berlin) == "2027-03-28T09:00:00+02:00"


def test_a_series_starts_on_the_first_day_its_rule_names() -> None:
    first = {rule: first_due(rule, now=NOW, zone=ZONE) for rule in ("FREQ=DAILY", "FREQ=WEEKLY;BYDAY=WE")}
    assert {rule: due and due.text(ZONE) for rule, due in first.items()} == {
        "FREQ=DAILY": "2026-11-15",
        "FREQ=WEEKLY;BYDAY=WE": "2026-11-18",
    }
    assert first_due("FREQ=DAILY;UNTIL=20200101", now=NOW, zone=ZONE) is None
