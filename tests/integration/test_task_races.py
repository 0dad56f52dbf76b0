"""Several people and programs at one task at once, on a real database: nothing lost, nothing half done."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.support.undoing import TaskUndo
from tests.support.waiting import until

from steward.contract.errors import ConflictError, StewardError
from steward.storage.database.postgres import Database, External
from steward.storage.tasks import PostgresTaskStore, PostgresUserStore
from steward.tasks.desk import Desk
from steward.tasks.model import Task, User
from steward.tasks.service import TaskService
from steward.tasks.users import Users


@dataclass
class RaceSetup:
    database: Database
    service: TaskService
    desk: Desk
    users: Users
    take_back: TaskUndo

    async def added(self, title: str = "buy milk", **more: Any) -> str:
        return (await self.service.add_task("ana", {"title": title, **more}))["task"]["id"]

    async def titles(self, user: str = "ana") -> list[str]:
        listed = await self.service.list_tasks(user, {"limit": 100})
        return sorted(task["title"] for task in listed.get("tasks", []))


@pytest.fixture
async def house(database: Database) -> RaceSetup:
    store, people = PostgresTaskStore(database), PostgresUserStore(database)
    await people.add(User(id="ana", name="Ana"))
    users = Users(people)
    service, desk = TaskService(tasks=store, users=people), Desk(tasks=store, users=users)
    return RaceSetup(database, service, desk, users, TaskUndo(database, store))


def codes(answers: list[dict[str, Any]]) -> set[str]:
    return {"done" if answer["success"] else answer["code"] for answer in answers}


@pytest.mark.req("TODO-TOOL-3", "TODO-TOOL-4")
async def test_completing_and_deleting_one_task_at_once_leaves_it_deleted(house: RaceSetup) -> None:
    for _ in range(10):
        task_id = await house.added()
        completed, deleted = await asyncio.gather(
            house.service.complete_task("ana", task_id), house.service.delete_task("ana", task_id)
        )
        assert deleted["success"]
        assert codes([completed]) <= {"done", "TASK_NOT_FOUND"}
    assert await house.titles() == []
    assert await house.database.fetchval("SELECT count(*) FROM task_events") == 0


@pytest.mark.req("TODO-TOOL-4")
async def test_of_many_deletions_of_one_task_one_succeeds(house: RaceSetup) -> None:
    task_id = await house.added()
    answers = await asyncio.gather(*(house.service.delete_task("ana", task_id) for _ in range(20)))
    assert sorted(answer.get("code", "done") for answer in answers) == ["TASK_NOT_FOUND"] * 19 + ["done"]


@pytest.mark.req("TODO-MTR-006")
async def test_fifty_additions_with_one_key_add_one_task(house: RaceSetup) -> None:
    given = {"title": "once", "idempotency_key": "k"}
    answers = await asyncio.gather(*(house.service.add_task("ana", given) for _ in range(50)))
    assert {answer["task"]["id"] for answer in answers} == {answers[0]["task"]["id"]}
    assert await house.titles() == ["once"]


async def test_an_id_that_is_taken_is_a_conflict_and_changes_nothing(
    database: Database, house: RaceSetup
) -> None:
    store = PostgresTaskStore(database)
    kept = await store.get("ana", await house.added())
    assert isinstance(kept, Task)
    with pytest.raises(ConflictError):
        await store.add(replace(kept, title="another"))
    assert await store.get("ana", kept.id) == kept


@pytest.mark.req("TODO-MTR-006")
async def test_a_key_whose_task_is_deleted_meanwhile_still_adds(house: RaceSetup) -> None:
    given = {"title": "again", "idempotency_key": "k"}

    async def add_and_delete() -> list[dict[str, Any]]:
        added = await house.service.add_task("ana", given)
        return [added, await house.service.delete_task("ana", added["task"]["id"])]

    rounds = await asyncio.gather(*(add_and_delete() for _ in range(20)))
    assert codes([added for added, _ in rounds]) == {"done"}
    assert codes([deleted for _, deleted in rounds]) <= {"done", "TASK_NOT_FOUND"}
    assert await house.titles() == []


@pytest.mark.req("TODO-TOOL-3")
async def test_completing_a_recurring_task_many_times_at_once_brings_it_back_once(house: RaceSetup) -> None:
    task_id = await house.added("water plants", due_date="2026-11-16", recurrence="FREQ=DAILY")
    answers = await asyncio.gather(*(house.service.complete_task("ana", task_id) for _ in range(10)))
    assert sum("next_task" in answer for answer in answers) == 1
    assert await house.titles() == ["water plants", "water plants"]


async def test_undos_at_once_each_take_another_change_back(house: RaceSetup) -> None:
    task_id = await house.added("0")
    for number in range(1, 6):
        await house.service.update_task("ana", task_id, {"title": str(number)})
    undone = await asyncio.gather(*(house.take_back.undoing.undo("ana") for _ in range(5)))
    assert len({undo.changes[0].id for undo in undone}) == 5
    assert await house.titles() == ["0"]


async def test_a_deleted_task_leaves_nothing_to_take_back(house: RaceSetup) -> None:
    task_id = await house.added("0")
    await house.service.delete_task("ana", task_id)
    with pytest.raises(StewardError) as refused:
        await house.take_back("ana")
    assert refused.value.code == "NOTHING_TO_UNDO"


async def test_undo_and_deletion_at_once_never_bring_a_task_back(house: RaceSetup) -> None:
    for _ in range(10):
        task_id = await house.added()
        await house.service.complete_task("ana", task_id)
        _, deleted = await asyncio.gather(
            house.take_back("ana", task_id), house.service.delete_task("ana", task_id), return_exceptions=True
        )
        assert isinstance(deleted, dict)
        assert deleted["success"]
    assert await house.titles() == []


async def test_undoing_a_completion_leaves_alone_what_was_worked_on_since(house: RaceSetup) -> None:
    task_id = await house.added("water plants", due_date="2026-11-16", recurrence="FREQ=DAILY")
    done = await house.service.complete_task("ana", task_id)
    await house.service.update_task("ana", done["next_task"]["id"], {"title": "water the roses"})
    await house.take_back("ana", task_id)
    assert await house.titles() == ["water plants", "water the roses"]


async def test_a_user_erased_meanwhile_leaves_nothing_behind(house: RaceSetup) -> None:
    await house.users.add("bob", name="Bob")
    other = await house.service.add_task("bob", {"title": "stays"})
    ids = [await house.added(str(n), due_date="2026-11-16", recurrence="FREQ=DAILY") for n in range(10)]
    work = [house.service.complete_task("ana", task_id) for task_id in ids]
    work += [house.service.add_task("ana", {"title": "late"}) for _ in range(10)]
    work += [house.service.delete_task("ana", task_id) for task_id in ids[:5]]
    *answers, erased = await asyncio.gather(*work, house.users.erase("ana"))
    assert codes([a for a in answers if isinstance(a, dict)]) <= {"done", "INVALID_USER", "TASK_NOT_FOUND"}
    assert erased == User(id="ana", name="Ana")
    left = await house.database.fetch("SELECT user_id FROM tasks UNION ALL SELECT user_id FROM task_events")
    assert {row["user_id"] for row in left} == {"bob"}
    assert (await house.service.add_task("ana", {"title": "x"}))["code"] == "INVALID_USER"
    assert await house.titles("bob") == [other["task"]["title"]]


async def test_erasing_takes_what_every_table_holds_of_the_user(house: RaceSetup) -> None:
    await house.database.execute(
        "INSERT INTO facts (id, user_id, text, fingerprint, source, created_at) "
        "VALUES ('f', 'ana', 'x', 'x', 'person', now())"
    )
    await house.users.erase("ana")
    assert await house.database.fetchval("SELECT count(*) FROM facts") == 0


@pytest.mark.req("TODO-MTR-003", "TODO-MTR-004")
@pytest.mark.parametrize("operation", ["add", "complete", "update", "delete", "list"])
async def test_a_database_that_goes_away_is_told_with_a_stable_code_and_nothing_is_half_done(
    house: RaceSetup, database_url: str, operation: str
) -> None:
    task_id = await house.added(due_date="2026-11-16", recurrence="FREQ=DAILY")
    work = {
        "add": lambda: house.service.add_task("ana", {"title": "new"}),
        "complete": lambda: house.service.complete_task("ana", task_id),
        "update": lambda: house.service.update_task("ana", task_id, {"title": "new"}),
        "delete": lambda: house.service.delete_task("ana", task_id),
        "list": lambda: house.service.list_tasks("ana", {}),
    }
    async with Database(External(database_url)) as other, other.transaction() as session:
        await session.execute("LOCK TABLE users, tasks, task_events IN ACCESS EXCLUSIVE MODE")
        running = asyncio.create_task(work[operation]())
        waiting = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        await until(lambda: other.fetchval(waiting))
        await other.fetch(f"SELECT pg_terminate_backend(pid) FROM ({waiting}) AS w")
        answer = await running
    assert (answer["success"], answer["code"], "timestamp" in answer) == (False, "STORAGE_UNAVAILABLE", True)
    assert await house.titles() == ["buy milk"]
    assert await house.database.fetchval("SELECT count(*) FROM task_events") == 1
    assert (await house.service.complete_task("ana", task_id))["success"]
