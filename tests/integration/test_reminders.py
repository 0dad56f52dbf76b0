"""Reminders on a real PostgreSQL and the real queue: told once, by whoever is there, whatever was changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.integration.test_work_engine import queue_on
from tests.support.receivers import WebReceiver, web_receiver
from tests.support.undoing import TaskUndo
from tests.support.waiting import until

from steward.contract.jobs import JobState
from steward.providers.delivery import senders
from steward.storage.database.postgres import Database
from steward.storage.notices import PostgresAddressStore, PostgresNoticeStore
from steward.storage.reminders import PostgresReminderStore
from steward.storage.tasks import PostgresTaskStore, PostgresUserStore
from steward.tasks.desk import Desk
from steward.tasks.model import User
from steward.tasks.notices import Medium, Notice
from steward.tasks.service import TaskService
from steward.tasks.users import Users
from steward.work.board import NoticeBoard
from steward.work.delivery import Postman
from steward.work.queue import Tempo, WorkQueue
from steward.work.reminders import REMIND, Reminders

# Quick, but nobody is taken for dead on a busy machine: what is sent again then is the engine's test.
PATIENT = Tempo(look=0.05, heartbeat=0.1, lost=60.0, finish=0.2)


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Instance:
    """One Steward, as far as reminders go."""

    queue: WorkQueue
    board: NoticeBoard
    addresses: PostgresAddressStore
    reminders: Reminders
    store: PostgresReminderStore
    service: TaskService
    desk: Desk
    users: Users
    take_back: TaskUndo

    async def add(self, title: str, **given: Any) -> dict[str, Any]:
        answer = await self.service.add_task("ana", {"title": title, **given})
        assert answer["success"], answer
        return answer["task"]

    async def change(self, task: dict[str, Any], **given: Any) -> dict[str, Any]:
        return await self.service.update_task("ana", task["id"], given)

    async def notices(self) -> list[Notice]:
        return list(await self.board.store.list("ana"))


@asynccontextmanager
async def instance(
    database: Database, *, of_owner: dict[Medium, str] | None = None
) -> AsyncIterator[Instance]:
    people = PostgresUserStore(database)
    await people.add(User(id="ana", name="Ana", time_zone="Europe/Berlin"))
    async with queue_on(database, tempo=PATIENT) as queue:
        board, addresses = (
            NoticeBoard(PostgresNoticeStore(database), seconds=0.05),
            PostgresAddressStore(database),
        )
        postman = Postman(
            board,
            senders=senders(smtp_url=None, smtp_from=None),
            addresses=addresses,
            of_owner=of_owner or {},
            owner="local",
            now=now,
        )
        store = PostgresReminderStore(database)
        reminders = Reminders(queue, store, postman, now=now)
        tasks = PostgresTaskStore(database, alarm=reminders)
        users = Users(people)
        yield Instance(
            queue=queue,
            board=board,
            addresses=addresses,
            reminders=reminders,
            store=store,
            service=TaskService(tasks=tasks, users=people),
            desk=Desk(tasks=tasks, users=users),
            take_back=TaskUndo(database, tasks),
            users=users,
        )


@pytest.fixture
async def steward(database: Database) -> AsyncIterator[Instance]:
    async with instance(database) as one:
        yield one


@pytest.fixture
async def receiver() -> AsyncIterator[WebReceiver]:
    async with web_receiver() as one:
        yield one


def soon(seconds: float = 0.2) -> str:
    return (now() + timedelta(seconds=seconds)).isoformat()


async def test_a_reminder_is_told_at_its_time_and_sent_to_its_owner(
    steward: Instance, receiver: WebReceiver
) -> None:
    await steward.addresses.put("ana", Medium.WEBHOOK, receiver.url)
    due = soon()
    await steward.add("stretch", due_date=due, notify=True)
    async with steward.queue.worker():
        await until(lambda: receiver.posted)
    assert receiver.posted[0].body["title"] == "stretch"
    assert datetime.fromisoformat(receiver.posted[0].body["due"]) == datetime.fromisoformat(due)


async def test_two_instances_tell_a_reminder_once(database: Database, receiver: WebReceiver) -> None:
    async with instance(database) as one, instance(database) as other:
        await one.addresses.put("ana", Medium.WEBHOOK, receiver.url)
        tasks = [await one.add(f"t{n}", due_date=soon(), notify=True) for n in range(10)]
        async with one.queue.worker(), other.queue.worker():
            for each in (one, other, one, other):
                await each.reminders.look()
            await until(lambda: len(receiver.posted) >= len(tasks))
            await one.reminders.look()
    assert sorted(each.body["title"] for each in receiver.posted) == sorted(task["title"] for task in tasks)


async def test_a_second_job_for_a_reminder_on_its_way_sends_nothing(
    steward: Instance, receiver: WebReceiver
) -> None:
    await steward.addresses.put("ana", Medium.WEBHOOK, receiver.url)
    receiver.open.clear()
    task = await steward.add("stretch", due_date=soon(), notify=True)
    due = datetime.fromisoformat(task["notify_at"])

    async def all_done() -> bool:
        return not (
            await steward.queue.store.list(
                user=None, states=(JobState.WAITING, JobState.RUNNING), kind=REMIND
            )
        ).items

    async with steward.queue.worker():
        await until(lambda: receiver.posted, seconds=60)
        await steward.reminders._put_in(task["id"], due)
        receiver.open.set()
        await until(all_done, seconds=60)
    assert len(receiver.posted) == 1


async def test_a_time_said_in_another_zone_puts_in_no_second_job(steward: Instance) -> None:
    task = await steward.add("stretch", due_date=soon(30), notify=True)
    due = datetime.fromisoformat(task["notify_at"])
    for zone in ("Europe/Berlin", "Asia/Tokyo", "UTC"):
        await steward.reminders.set(task["id"], due.astimezone(ZoneInfo(zone)))
    waiting = await steward.queue.store.list(user=None, states=(JobState.WAITING,), kind=REMIND)
    assert len(waiting.items) == 1


async def test_the_same_time_asked_for_at_once_makes_one_notice(steward: Instance) -> None:
    task = await steward.add("stretch", due_date=(now() + timedelta(hours=1)).isoformat(), notify=True)
    due = datetime.fromisoformat(task["notify_at"])
    made = await asyncio.gather(*(steward.store.remind(task["id"], due, now=due) for _ in range(8)))
    assert len({notice.id for notice, _ in made if notice is not None}) == 1
    assert len(await steward.notices()) == 1


async def test_what_was_missed_while_nothing_ran_is_told_late_at_the_next_start(steward: Instance) -> None:
    task = await steward.add("call", due_date="2026-01-05T08:00:00+01:00", notify=True)
    assert (await steward.notices()) == []
    async with steward.queue.worker():
        await steward.reminders.look()
        await until(steward.notices)
    assert (await steward.notices())[0].text == "This comes late: it was for Mon 5 Jan 2026, 08:00."
    assert (await steward.notices())[0].source == task["id"]


async def test_a_reminder_that_was_moved_is_not_told_at_its_old_time(steward: Instance) -> None:
    task = await steward.add("call", due_date="2030-01-05T08:00:00+01:00", notify=True)
    old = datetime.fromisoformat(task["notify_at"])
    await steward.change(task, due_date="2030-01-06T08:00:00+01:00")
    assert await steward.store.remind(task["id"], old, now=old) == (None, old + timedelta(days=1))


async def test_a_snoozed_reminder_keeps_its_due_date(steward: Instance) -> None:
    task = await steward.add("call", due_date="2030-01-05T08:00:00+01:00", notify=True)
    changed = await steward.change(task, notify="2030-01-05T08:10:00+01:00")
    assert changed["changes"] == ["notify"]
    assert changed["task"]["due_date"] == task["due_date"]
    assert changed["task"]["notify_at"] == "2030-01-05T08:10:00+01:00"


async def test_a_reminder_that_repeats_comes_again_undone(steward: Instance) -> None:
    task = await steward.add(
        "pills", due_date="2030-03-30T09:00:00+01:00", recurrence="FREQ=DAILY", notify=True
    )
    due = datetime.fromisoformat(task["notify_at"])
    _, following = await steward.store.remind(task["id"], due, now=due)
    assert following == datetime.fromisoformat("2030-03-31T09:00:00+02:00")  # the clocks have changed


async def test_a_machine_whose_clock_is_ahead_skips_no_time_of_a_reminder(steward: Instance) -> None:
    task = await steward.add("pills", due_date=soon(), recurrence="FREQ=DAILY", notify=True)
    due = datetime.fromisoformat(task["notify_at"])
    notice, following = await steward.store.remind(task["id"], due, now=now() + timedelta(days=40))
    assert following is not None
    assert following - due < timedelta(days=1, hours=2)  # the clocks may change between
    assert notice is not None
    assert notice.made_at < now() + timedelta(days=1)


async def test_a_done_deleted_or_silenced_task_is_not_told(steward: Instance) -> None:
    given = {"due_date": "2030-01-05T08:00:00+01:00", "notify": True}
    done, gone, silent = [await steward.add(title, **given) for title in ("done", "gone", "silent")]
    await steward.service.complete_task("ana", done["id"])
    await steward.service.delete_task("ana", gone["id"])
    await steward.change(silent, notify=False)
    at = datetime.fromisoformat(done["notify_at"])
    for task in (done, gone, silent):
        assert await steward.store.remind(task["id"], at, now=at) == (None, None)


async def test_a_deleted_task_takes_what_was_told_of_it_along(steward: Instance) -> None:
    task = await steward.add("secret", due_date="2026-01-05T08:00:00+01:00", notify=True)
    await steward.store.remind(task["id"], datetime.fromisoformat(task["notify_at"]), now=now())
    assert await steward.notices()
    await steward.service.delete_task("ana", task["id"])
    assert await steward.notices() == []


async def test_undo_brings_a_reminder_back(steward: Instance) -> None:
    task = await steward.add("call", due_date="2030-01-05T08:00:00+01:00", notify=True)
    await steward.change(task, notify=False)
    await steward.take_back("ana", task["id"])
    assert (await steward.desk.get("ana", task["id"]))["notify_at"] == task["notify_at"]


async def test_a_morning_is_the_morning_where_its_owner_is_now(steward: Instance) -> None:
    task = await steward.add("call", due_date="2030-01-05", notify=True)
    assert task["notify_at"] == "2030-01-05T09:00:00+01:00"
    await steward.users.change("ana", time_zone="Asia/Tokyo")
    moved = await steward.desk.get("ana", task["id"])
    assert moved["notify_at"] == "2030-01-05T09:00:00+09:00"


async def test_a_receiver_that_is_away_gets_it_when_it_is_back(
    steward: Instance, receiver: WebReceiver
) -> None:
    await steward.addresses.put("ana", Medium.WEBHOOK, receiver.url)
    receiver.answers = [503]
    await steward.add("stretch", due_date=soon(), notify=True)
    async with steward.queue.worker():
        await until(lambda: len(receiver.posted) == 2)

        async def noted() -> bool:
            return (await steward.notices())[0].deliveries[Medium.WEBHOOK].sent

        await until(noted)
    ids = {each.headers["idempotency-key"] for each in receiver.posted}
    assert len(ids) == 1
    assert (await steward.notices())[0].deliveries[Medium.WEBHOOK].tries == 2


async def test_the_settings_addresses_are_the_owners_and_nobody_elses(
    database: Database, receiver: WebReceiver
) -> None:
    async with instance(database, of_owner={Medium.WEBHOOK: receiver.url}) as steward:
        await steward.add("private", due_date=soon(), notify=True)
        async with steward.queue.worker():
            await until(steward.notices)
    assert receiver.posted == []


async def test_whoever_follows_the_board_sees_what_was_missed_and_what_comes(steward: Instance) -> None:
    task = await steward.add("first", due_date="2026-01-05T08:00:00+01:00", notify=True)
    await steward.store.remind(task["id"], datetime.fromisoformat(task["notify_at"]), now=now())
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(steward.queue.worker())
        following = steward.board.follow("ana")
        stack.push_async_callback(following.aclose)
        assert (await asyncio.wait_for(anext(following), 30)).title == "first"
        await steward.add("second", due_date=soon(), notify=True)
        assert (await asyncio.wait_for(anext(following), 30)).title == "second"


async def test_a_closed_board_lets_its_followers_go(steward: Instance) -> None:
    following = steward.board.follow("ana")
    coming = asyncio.ensure_future(anext(following, None))
    await asyncio.sleep(0)
    steward.board.close()
    assert await asyncio.wait_for(coming, 30) is None


@pytest.mark.parametrize("notify", [3, "soonish", [], {"at": "x"}])
async def test_a_notify_that_is_none_is_refused(steward: Instance, notify: object) -> None:
    answer = await steward.service.add_task("ana", {"title": "x", "due_date": "tomorrow", "notify": notify})
    assert answer["code"] == "INVALID_NOTIFY"


async def test_a_reminder_without_a_time_is_refused(steward: Instance) -> None:
    answer = await steward.service.add_task("ana", {"title": "x", "notify": True})
    assert answer["code"] == "INVALID_NOTIFY"
    task = await steward.add("y")
    assert (await steward.change(task, notify=True))["code"] == "INVALID_NOTIFY"


async def test_a_task_without_notify_looks_as_it_always_did(steward: Instance) -> None:
    task = await steward.add("plain", due_date="tomorrow")
    assert set(task) == {"id", "title", "description", "due_date", "priority", "completed", "created_at"}
