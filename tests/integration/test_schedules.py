"""Schedules on a real platform: the turn goes through the door, and its owner is told what came of it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.receivers import WebReceiver, web_receiver
from tests.support.talking import open_house
from tests.support.waiting import until

from steward.bootstrap import Platform
from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.contract.errors import InputError, NotFoundError
from steward.storage.schedules import PostgresScheduleStore
from steward.tasks.notices import Notice, NoticeKind
from steward.tasks.schedules import MOST_SCHEDULES, Schedule
from steward.work.schedules import CUT_OFF


@pytest.fixture
async def receiver() -> AsyncIterator[WebReceiver]:
    async with web_receiver() as one:
        yield one


@pytest.fixture
async def platform(tmp_path: Path, database_url: str, receiver: WebReceiver) -> AsyncIterator[Platform]:
    async with open_house(tmp_path, database_url, STEWARD_NOTIFY_WEBHOOK=receiver.url) as house:
        yield house.platform


async def due_now(platform: Platform, request: str, when: str = "every day at 8") -> Schedule:
    """A schedule whose next run has come."""
    made = await platform.schedules.timetable.add("local", request=request, when=when)
    due = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=1)
    await platform.database.execute("UPDATE schedules SET next_at = $2 WHERE id = $1", made.id, due)
    return await platform.schedules.timetable.get("local", made.id)


async def told(platform: Platform, *, count: int = 1) -> list[Notice]:
    async def there() -> bool:
        return len(await platform.notices.board.store.list("local")) >= count

    await until(there, seconds=90)
    return list(await platform.notices.board.store.list("local"))


async def test_a_schedule_runs_an_agent_and_tells_what_came_of_it(
    platform: Platform, receiver: WebReceiver
) -> None:
    me = Caller(CallerKind.PERSON, "local")
    added = ToolCall(
        tool="add_task", arguments={"title": "pay rent", "due_date": "today"}, caller=me, user="local"
    )
    assert isinstance(await platform.orchestrator.execute(added), Done)
    schedule = await due_now(platform, "Show my tasks")
    async with platform.work.worker():
        notice = (await told(platform))[0]
        await until(lambda: receiver.posted)
    assert notice.kind is NoticeKind.SCHEDULE
    assert "pay rent" in notice.text
    assert receiver.posted[0].body["schedule_id"] == schedule.id
    assert notice.conversation is not None
    conversation = await platform.agents.conversations.load(notice.conversation, user="local")
    assert conversation.turns[0].speaker == f"system:schedule {schedule.id}"


async def test_what_needs_a_yes_waits_and_the_notice_says_so(platform: Platform) -> None:
    me = Caller(CallerKind.PERSON, "local")
    added = ToolCall(tool="add_task", arguments={"title": "old gym"}, caller=me, user="local")
    await platform.orchestrator.execute(added)
    await due_now(platform, "Delete the task old gym")
    async with platform.work.worker():
        notice = (await told(platform))[0]
    assert notice.proposal_id is not None
    assert f"steward approve {notice.proposal_id}" in notice.text
    tasks = await platform.tasks.desk.find("local", "old gym")
    assert len(tasks) == 1


async def test_a_run_is_taken_once_and_the_next_is_set(platform: Platform) -> None:
    schedule = await due_now(platform, "Show my tasks")
    store = PostgresScheduleStore(platform.database)
    assert schedule.next_at is not None
    first = await store.claim(schedule.id, schedule.next_at, now=datetime.now(UTC))
    again = await store.claim(schedule.id, schedule.next_at, now=datetime.now(UTC))
    assert first is not None
    assert not first.again
    assert again is not None
    assert again.again
    following = (await platform.schedules.timetable.get("local", schedule.id)).next_at
    assert following is not None
    assert following > datetime.now(UTC)


async def test_a_machine_whose_clock_is_ahead_skips_no_run(platform: Platform) -> None:
    schedule = await due_now(platform, "Show my tasks")
    store = PostgresScheduleStore(platform.database)
    assert schedule.next_at is not None
    await store.claim(schedule.id, schedule.next_at, now=datetime.now(UTC) + timedelta(days=40))
    following = (await platform.schedules.timetable.get("local", schedule.id)).next_at
    assert following is not None
    assert following < datetime.now(UTC) + timedelta(days=2)


async def test_a_run_that_was_cut_off_is_not_begun_again_and_is_told(platform: Platform) -> None:
    schedule = await due_now(platform, "Show my tasks")
    store = PostgresScheduleStore(platform.database)
    assert schedule.next_at is not None
    await store.claim(schedule.id, schedule.next_at, now=datetime.now(UTC))  # and its program is killed
    await platform.database.execute(
        "UPDATE schedules SET next_at = $2 WHERE id = $1", schedule.id, schedule.next_at
    )
    async with platform.work.worker():
        notice = (await told(platform))[0]
    assert notice.text == CUT_OFF
    assert (await platform.agents.conversations.list("local")).items == []


async def test_a_run_that_was_missed_runs_once_and_says_that_it_is_late(platform: Platform) -> None:
    schedule = await due_now(platform, "Show my tasks", "every 2 hours")
    long_ago = datetime.now(UTC) - timedelta(days=3)
    await platform.database.execute("UPDATE schedules SET next_at = $2 WHERE id = $1", schedule.id, long_ago)
    async with platform.work.worker():
        notices = await told(platform)
    assert len(notices) == 1
    assert notices[0].text.startswith("This comes late")


async def test_a_paused_schedule_does_not_run_and_a_resumed_one_does_not_make_up(platform: Platform) -> None:
    timetable = platform.schedules.timetable
    schedule = await due_now(platform, "Show my tasks")
    assert schedule.next_at is not None
    assert (await timetable.pause("local", schedule.id)).next_at is None
    store = PostgresScheduleStore(platform.database)
    assert await store.claim(schedule.id, schedule.next_at, now=datetime.now(UTC)) is None
    resumed = await timetable.resume("local", schedule.id)
    assert resumed.next_at is not None
    assert resumed.next_at > datetime.now(UTC)


async def test_a_schedule_moves_with_its_owner(platform: Platform) -> None:
    timetable = platform.schedules.timetable
    made = await timetable.add("local", request="Show my tasks", when="every day at 8")
    await platform.tasks.users.change("local", time_zone="Asia/Tokyo")
    moved = await timetable.get("local", made.id)
    assert moved.next_at is not None
    assert moved.next_at.astimezone(moved.zone).hour == 8
    assert moved.time_zone == "Asia/Tokyo"


async def test_others_neither_see_nor_touch_it(platform: Platform) -> None:
    timetable = platform.schedules.timetable
    made = await timetable.add("local", request="Show my tasks", when="every day at 8")
    await platform.tasks.users.add("bob")
    assert await timetable.list("bob") == []
    with pytest.raises(NotFoundError):
        await timetable.pause("bob", made.id)
    with pytest.raises(NotFoundError):
        await timetable.remove("bob", made.id)


@pytest.mark.parametrize(
    "given",
    [
        {"request": "", "when": "every day"},
        {"request": "x" * 3000, "when": "every day"},
        {"request": "x", "when": "whenever"},
        {"request": "x", "when": "2020-01-01 at 8"},
        {"request": "x", "when": "every day", "agent": "nobody"},
    ],
)
async def test_what_cannot_be_scheduled_is_refused(platform: Platform, given: dict[str, str]) -> None:
    with pytest.raises(InputError):
        await platform.schedules.timetable.add("local", **given)


async def test_there_is_an_end_to_schedules(platform: Platform) -> None:
    rows = [(f"s{n}",) for n in range(MOST_SCHEDULES)]
    await platform.database.executemany(
        "INSERT INTO schedules (id, user_id, request, said, starts, created_at)"
        " VALUES ($1, 'local', 'x', 'x', now()::timestamp, now())",
        rows,
    )
    with pytest.raises(Exception, match="schedules already"):
        await platform.schedules.timetable.add("local", request="x", when="every day")


async def test_a_changed_schedule_keeps_what_was_not_named(platform: Platform) -> None:
    timetable = platform.schedules.timetable
    made = await timetable.add("local", request="Show my tasks", when="every day at 8", agent="tasks")
    changed = await timetable.edit("local", made.id, request="Show my open tasks")
    assert (changed.request, changed.when, changed.agent) == ("Show my open tasks", made.when, "tasks")
    assert (changed.rhythm, changed.next_at) == (made.rhythm, made.next_at)
    later = await timetable.edit("local", made.id, when="every day at 9")
    assert made.next_at is not None
    assert later.next_at in (made.next_at + timedelta(hours=1), made.next_at - timedelta(hours=23))
    assert await timetable.get("local", made.id) == later


async def test_a_paused_schedule_is_changed_and_stays_paused(platform: Platform) -> None:
    timetable = platform.schedules.timetable
    made = await timetable.add("local", request="Show my tasks", when="every day at 8")
    await timetable.pause("local", made.id)
    changed = await timetable.edit("local", made.id, when="every day at 9")
    assert (changed.paused, changed.next_at) == (True, None)


async def test_a_schedule_is_not_changed_into_nonsense(platform: Platform) -> None:
    timetable = platform.schedules.timetable
    made = await timetable.add("local", request="Show my tasks", when="every day at 8")
    for wrong in ({}, {"request": " "}, {"when": "whenever"}, {"agent": "nobody"}, {"when": "2001-01-01"}):
        with pytest.raises(InputError):
            await timetable.edit("local", made.id, **wrong)
    with pytest.raises(NotFoundError):
        await timetable.edit("ana", made.id, request="Show my tasks")
    assert await timetable.get("local", made.id) == made
