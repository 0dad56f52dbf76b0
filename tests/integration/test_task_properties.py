"""Whatever users do, one after another or all at once, leaves exactly what a simple model predicts."""

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.support.undoing import TaskUndo

from steward.contract.errors import StewardError
from steward.storage.database.postgres import Database, External
from steward.storage.tasks import PostgresTaskStore, PostgresUserStore
from steward.tasks.desk import Desk
from steward.tasks.model import User
from steward.tasks.service import TaskService
from steward.tasks.users import Users

USERS = ("ana", "bob", "eve")
TITLES = ("milk", "éggs 🥚", "'; DROP TABLE tasks; --", "%", "call mom")
PRIORITIES = ("low", "medium", "high")


@dataclass(frozen=True)
class Kept:
    title: str
    priority: str = "medium"
    completed: bool = False
    key: str | None = None


@dataclass
class Person:
    """What one user has, in the model's words. `changes`: task and what it was before, None for made."""

    tasks: dict[str, Kept] = field(default_factory=dict)
    changes: list[tuple[str, Kept | None]] = field(default_factory=list)

    def pick(self, number: int) -> str:
        return list(self.tasks)[number % len(self.tasks)] if self.tasks else "task_none"

    def change(self, task_id: str, **fields: Any) -> bool:
        before = self.tasks[task_id]
        after = replace(before, **fields)
        if after != before:
            self.tasks[task_id] = after
            self.changes.append((task_id, before))
        return after != before

    def forget(self, task_id: str) -> None:
        del self.tasks[task_id]
        self.changes = [change for change in self.changes if change[0] != task_id]


@dataclass(frozen=True)
class Step:
    kind: str
    number: int = 0
    title: str = "milk"
    priority: str = "low"
    key: str | None = None


steps = st.builds(
    Step,
    kind=st.sampled_from(["add", "add", "complete", "update", "delete", "undo", "steal", "nonsense"]),
    number=st.integers(0, 9),
    title=st.sampled_from(TITLES),
    priority=st.sampled_from(PRIORITIES),
    key=st.sampled_from([None, None, "k1", "k2"]),
)
# In a round every user takes one step, all at once.
rounds = st.lists(st.tuples(*(steps for _ in USERS)), min_size=1, max_size=20)


class World:
    """The real thing: services on a real database, and every answer held against the model."""

    def __init__(self, database: Database) -> None:
        self.store, self.people = PostgresTaskStore(database), PostgresUserStore(database)
        self.service = TaskService(tasks=self.store, users=self.people)
        self.desk = Desk(tasks=self.store, users=Users(self.people))
        self.take_back = TaskUndo(database, self.store)

    async def play(self, story: list[tuple[Step, ...]]) -> None:
        mark = uuid.uuid4().hex[:12]
        names = [f"{user}-{mark}" for user in USERS]
        persons = {name: Person() for name in names}
        for name in names:
            await self.people.add(User(id=name, name=name))
        for together in story:
            strangers = {name: persons[names[number - 1]].pick(0) for number, name in enumerate(names)}
            taken = zip(names, together, strict=True)
            await asyncio.gather(
                *(self.step(name, persons[name], step, strangers[name]) for name, step in taken)
            )
            for name in names:
                await self.compare(name, persons[name])

    async def step(self, name: str, person: Person, step: Step, stranger: str) -> None:
        task_id = person.pick(step.number)
        known = task_id in person.tasks
        match step.kind:
            case "add":
                await self.add(name, person, step)
            case "complete":
                answer = await self.service.complete_task(name, task_id)
                changed = known and person.change(task_id, completed=True)
                assert answer["success"] is known
                assert (answer.get("code") == "ALREADY_COMPLETED") is (known and not changed)
            case "update":
                given = {"title": step.title, "priority": step.priority}
                answer = await self.service.update_task(name, task_id, given)
                assert answer["success"] is known
                if known:
                    assert bool(answer["changes"]) is person.change(task_id, **given)
            case "delete":
                answer = await self.service.delete_task(name, task_id)
                assert answer["success"] is known
                if known:
                    person.forget(task_id)
            case "undo":
                await self.undo(name, person)
            case "steal":
                answer = await self.service.delete_task(name, stranger)
                # The other user may delete it at the very same time.
                assert answer["code"] in ("UNAUTHORIZED", "TASK_NOT_FOUND")
            case _:
                answer = await self.service.update_task(name, task_id, {"title": "x" * 501})
                assert answer["code"] == "INVALID_TITLE"

    async def add(self, name: str, person: Person, step: Step) -> None:
        given = {"title": step.title, "priority": step.priority, "idempotency_key": step.key}
        answer = await self.service.add_task(name, given)
        made = answer["task"]["id"]
        same = [task_id for task_id, task in person.tasks.items() if step.key and task.key == step.key]
        if same:
            assert made == same[0]
        else:
            assert made not in person.tasks
            person.tasks[made] = Kept(step.title, step.priority, key=step.key)
            person.changes.append((made, None))

    async def undo(self, name: str, person: Person) -> None:
        if not person.changes:
            with pytest.raises(StewardError) as refused:
                await self.take_back(name)
            assert refused.value.code == "NOTHING_TO_UNDO"
            return
        task_id, before = person.changes[-1]
        assert await self.take_back(name) == task_id
        person.changes.pop()
        if before is None:
            del person.tasks[task_id]
        else:
            person.tasks[task_id] = before

    async def compare(self, name: str, person: Person) -> None:
        listed = await self.service.list_tasks(name, {"limit": 100})
        found = {task["id"]: (task["title"], task["priority"], task["completed"]) for task in listed["tasks"]}
        assert found == {
            task_id: (task.title, task.priority, task.completed) for task_id, task in person.tasks.items()
        }


@pytest.fixture
def world(database_url: str) -> Iterator[tuple[asyncio.Runner, World]]:
    """One open database for all examples: each has users of its own."""
    with asyncio.Runner() as runner:
        database = Database(External(database_url))
        runner.run(database.__aenter__())
        try:
            yield runner, World(database)
        finally:
            runner.run(database.__aexit__(None, None, None))


@pytest.mark.req("TODO-MTR-001", "TODO-MTR-005", "TODO-MTR-006")
@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a story on a database takes minutes
)
@given(story=rounds)
def test_nothing_is_lost_and_nothing_is_doubled(
    world: tuple[asyncio.Runner, World], story: list[tuple[Step, ...]]
) -> None:
    runner, real = world
    runner.run(real.play(story))


@pytest.mark.req("TODO-MTR-006")
@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(titles=st.lists(st.sampled_from(TITLES), min_size=1, max_size=20))
def test_one_users_additions_at_once_are_all_there(
    world: tuple[asyncio.Runner, World], titles: list[str]
) -> None:
    runner, real = world

    async def play() -> None:
        name = uuid.uuid4().hex
        await real.people.add(User(id=name, name=name))
        await asyncio.gather(*(real.service.add_task(name, {"title": title}) for title in titles))
        listed = await real.service.list_tasks(name, {"limit": 100})
        assert sorted(task["title"] for task in listed["tasks"]) == sorted(titles)

    runner.run(play())
