"""When a task's owner is told: once, at the right time, and again where it repeats."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from steward.tasks.envelopes import TaskCode, TaskRefusal
from steward.tasks.model import Due, Notify, Task
from steward.tasks.reminding import arranged, follows, rearranged, told

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
FIVE = datetime(2026, 11, 16, 17, tzinfo=BERLIN)


def task(due: Due | None, notify: Notify | None = Notify(), **more: object) -> Task:  # noqa: B008 - frozen
    made = Task(
        id="task_a",
        user_id="ana",
        title="call",
        created_at=NOW,
        updated_at=NOW,
        due=due,
        notify=notify,
        time_zone="Europe/Berlin",
    )
    return replace(made, **more)  # pyright: ignore[reportArgumentType]


def test_a_moment_is_told_at_that_moment() -> None:
    assert arranged(task(Due.moment(FIVE, BERLIN))).tell_at == FIVE


def test_a_day_is_told_in_the_morning_where_its_owner_is() -> None:
    at = arranged(task(Due.day(date(2026, 11, 17), BERLIN))).tell_at
    assert at == datetime(2026, 11, 17, 9, tzinfo=BERLIN)


def test_without_notify_nothing_is_told() -> None:
    assert arranged(task(Due.moment(FIVE, BERLIN), None)).tell_at is None


def test_a_reminder_without_any_time_is_refused() -> None:
    with pytest.raises(TaskRefusal) as why:
        arranged(task(None))
    assert why.value.code is TaskCode.INVALID_NOTIFY


def test_a_reminder_that_was_told_is_not_told_again() -> None:
    assert told(arranged(task(Due.moment(FIVE, BERLIN))), now=FIVE).tell_at is None


def test_what_repeats_is_told_again_though_it_was_not_done() -> None:
    daily = arranged(task(Due.moment(FIVE, BERLIN), recurrence="FREQ=DAILY"))
    assert told(daily, now=FIVE).tell_at == FIVE + timedelta(days=1)


def test_a_clock_that_is_a_little_behind_tells_nothing_twice() -> None:
    daily = arranged(task(Due.moment(FIVE, BERLIN), recurrence="FREQ=DAILY"))
    assert told(daily, now=FIVE - timedelta(seconds=1)).tell_at == FIVE + timedelta(days=1)


def test_a_day_that_repeats_stays_in_the_morning_over_a_change_of_the_clocks() -> None:
    daily = arranged(task(Due.day(date(2027, 3, 27), BERLIN), recurrence="FREQ=DAILY"))
    after = told(daily, now=datetime(2027, 3, 27, 9, tzinfo=BERLIN))
    assert after.tell_at == datetime(2027, 3, 28, 9, tzinfo=BERLIN)


def test_a_snoozed_reminder_that_repeats_goes_back_to_its_own_time() -> None:
    later = FIVE + timedelta(minutes=10)
    snoozed = arranged(task(Due.moment(FIVE, BERLIN), Notify(later), recurrence="FREQ=DAILY"))
    assert snoozed.tell_at == later
    assert told(snoozed, now=later).tell_at == FIVE + timedelta(days=1)


def test_a_change_that_is_none_of_its_time_tells_nothing_again() -> None:
    before = told(arranged(task(Due.moment(FIVE, BERLIN))), now=FIVE)
    assert rearranged(before, replace(before, title="phone"), now=FIVE).tell_at is None


def test_a_new_date_is_told_anew() -> None:
    before = told(arranged(task(Due.moment(FIVE, BERLIN))), now=FIVE)
    six = FIVE + timedelta(hours=1)
    assert rearranged(before, replace(before, due=Due.moment(six, BERLIN)), now=FIVE).tell_at == six


def test_what_is_done_is_not_told() -> None:
    before = arranged(task(Due.moment(FIVE, BERLIN)))
    assert rearranged(before, replace(before, completed_at=NOW), now=NOW).tell_at is None


def test_what_is_opened_again_is_told_only_where_its_time_is_ahead() -> None:
    done = replace(task(Due.moment(FIVE, BERLIN)), completed_at=NOW)
    again = replace(done, completed_at=None)
    assert rearranged(done, again, now=NOW).tell_at == FIVE
    assert rearranged(done, again, now=FIVE + timedelta(hours=1)).tell_at is None


def test_an_undo_tells_nothing_that_has_gone_by() -> None:
    early = arranged(task(Due.moment(FIVE, BERLIN)))
    moved = arranged(replace(early, due=Due.moment(FIVE + timedelta(hours=1), BERLIN)))
    back = replace(moved, due=early.due)
    assert rearranged(moved, back, now=FIVE + timedelta(minutes=5), asked=False).tell_at is None


def test_a_date_that_is_cleared_takes_its_reminder_along() -> None:
    before = arranged(task(Due.moment(FIVE, BERLIN)))
    assert rearranged(before, replace(before, due=None), now=NOW).notify is None


def test_the_next_task_of_a_series_is_told_at_its_own_time() -> None:
    tomorrow = FIVE + timedelta(days=1)
    snoozed = task(Due.moment(tomorrow, BERLIN), Notify(FIVE), recurrence="FREQ=DAILY")
    assert follows(snoozed).tell_at == tomorrow
