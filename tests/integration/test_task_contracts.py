"""The five task tools answer exactly as contracted, on a real database, over MCP."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
from fastmcp import Client
from tests.support.undoing import TaskUndo

from steward.contract.schema import compile_schema
from steward.servers.tasks import build
from steward.storage.database.postgres import Database
from steward.storage.tasks import PostgresTaskStore, PostgresUserStore
from steward.tasks.model import User
from steward.tasks.service import TaskService

NOW = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)  # a Sunday


class Tasks:
    """The tools as a client sees them: every answer is checked against its own output schema."""

    def __init__(self, client: Client[Any]) -> None:
        self._client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool_mcp(tool, arguments)
        envelope = result.structured_content
        assert envelope is not None
        tools = {listed.name: listed for listed in await self._client.list_tools()}
        assert compile_schema(tools[tool].output_schema or {}).problems(envelope) == ()
        assert (result.is_error or False) == (not envelope["success"])
        assert envelope["timestamp"] == NOW.isoformat()
        return envelope

    async def added(self, title: str = "buy milk", **more: Any) -> str:
        return (await self("add_task", user_id="ana", title=title, **more))["task"]["id"]


@pytest.fixture
async def tasks(database: Database) -> AsyncIterator[Tasks]:
    users = PostgresUserStore(database)
    await users.add(User(id="ana", name="Ana"))
    await users.add(User(id="bob", name="Bob", time_zone="America/New_York"))
    service = TaskService(tasks=PostgresTaskStore(database), users=users, now=lambda: NOW)
    async with Client(build(service)) as client:
        yield Tasks(client)


def refused(envelope: dict[str, Any]) -> tuple[str, str]:
    assert envelope == {
        "success": False,
        "code": envelope["code"],
        "message": envelope["message"],
        "timestamp": NOW.isoformat(),
    }
    return envelope["code"], envelope["message"]


@pytest.mark.req("TODO-TOOL-1-OUT")
@pytest.mark.req("TODO-TOOL-1", "TODO-MTR-003", "TODO-MTR-004", "TODO-MTR-005")
async def test_an_added_task_comes_back_whole(tasks: Tasks) -> None:
    answer = await tasks(
        "add_task",
        user_id="ana",
        title=" call mom ",
        description="about May",
        due_date="tomorrow",
        priority="high",
    )
    task = answer["task"]
    assert answer == {
        "success": True,
        "task": {
            "id": task["id"],
            "title": "call mom",
            "description": "about May",
            "due_date": "2026-11-16",
            "priority": "high",
            "completed": False,
            "created_at": NOW.isoformat(),
        },
        "message": "Added 'call mom'",
        "timestamp": NOW.isoformat(),
    }


@pytest.mark.req("TODO-TOOL-1-INVALID_TITLE", "TODO-TOOL-1-INVALID_USER", "TODO-TOOL-1-INVALID_DATE")
@pytest.mark.req("TODO-TOOL-1-INVALID_PRIORITY")
@pytest.mark.req("TODO-TOOL-1", "TODO-MTR-002")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ({"title": ""}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": "   "}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": "x" * 501}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": "a\0b"}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": "x" * 10_000_000}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": 7}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": "x", "user_id": "nobody"}, "INVALID_USER", "User not found"),
        ({"title": "x", "user_id": "a\0b"}, "INVALID_USER", "User not found"),
        ({"title": "x", "due_date": "gibberish"}, "INVALID_DATE", "Could not parse date"),
        ({"title": "x", "due_date": "2026-02-30"}, "INVALID_DATE", "Could not parse date"),
        ({"title": "x", "due_date": "10000-01-01"}, "INVALID_DATE", "Could not parse date"),
        ({"title": "x", "due_date": ""}, "INVALID_DATE", "Could not parse date"),
        ({"title": "x", "priority": "urgent"}, "INVALID_PRIORITY", "Priority must be low, medium, or high"),
        (
            {"title": "x", "description": "y" * 2001},
            "INVALID_DESCRIPTION",
            "Task description must be at most 2000 characters",
        ),
        (
            {"title": "x", "due_date": "tomorrow", "recurrence": "FREQ=OFTEN"},
            "INVALID_RECURRENCE",
            "Recurrence must be an RRULE such as FREQ=WEEKLY;BYDAY=MO",
        ),
        (
            {"title": "x", "recurrence": "FREQ=DAILY"},
            "INVALID_RECURRENCE",
            "A recurring task needs a due date",
        ),
        ({"title": "x", "idempotency_key": ""}, "INVALID_KEY", "Idempotency key must be 1-200 characters"),
    ],
)
async def test_adding_is_refused_with_its_own_code_and_adds_nothing(
    tasks: Tasks, arguments: dict[str, Any], code: str, message: str
) -> None:
    answer = await tasks("add_task", **({"user_id": "ana"} | arguments))
    listed = await tasks("list_tasks", user_id="ana")
    assert (refused(answer), listed["count"]) == ((code, message), 0)


@pytest.mark.parametrize(
    "title",
    [
        "👩‍👩‍👧‍👦" * 500,
        "é" * 500,
        "שלום עולם",
        "'; DROP TABLE tasks; --",
        "%_\\",
        "\u202eright to left",
        "line\nbreak",
    ],
    ids=["families", "combining", "hebrew", "sql", "patterns", "override", "lines"],
)
async def test_any_title_of_500_characters_as_people_count_is_kept_as_it_was(
    tasks: Tasks, title: str
) -> None:
    task_id = await tasks.added(title)
    listed = await tasks("list_tasks", user_id="ana")
    assert [(task["id"], task["title"]) for task in listed["tasks"]] == [(task_id, title)]


@pytest.mark.req("TODO-ASM-3", "TODO-ASM-5")
@pytest.mark.req("TODO-TOOL-1")
@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("2026-12-24", "2026-12-24"),
        ("2026-12-24T18:30:00", "2026-12-24T18:30:00-05:00"),
        ("2026-12-24T18:30:00Z", "2026-12-24T13:30:00-05:00"),
        ("tomorrow", "2026-11-16"),
        ("next friday at 5pm", "2026-11-20T17:00:00-05:00"),
        (None, None),
    ],
)
async def test_dates_are_read_in_the_owners_zone(tasks: Tasks, said: str | None, due: str | None) -> None:
    answer = await tasks("add_task", user_id="bob", title="x", due_date=said)
    assert (answer["task"]["due_date"], answer["task"]["priority"]) == (due, "medium")


@pytest.mark.req("TODO-MTR-006")
async def test_the_same_key_adds_one_task(tasks: Tasks) -> None:
    first = await tasks("add_task", user_id="ana", title="once", idempotency_key="k")
    again = await tasks("add_task", user_id="ana", title="once more", idempotency_key="k")
    other = await tasks("add_task", user_id="bob", title="once", idempotency_key="k")
    assert (again["task"], other["task"]["id"] == first["task"]["id"]) == (first["task"], False)
    assert (await tasks("list_tasks", user_id="ana"))["count"] == 1


@pytest.mark.req("TODO-TOOL-2")
async def test_listing_filters_and_sorts(tasks: Tasks) -> None:
    await tasks.added("low later", due_date="2026-12-01", priority="low")
    await tasks.added("today", due_date="today", description="with Milk")
    await tasks.added("at five", due_date="2026-11-15T17:00:00")
    await tasks.added("someday", priority="high")
    done = await tasks.added("buy milk")
    await tasks("complete_task", user_id="ana", task_id=done)

    async def titles(**filters: Any) -> list[str]:
        answer = await tasks("list_tasks", user_id="ana", **filters)
        assert answer["count"] == len(answer["tasks"])
        return [task["title"] for task in answer["tasks"]]

    assert await titles() == ["today", "at five", "low later", "someday", "buy milk"]
    assert await titles(completed=True) == ["buy milk"]
    assert await titles(completed=False, priority="high") == ["someday"]
    assert await titles(due_before="2026-11-16", due_after="2026-11-14") == ["today", "at five"]
    assert await titles(due_before="2026-11-15") == []
    assert await titles(due_after="2026-11-15T16:00:00") == ["at five", "low later"]
    assert await titles(search="MILK") == ["today", "buy milk"]
    assert await titles(search="%") == []
    assert await titles(limit=2) == ["today", "at five"]


@pytest.mark.req("TODO-ENT-Task", "TODO-TOOL-2-OUT")
@pytest.mark.req("TODO-TOOL-2")
async def test_a_listed_task_has_every_field_of_the_contract(tasks: Tasks) -> None:
    task_id = await tasks.added()
    answer = await tasks("list_tasks", user_id="ana")
    assert answer == {
        "success": True,
        "tasks": [
            {
                "id": task_id,
                "title": "buy milk",
                "description": None,
                "due_date": None,
                "priority": "medium",
                "completed": False,
                "created_at": NOW.isoformat(),
                "completed_at": None,
            }
        ],
        "count": 1,
        "message": "Found 1 task",
        "timestamp": NOW.isoformat(),
    }
    assert (await tasks("list_tasks", user_id="bob"))["message"] == "No tasks found"


@pytest.mark.req("TODO-TOOL-2-INVALID_FILTER")
@pytest.mark.req("TODO-TOOL-2", "TODO-MTR-002")
@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"limit": 0}, "Invalid filter: limit must be 1-100"),
        ({"limit": 101}, "Invalid filter: limit must be 1-100"),
        ({"priority": "urgent"}, "Invalid filter: priority must be low, medium, or high"),
        ({"due_before": "gibberish"}, "Invalid filter: due_before is not a date"),
        ({"due_after": "gibberish"}, "Invalid filter: due_after is not a date"),
        ({"search": "a\0b"}, "Invalid filter: search must be text of at most 500 characters"),
        ({"completed": "yes"}, "Invalid filter: completed must be true or false"),
    ],
)
async def test_a_filter_that_makes_no_sense_is_named(
    tasks: Tasks, filters: dict[str, Any], message: str
) -> None:
    assert refused(await tasks("list_tasks", user_id="ana", **filters)) == ("INVALID_FILTER", message)


@pytest.mark.req("TODO-ENT-User", "TODO-TOOL-2-INVALID_USER", "TODO-TOOL-3-INVALID_USER")
@pytest.mark.req("TODO-TOOL-4-INVALID_USER", "TODO-TOOL-5-INVALID_USER")
@pytest.mark.req("TODO-TOOL-2", "TODO-TOOL-3", "TODO-TOOL-4", "TODO-TOOL-5")
async def test_a_user_that_does_not_exist_can_do_nothing(tasks: Tasks) -> None:
    task_id = await tasks.added()
    for tool, more in (
        ("list_tasks", {}),
        ("complete_task", {"task_id": task_id}),
        ("delete_task", {"task_id": task_id}),
        ("update_task", {"task_id": task_id, "title": "x"}),
    ):
        answer = await tasks(tool, user_id="nobody", **more)
        assert refused(answer) == ("INVALID_USER", "User not found")


@pytest.mark.req("TODO-TOOL-3-TASK_NOT_FOUND", "TODO-TOOL-3-UNAUTHORIZED", "TODO-TOOL-4-TASK_NOT_FOUND")
@pytest.mark.req("TODO-TOOL-4-UNAUTHORIZED", "TODO-TOOL-5-TASK_NOT_FOUND", "TODO-TOOL-5-UNAUTHORIZED")
@pytest.mark.req("TODO-TOOL-3", "TODO-TOOL-4", "TODO-TOOL-5")
@pytest.mark.parametrize("tool", ["complete_task", "delete_task", "update_task"])
async def test_a_task_of_someone_else_and_one_that_is_not_there_are_told_apart(
    tasks: Tasks, tool: str
) -> None:
    task_id = await tasks.added()
    more = {"title": "stolen"} if tool == "update_task" else {}
    theirs = await tasks(tool, user_id="bob", task_id=task_id, **more)
    missing = await tasks(tool, user_id="ana", task_id="task_nope", **more)
    odd = await tasks(tool, user_id="ana", task_id="x" * 100_000, **more)
    assert (refused(theirs), refused(missing), refused(odd)[0]) == (
        ("UNAUTHORIZED", "You don't have access to this task"),
        ("TASK_NOT_FOUND", "Task not found"),
        "TASK_NOT_FOUND",
    )
    assert (await tasks("list_tasks", user_id="ana"))["tasks"][0]["title"] == "buy milk"


@pytest.mark.req("TODO-ASM-6", "TODO-TOOL-3-OUT", "TODO-TOOL-3-ALREADY_COMPLETED")
@pytest.mark.req("TODO-TOOL-3", "TODO-MTR-006")
async def test_completing_twice_succeeds_with_a_note_and_changes_nothing(tasks: Tasks) -> None:
    task_id = await tasks.added()
    first = await tasks("complete_task", user_id="ana", task_id=task_id)
    again = await tasks("complete_task", user_id="ana", task_id=task_id)
    task = {"id": task_id, "title": "buy milk", "completed": True, "completed_at": NOW.isoformat()}
    stamp = {"timestamp": NOW.isoformat()}
    assert first == {"success": True, "task": task, "message": "Completed 'buy milk'", **stamp}
    assert again == {
        "success": True,
        "code": "ALREADY_COMPLETED",
        "task": task,
        "message": "Task is already completed",
        **stamp,
    }


@pytest.mark.req("TODO-ASM-7", "TODO-TOOL-4-OUT")
@pytest.mark.req("TODO-TOOL-4")
async def test_a_deleted_task_is_gone_with_its_history(tasks: Tasks, database: Database) -> None:
    task_id = await tasks.added("secret plan")
    answer = await tasks("delete_task", user_id="ana", task_id=task_id)
    again = await tasks("delete_task", user_id="ana", task_id=task_id)
    assert answer == {
        "success": True,
        "deleted_task": {"id": task_id, "title": "secret plan"},
        "message": "Deleted 'secret plan'",
        "timestamp": NOW.isoformat(),
    }
    assert refused(again)[0] == "TASK_NOT_FOUND"
    assert await database.fetchval("SELECT count(*) FROM task_events") == 0


@pytest.mark.req("TODO-TOOL-5-OUT")
@pytest.mark.req("TODO-TOOL-5")
async def test_an_update_says_what_changed(tasks: Tasks) -> None:
    task_id = await tasks.added(due_date="2026-11-20", description="semi")
    answer = await tasks(
        "update_task", user_id="ana", task_id=task_id, title="buy oat milk", due_date=None, priority="high"
    )
    assert answer == {
        "success": True,
        "task": {
            "id": task_id,
            "title": "buy oat milk",
            "description": "semi",
            "due_date": None,
            "priority": "high",
            "completed": False,
            "updated_at": NOW.isoformat(),
        },
        "changes": ["title", "due_date", "priority"],
        "message": "Updated 'buy oat milk'",
        "timestamp": NOW.isoformat(),
    }
    cleared = await tasks("update_task", user_id="ana", task_id=task_id, description=None, completed=True)
    same = await tasks("update_task", user_id="ana", task_id=task_id, priority="high")
    reopened = await tasks("update_task", user_id="ana", task_id=task_id, completed=False)
    assert [a["changes"] for a in (cleared, same, reopened)] == [
        ["description", "completed"],
        [],
        ["completed"],
    ]


@pytest.mark.req("TODO-TOOL-5-NO_CHANGES", "TODO-TOOL-5-INVALID_TITLE", "TODO-TOOL-5-INVALID_PRIORITY")
@pytest.mark.req("TODO-TOOL-5", "TODO-MTR-002")
@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({}, "NO_CHANGES", "No changes specified"),
        ({"colour": "red"}, "NO_CHANGES", "No changes specified"),
        ({"title": ""}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": "x" * 501}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"title": None}, "INVALID_TITLE", "Task title must be 1-500 characters"),
        ({"priority": "urgent"}, "INVALID_PRIORITY", "Priority must be low, medium, or high"),
        ({"priority": None}, "INVALID_PRIORITY", "Priority must be low, medium, or high"),
        ({"due_date": "gibberish"}, "INVALID_DATE", "Could not parse date"),
        ({"completed": "yes"}, "INVALID_COMPLETED", "Completed must be true or false"),
        (
            {"title": "fine", "priority": "urgent"},
            "INVALID_PRIORITY",
            "Priority must be low, medium, or high",
        ),
    ],
)
async def test_an_update_is_refused_whole(
    tasks: Tasks, changes: dict[str, Any], code: str, message: str
) -> None:
    task_id = await tasks.added()
    answer = await tasks("update_task", user_id="ana", task_id=task_id, **changes)
    kept = (await tasks("list_tasks", user_id="ana"))["tasks"][0]
    assert (refused(answer), kept["title"], kept["priority"]) == ((code, message), "buy milk", "medium")


async def test_a_recurring_task_comes_back_when_it_is_done_and_goes_when_that_is_taken_back(
    tasks: Tasks, database: Database
) -> None:
    task_id = await tasks.added(
        "water plants", due_date="2026-11-16", recurrence="RRULE:FREQ=WEEKLY;BYDAY=MO"
    )
    answer = await tasks("complete_task", user_id="ana", task_id=task_id)
    assert (answer["next_task"]["due_date"], answer["next_task"]["recurrence"]) == (
        "2026-11-23",
        "FREQ=WEEKLY;BYDAY=MO",
    )
    await TaskUndo(database, PostgresTaskStore(database))("ana")
    left = (await tasks("list_tasks", user_id="ana"))["tasks"]
    assert [(task["id"], task["completed"]) for task in left] == [(task_id, False)]


async def test_a_rule_that_has_ended_makes_nothing_new(tasks: Tasks) -> None:
    task_id = await tasks.added(
        "last one", due_date="2026-11-16", recurrence="FREQ=DAILY;UNTIL=20261116T000000Z"
    )
    assert "next_task" not in await tasks("complete_task", user_id="ana", task_id=task_id)


async def test_the_wall_clock_time_of_a_recurring_task_survives_a_change_of_clocks(tasks: Tasks) -> None:
    answer = await tasks(
        "add_task", user_id="bob", title="stand-up", due_date="2027-03-13T09:00:00", recurrence="FREQ=DAILY"
    )
    done = await tasks("complete_task", user_id="bob", task_id=answer["task"]["id"])
    assert done["next_task"]["due_date"] == "2027-03-14T09:00:00-04:00"


@pytest.mark.req("TODO-TOOL-1-IN", "TODO-TOOL-2-IN", "TODO-TOOL-3-IN", "TODO-TOOL-4-IN")
@pytest.mark.req("TODO-TOOL-5-IN")
async def test_each_tool_takes_the_parameters_of_its_table(tasks: Tasks) -> None:
    wanted = {
        "add_task": ["user_id", "title", "description?", "due_date?", "priority?"],
        "list_tasks": [
            *("user_id", "completed?", "priority?", "due_before?", "due_after?", "search?", "limit?")
        ],
        "complete_task": ["user_id", "task_id"],
        "delete_task": ["user_id", "task_id"],
        "update_task": [
            *("user_id", "task_id", "title?", "description?", "due_date?", "priority?", "completed?")
        ],
    }
    for tool in await tasks._client.list_tools():
        schema = tool.input_schema
        shown = [name if name in schema["required"] else f"{name}?" for name in schema["properties"]]
        assert [name for name in shown if name in wanted[tool.name]] == wanted[tool.name], tool.name


@pytest.mark.req("TODO-TOOL-1-IN")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param(
            {"title": " tea "}, {"title": "tea"}, marks=pytest.mark.req("TODO-TOOL-1-title"), id="title"
        ),
        pytest.param(
            {"description": "d" * 2000},
            {"description": "d" * 2000},
            marks=pytest.mark.req("TODO-TOOL-1-description"),
            id="description",
        ),
        pytest.param(
            {"due_date": "next week"},
            {"due_date": "2026-11-16"},
            marks=pytest.mark.req("TODO-TOOL-1-due_date"),
            id="due_date",
        ),
        pytest.param(
            {"priority": "low"},
            {"priority": "low"},
            marks=pytest.mark.req("TODO-TOOL-1-priority"),
            id="priority",
        ),
    ],
)
async def test_each_parameter_of_add_task_is_kept(
    tasks: Tasks, given: dict[str, Any], kept: dict[str, Any]
) -> None:
    answer = await tasks("add_task", **({"user_id": "ana", "title": "milk"} | given))
    assert {name: answer["task"][name] for name in kept} == kept


@pytest.mark.req("TODO-TOOL-2-IN")
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param(
            {"completed": True}, ["milk"], marks=pytest.mark.req("TODO-TOOL-2-completed"), id="done"
        ),
        pytest.param(
            {"completed": False}, ["tea"], marks=pytest.mark.req("TODO-TOOL-2-completed"), id="open"
        ),
        pytest.param(
            {"priority": "high"}, ["milk"], marks=pytest.mark.req("TODO-TOOL-2-priority"), id="priority"
        ),
        pytest.param(
            {"due_before": "2026-11-17"},
            ["milk"],
            marks=pytest.mark.req("TODO-TOOL-2-due_before"),
            id="before",
        ),
        pytest.param(
            {"due_after": "2026-11-17"}, ["tea"], marks=pytest.mark.req("TODO-TOOL-2-due_after"), id="after"
        ),
        pytest.param(
            {"search": "oats"}, ["milk"], marks=pytest.mark.req("TODO-TOOL-2-search"), id="description"
        ),
        pytest.param({"search": "TEA"}, ["tea"], marks=pytest.mark.req("TODO-TOOL-2-search"), id="title"),
    ],
)
async def test_each_filter_of_list_tasks_counts(
    tasks: Tasks, given: dict[str, Any], shown: list[str]
) -> None:
    milk = await tasks.added("milk", description="of oats", due_date="tomorrow", priority="high")
    await tasks.added("tea", description="green", due_date="2026-12-01", priority="low")
    await tasks("complete_task", user_id="ana", task_id=milk)
    found = await tasks("list_tasks", user_id="ana", **given)
    assert [each["title"] for each in found["tasks"]] == shown


@pytest.mark.req("TODO-TOOL-2-IN", "TODO-TOOL-2-limit")
async def test_fifty_tasks_are_listed_unless_another_number_up_to_a_hundred_is_asked_for(
    tasks: Tasks,
) -> None:
    for number in range(53):
        await tasks.added(f"task {number}")
    counts = [(await tasks("list_tasks", user_id="ana", **more))["count"] for more in ({}, {"limit": 100})]
    assert counts == [50, 53]
    assert (await tasks("list_tasks", user_id="ana", limit=2))["count"] == 2
    assert refused(await tasks("list_tasks", user_id="ana", limit=101))[0] == "INVALID_FILTER"


@pytest.mark.req("TODO-TOOL-5-IN")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param(
            {"title": "tea"}, {"title": "tea"}, marks=pytest.mark.req("TODO-TOOL-5-title"), id="title"
        ),
        pytest.param(
            {"description": "green"},
            {"description": "green"},
            marks=pytest.mark.req("TODO-TOOL-5-description"),
            id="description",
        ),
        pytest.param(
            {"description": None},
            {"description": None},
            marks=pytest.mark.req("TODO-TOOL-5-description"),
            id="no description",
        ),
        pytest.param(
            {"due_date": "2026-12-01"},
            {"due_date": "2026-12-01"},
            marks=pytest.mark.req("TODO-TOOL-5-due_date"),
            id="due_date",
        ),
        pytest.param(
            {"due_date": None},
            {"due_date": None},
            marks=pytest.mark.req("TODO-TOOL-5-due_date"),
            id="no due_date",
        ),
        pytest.param(
            {"priority": "low"},
            {"priority": "low"},
            marks=pytest.mark.req("TODO-TOOL-5-priority"),
            id="priority",
        ),
        pytest.param(
            {"completed": True},
            {"completed": True},
            marks=pytest.mark.req("TODO-TOOL-5-completed"),
            id="completed",
        ),
    ],
)
async def test_each_parameter_of_update_task_changes_that_alone(
    tasks: Tasks, given: dict[str, Any], kept: dict[str, Any]
) -> None:
    milk = await tasks.added("milk", description="of oats", due_date="tomorrow", priority="high")
    answer = await tasks("update_task", user_id="ana", task_id=milk, **given)
    [listed] = (await tasks("list_tasks", user_id="ana"))["tasks"]
    assert (answer["changes"], {name: listed[name] for name in kept}) == (list(given), kept)


@pytest.mark.req("TODO-TOOL-1-IN", "TODO-TOOL-2-IN", "TODO-TOOL-3-IN", "TODO-TOOL-4-IN", "TODO-TOOL-5-IN")
@pytest.mark.parametrize(
    ("tool", "more"),
    [
        pytest.param("add_task", {"title": "x"}, marks=pytest.mark.req("TODO-TOOL-1-user_id"), id="add"),
        pytest.param("list_tasks", {}, marks=pytest.mark.req("TODO-TOOL-2-user_id"), id="list"),
        pytest.param(
            "complete_task", {"task_id": ""}, marks=pytest.mark.req("TODO-TOOL-3-user_id"), id="complete"
        ),
        pytest.param(
            "delete_task", {"task_id": ""}, marks=pytest.mark.req("TODO-TOOL-4-user_id"), id="delete"
        ),
        pytest.param(
            "update_task",
            {"task_id": "", "title": "x"},
            marks=pytest.mark.req("TODO-TOOL-5-user_id"),
            id="update",
        ),
    ],
)
async def test_each_call_names_its_user_and_acts_for_that_one_alone(
    tasks: Tasks, tool: str, more: dict[str, Any]
) -> None:
    task_id = await tasks.added("milk")
    given = more | {"task_id": task_id} if "task_id" in more else more
    nobodys, bobs = await tasks(tool, **given), await tasks(tool, user_id="bob", **given)
    assert refused(nobodys) == ("INVALID_USER", "User not found")
    assert bobs.get("code") == ("UNAUTHORIZED" if "task_id" in more else None)
    assert bobs.get("tasks", []) == []
    assert [task["title"] for task in (await tasks("list_tasks", user_id="ana"))["tasks"]] == ["milk"]
    assert (await tasks(tool, user_id="ana", **given))["success"] is True


@pytest.mark.req("TODO-TOOL-3-IN", "TODO-TOOL-4-IN", "TODO-TOOL-5-IN")
@pytest.mark.parametrize(
    ("tool", "more", "left"),
    [
        pytest.param(
            "complete_task",
            {},
            [("milk", True), ("tea", False)],
            marks=pytest.mark.req("TODO-TOOL-3-task_id"),
            id="complete",
        ),
        pytest.param(
            "delete_task", {}, [("tea", False)], marks=pytest.mark.req("TODO-TOOL-4-task_id"), id="delete"
        ),
        pytest.param(
            "update_task",
            {"title": "oats"},
            [("oats", False), ("tea", False)],
            marks=pytest.mark.req("TODO-TOOL-5-task_id"),
            id="update",
        ),
    ],
)
async def test_the_task_that_is_named_is_the_one_that_is_touched(
    tasks: Tasks, tool: str, more: dict[str, Any], left: list[tuple[str, bool]]
) -> None:
    milk = await tasks.added("milk")
    await tasks.added("tea")
    assert refused(await tasks(tool, user_id="ana", **more)) == ("TASK_NOT_FOUND", "Task not found")
    await tasks(tool, user_id="ana", task_id=milk, **more)
    listed = (await tasks("list_tasks", user_id="ana"))["tasks"]
    assert sorted((task["title"], task["completed"]) for task in listed) == sorted(left)


@pytest.mark.req("TODO-DEP-model", "TODO-PHASE-persistence", "TODO-ENT-Task", "TODO-ENT-User")
async def test_a_task_stands_in_the_database_with_its_owner(tasks: Tasks, database: Database) -> None:
    given = {"description": "of oats", "due_date": "2026-11-20", "priority": "high"}
    task_id = await tasks.added("milk", **given)
    [row] = await database.fetch(
        "SELECT t.id, title, description, due_on, priority, completed_at, t.user_id, u.name, u.time_zone "
        "FROM tasks t JOIN users u ON u.id = t.user_id"
    )
    assert tuple(row) == (task_id, "milk", "of oats", date(2026, 11, 20), "high", None, "ana", "Ana", "UTC")


@pytest.mark.req("TODO-MTR-001")
async def test_the_tools_say_what_they_do_to_the_world(tasks: Tasks) -> None:
    listed = {tool.name: tool for tool in await tasks._client.list_tools()}
    hints = {
        name: (
            tool.annotations.read_only_hint,
            tool.annotations.destructive_hint,
            tool.annotations.idempotent_hint,
        )
        for name, tool in listed.items()
        if tool.annotations
    }
    assert hints == {
        "add_task": (False, False, False),
        "list_tasks": (True, False, True),
        "complete_task": (False, False, True),
        "delete_task": (False, True, True),
        "update_task": (False, False, True),
    }
    assert all("Examples:" in (tool.description or "") for tool in listed.values())
