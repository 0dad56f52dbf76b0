"""Times that come again: said in words, kept as rules, true to the clock on the wall."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from steward.contract.errors import InputError
from steward.tasks.rhythm import Rhythm, next_run, read_rhythm

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 15, 31, tzinfo=BERLIN)  # a Monday afternoon


def times(when: str, count: int, *, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> list[str]:
    rhythm, after, found = read_rhythm(when, now=now, zone=zone), now, []
    for _ in range(count):
        at = next_run(rhythm, after=after, zone=zone)
        if at is None:
            break
        found.append(f"{at.astimezone(zone):%a %d %b %H:%M}")
        after = at
    return found


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("every weekday at 8", ["Tue 17 Nov 08:00", "Wed 18 Nov 08:00"]),
        ("every day at 5", ["Mon 16 Nov 17:00", "Tue 17 Nov 17:00"]),
        ("every day", ["Tue 17 Nov 09:00", "Wed 18 Nov 09:00"]),
        ("every monday at 9", ["Mon 23 Nov 09:00", "Mon 30 Nov 09:00"]),
        ("each weekend at noon", ["Sat 21 Nov 12:00", "Sun 22 Nov 12:00"]),
        ("every evening at 6", ["Mon 16 Nov 18:00", "Tue 17 Nov 18:00"]),
        ("every other friday at 4pm", ["Fri 20 Nov 16:00", "Fri 04 Dec 16:00"]),
        ("on the 1st of every month at 9", ["Tue 01 Dec 09:00", "Fri 01 Jan 09:00"]),
        ("every 2 hours", ["Mon 16 Nov 16:31", "Mon 16 Nov 18:31"]),
        ("FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", ["Mon 23 Nov 09:00", "Mon 30 Nov 09:00"]),
        ("RRULE:FREQ=DAILY;COUNT=2", ["Tue 17 Nov 09:00"]),
        ("tomorrow at 7", ["Tue 17 Nov 07:00"]),
        ("tomorrow", ["Tue 17 Nov 09:00"]),
    ],
)
def test_words_and_rules_name_the_times_they_say(when: str, expected: list[str]) -> None:
    assert times(when, 2) == expected


def test_the_hour_on_the_wall_stays_when_the_clocks_change() -> None:
    before = datetime(2027, 3, 26, 12, tzinfo=BERLIN)
    found = times("every day at 8", 4, now=before)
    assert found == ["Sat 27 Mar 08:00", "Sun 28 Mar 08:00", "Mon 29 Mar 08:00", "Tue 30 Mar 08:00"]


def test_an_hour_that_is_left_out_comes_when_the_clocks_have_moved_on() -> None:
    rhythm = Rhythm(datetime(2027, 3, 27, 2, 30), "FREQ=DAILY")  # noqa: DTZ001 - wall-clock time
    at = next_run(rhythm, after=datetime(2027, 3, 27, 12, tzinfo=BERLIN), zone=BERLIN)
    assert at == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)


def test_an_hour_that_comes_twice_is_used_once() -> None:
    rhythm = Rhythm(datetime(2026, 10, 24, 2, 30), "FREQ=DAILY")  # noqa: DTZ001 - wall-clock time
    first = next_run(rhythm, after=datetime(2026, 10, 24, 12, tzinfo=BERLIN), zone=BERLIN)
    assert first is not None
    assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert next_run(rhythm, after=first, zone=BERLIN) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_hours_are_counted_as_they_pass() -> None:
    rhythm = Rhythm(datetime(2026, 10, 25, 0, 0), "FREQ=HOURLY")  # noqa: DTZ001 - wall-clock time
    at, found = datetime(2026, 10, 24, 23, 30, tzinfo=UTC), []
    for _ in range(4):
        following = next_run(rhythm, after=at, zone=BERLIN)
        assert following is not None
        at = following
        found.append(at.hour)
    assert found == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "when",
    [
        "",
        "soonish",
        "every 15 minutes",
        "every day at 9 and 17",
        "FREQ=SECONDLY",
        "every weekday at 8 tell me",
        "\0",
    ],
)
def test_what_is_no_time_is_refused_with_an_example(when: str) -> None:
    with pytest.raises(InputError) as refused:
        read_rhythm(when, now=NOW, zone=BERLIN)
    assert "every weekday at 8" in str(refused.value.fix)
