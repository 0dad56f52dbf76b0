"""Tasks and users over HTTP: whose they are follows from the key."""

from typing import Any

import httpx
import pytest
from tests.integration.api.conftest import Connect

from steward.bootstrap import Platform
from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall


async def added(api: httpx.AsyncClient, title: str = "buy milk", **more: Any) -> str:
    answer = await api.post("/v1/tasks", json={"title": title, **more})
    assert answer.json()["success"], answer.text
    return answer.json()["data"]["task"]["id"]


@pytest.mark.req("TODO-TOOL-1", "TODO-TOOL-2", "TODO-TOOL-3", "TODO-TOOL-5")
async def test_a_tasks_life_over_http(api: httpx.AsyncClient) -> None:
    task_id = await added(api, due_date="2020-01-02", priority="high")
    (listed,) = (await api.get("/v1/tasks", params={"priority": "high"})).json()["items"]
    assert (listed["id"], listed["due_words"], listed["overdue"]) == (task_id, "2 Jan 2020", True)
    changed = (await api.patch(f"/v1/tasks/{task_id}", json={"due_date": None, "title": "buy oats"})).json()
    assert changed["data"]["changes"] == ["title", "due_date"]
    assert (await api.post(f"/v1/tasks/{task_id}/complete")).json()["data"]["task"]["completed"] is True
    log = (await api.get(f"/v1/tasks/{task_id}/log")).json()["items"]
    assert [event["action"] for event in log] == ["added", "updated", "completed"]
    undone = (await api.post("/v1/undo", json={"of": "tasks"})).json()
    assert undone["data"]["message"] == "Taken back: completed the task 'buy oats'."
    assert (await api.get(f"/v1/tasks/{task_id}")).json()["completed"] is False
    assert (await api.get(f"/v1/tasks/{task_id}")).json()["title"] == "buy oats"


@pytest.mark.req("TODO-TOOL-4")
async def test_a_deletion_waits_for_a_yes_and_runs_once(api: httpx.AsyncClient) -> None:
    task_id = await added(api)
    waits = await api.delete(f"/v1/tasks/{task_id}")
    assert (waits.status_code, waits.json()["status"]) == (202, "pending_approval")
    approve = f"/v1/proposals/{waits.json()['proposal_id']}/approve"
    done = (await api.post(approve, json={})).json()
    assert done["data"]["deleted_task"] == {"id": task_id, "title": "buy milk"}
    assert (await api.get(f"/v1/tasks/{task_id}")).status_code == 404
    assert (await api.delete(f"/v1/tasks/{task_id}")).json()["code"] == "TASK_NOT_FOUND"


async def test_words_become_a_task_and_find_one(api: httpx.AsyncClient) -> None:
    read = (await api.get("/v1/tasks/read", params={"text": "water plants every monday"})).json()
    (task,) = read["items"]
    assert (task["title"], task["recurrence"]) == ("water plants", "FREQ=WEEKLY;BYDAY=MO")
    assert task["due_date"] is not None
    daily = (await api.get("/v1/tasks/read", params={"text": "stretch daily"})).json()["items"][0]
    assert daily["due_date"] is not None
    kept = (await api.get("/v1/tasks/read", params={"text": "add"})).json()["items"]
    assert [item["title"] for item in kept] == ["add"]
    await added(api, "call mom")
    task_id = await added(api, "call the bank")
    for reference, count in (("call", 2), ("banks", 1), (task_id, 1), (task_id[5:11], 1), ("zebra", 0)):
        found = (await api.get("/v1/tasks/find", params={"reference": reference})).json()["items"]
        assert len(found) == count, reference


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/v1/tasks?due_before=gibberish", None, 400, "INVALID_FILTER"),
        ("GET", "/v1/tasks?limit=0", None, 422, "INVALID_INPUT"),
        ("GET", "/v1/tasks/read?text=%00", None, 400, "INVALID_INPUT"),
        ("GET", "/v1/tasks/task_nope", None, 404, "TASK_NOT_FOUND"),
        ("GET", "/v1/tasks/a%00b/log", None, 404, "TASK_NOT_FOUND"),
        ("DELETE", "/v1/tasks/task_nope", None, 404, "TASK_NOT_FOUND"),
        ("POST", "/v1/undo", {"of": "tasks:task_nope"}, 409, "NOTHING_TO_UNDO"),
        ("POST", "/v1/undo", {"count": 0}, 422, "INVALID_INPUT"),
        ("POST", "/v1/tasks", {"titel": "x"}, 422, "INVALID_INPUT"),
        ("POST", "/v1/users", {"id": "a/b"}, 400, "INVALID_INPUT"),
        ("POST", "/v1/users", {"id": "x", "time_zone": "../../etc/passwd"}, 400, "INVALID_INPUT"),
        ("POST", "/v1/users", {"id": "x", "name": "n" * 201}, 400, "INVALID_INPUT"),
        ("PATCH", "/v1/users/nobody", {"name": "x"}, 404, "INVALID_USER"),
        ("DELETE", "/v1/users/local", None, 409, "CONFLICT"),
        ("DELETE", "/v1/users/nobody?confirm=nobody", None, 404, "INVALID_USER"),
    ],
)
async def test_a_mistake_is_a_problem_with_a_code(
    api: httpx.AsyncClient, method: str, path: str, body: Any, status: int, code: str
) -> None:
    answer = await api.request(method, path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.req("TODO-TOOL-1", "TODO-MTR-002")
async def test_a_tools_own_refusal_keeps_its_code(api: httpx.AsyncClient) -> None:
    answer = await api.post("/v1/tasks", json={"title": ""})
    shape = answer.json()
    assert (answer.status_code, shape["success"], shape["error_code"], shape["error"]) == (
        200,
        False,
        "INVALID_TITLE",
        "Task title must be 1-500 characters",
    )


async def test_each_key_sees_its_own_users_tasks_only(platform: Platform, connect: Connect) -> None:
    local = connect(key=platform.owner_token)
    made = await local.post("/v1/users", json={"id": "ana", "time_zone": "Asia/Tokyo"})
    assert made.status_code == 201
    mine = await added(local, "mine")
    key = (await local.post("/v1/keys", json={"name": "ana", "role": "use", "user": "ana"})).json()["token"]
    ana = connect(key=key)
    hers = await added(ana, "hers", due_date="2030-01-01T09:00:00")
    (task,) = (await ana.get("/v1/tasks")).json()["items"]
    assert (task["id"], task["due_date"]) == (hers, "2030-01-01T09:00:00+09:00")
    assert (await ana.get(f"/v1/tasks/{mine}")).json()["code"] == "UNAUTHORIZED"
    stolen = await ana.post("/v1/tools/list_tasks/call", json={"arguments": {"user_id": "local"}})
    assert (stolen.json()["success"], stolen.json()["error_code"]) == (False, "FORBIDDEN")
    assert (await ana.get("/v1/users")).status_code == 403
    erased = await platform.tasks.users.erase("ana")
    assert erased.id == "ana"
    assert [user.id for user in await platform.tasks.users.list()] == ["local"]


@pytest.mark.req("TODO-ASM-1")
@pytest.mark.req("TODO-TOOL-4")
async def test_behind_the_door_an_agent_acts_for_its_sessions_user(platform: Platform) -> None:
    async def call(tool: str, **arguments: Any) -> Any:
        caller = Caller(CallerKind.AGENT, "assistant")
        return await platform.orchestrator.execute(
            ToolCall(tool=tool, arguments=arguments, caller=caller, user="local")
        )

    made = await call("add_task", title="buy milk")
    assert isinstance(made, Done)
    other = await call("add_task", title="buy milk", user_id="ana")
    wrong = await call("add_task", title=7)
    final = await call("delete_task", task_id=made.data["task"]["id"])
    assert isinstance(other, Failed)
    assert isinstance(wrong, Failed)
    assert isinstance(final, PendingApproval)
    assert (other.code, wrong.code) == ("FORBIDDEN", "INVALID_TITLE")
    tools = {tool.spec.name: tool.spec for tool in platform.orchestrator.registry.select(category="tasks")}
    assert {name: platform.rating(spec).value for name, spec in tools.items()} == {
        "add_task": "reversible",
        "list_tasks": "reversible",
        "complete_task": "reversible",
        "update_task": "reversible",
        "delete_task": "irreversible",
    }


async def test_without_its_agent_the_list_says_so(platform: Platform, api: httpx.AsyncClient) -> None:
    await platform.orchestrator.lifecycle.stop("tasks")
    answer = await api.get("/v1/tasks")
    assert (answer.status_code, answer.json()["code"]) == (503, "TOOL_NOT_FOUND")


async def test_only_an_administrator_sees_somebody_elses_tasks(
    api: httpx.AsyncClient, connect: Connect
) -> None:
    await added(api)
    await api.post("/v1/users", json={"id": "ana", "name": "Ana"})
    made = await api.post("/v1/keys", json={"name": "hers", "role": "use", "user": "ana"})
    hers = connect(key=made.json()["token"])
    assert (await hers.get("/v1/tasks", params={"user": "local"})).status_code == 403
    assert (await hers.get("/v1/tasks", params={"user": "ana"})).json()["items"] == []
    assert (await api.get("/v1/tasks", params={"user": "ana"})).json()["items"] == []
