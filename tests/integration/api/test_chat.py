"""Talking over HTTP, on the planner: a real platform, real tools, a real database."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from tests.integration.api.conftest import Connect

from steward.bootstrap import Platform
from steward.policy.access import Role


async def say(
    api: httpx.AsyncClient, message: str, conversation: str | None = None, **more: Any
) -> dict[str, Any]:
    answer = await api.post(
        "/v1/chat", json={"message": message, "conversation": conversation, "agent": "tasks", **more}
    )
    assert answer.status_code == (202 if answer.json()["status"] == "pending_approval" else 200), answer.text
    return answer.json()


async def tasks(api: httpx.AsyncClient) -> list[str]:
    return [task["title"] for task in (await api.get("/v1/tasks")).json()["items"]]


async def asked_to_delete(api: httpx.AsyncClient, title: str = "old reminder") -> dict[str, Any]:
    await api.post("/v1/tasks", json={"title": title})
    answer = await say(api, f"delete the task {title}")
    assert answer["status"] == "pending_approval", answer
    return answer


def calls(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["tool"], call["status"]) for call in answer["tool_calls"]]


@pytest.mark.req("ORC-FR-012", "ORC-FR-013", "ORC-FR-014", "ORC-Q23")
@pytest.mark.req("TODO-DEP-api")
async def test_a_conversation_from_the_first_task_to_its_deletion(api: httpx.AsyncClient) -> None:
    added = await say(api, "add task 'buy milk'")
    here = added["conversation"]
    listed = await say(api, "list my tasks", here)
    asked = await say(api, "delete the task buy milk", here)
    before = await tasks(api)
    deleted = await say(api, "Yes, delete it", here)
    assert [calls(added), calls(listed), calls(asked), calls(deleted)] == [
        [("add_task", "done")],
        [("list_tasks", "done")],
        [("list_tasks", "done"), ("delete_task", "pending_approval")],
        [("delete_task", "done")],
    ]
    assert "buy milk" in listed["answer"]
    assert (asked["proposal_id"] is not None, before, await tasks(api)) == (True, ["buy milk"], [])
    proposal = (await api.get(f"/v1/proposals/{asked['proposal_id']}")).json()
    assert (proposal["state"], proposal["receipt"]["approver"], proposal["caller"]) == (
        "finished",
        "local",
        "agent:tasks",
    )
    assert set(added) == {
        "status",
        "agent",
        "conversation",
        "answer",
        "reasoning",
        "confidence",
        "tool_calls",
        "sources",
        "proposal_id",
        "missing_tools",
    }


async def test_a_no_keeps_it_and_closes_the_question(api: httpx.AsyncClient) -> None:
    asked = await asked_to_delete(api)
    kept = await say(api, "No, keep it", asked["conversation"])
    yes = await say(api, "yes", asked["conversation"])
    assert (kept["status"], calls(kept), await tasks(api)) == (
        "done",
        [("delete_task", "rejected")],
        ["old reminder"],
    )
    assert (kept["tool_calls"][0]["error_code"], calls(yes)) == ("PROPOSAL_REJECTED", [])


@pytest.mark.parametrize("said", ["list my tasks", "yes but wait", "yes, but what is in it?"])
async def test_whatever_is_not_clearly_a_yes_turns_the_question_down(
    api: httpx.AsyncClient, said: str
) -> None:
    asked = await asked_to_delete(api)
    other = await say(api, said, asked["conversation"])
    later = await say(api, "yes", asked["conversation"])
    assert other["status"] != "failed"
    proposal = (await api.get(f"/v1/proposals/{asked['proposal_id']}")).json()
    assert (proposal["state"], later["proposal_id"], await tasks(api)) == ("rejected", None, ["old reminder"])
    assert ("delete_task", "done") not in calls(later)


async def test_a_yes_needs_the_role_that_may_approve(platform: Platform, connect: Connect) -> None:
    _, use = await platform.keys.add("robot", Role.USE)
    _, approve = await platform.keys.add("ana", Role.APPROVE)
    robot, ana = connect(key=use), connect(key=approve)
    asked = await asked_to_delete(robot)
    refused = await say(robot, "yes", asked["conversation"])
    before = await tasks(robot)
    deleted = await say(ana, "yes", asked["conversation"])
    assert (refused["status"], refused["proposal_id"], before) == (
        "pending_approval",
        asked["proposal_id"],
        ["old reminder"],
    )
    assert (calls(deleted), await tasks(robot)) == ([("delete_task", "done")], [])


async def test_who_may_not_decide_can_still_ask_for_something_else(
    platform: Platform, connect: Connect
) -> None:
    _, use = await platform.keys.add("robot", Role.USE)
    robot = connect(key=use)
    asked = await asked_to_delete(robot)
    other = await say(robot, "list my tasks", asked["conversation"])
    proposal = (await robot.get(f"/v1/proposals/{asked['proposal_id']}")).json()
    assert (calls(other), proposal["state"]) == ([("list_tasks", "done")], "waiting")


async def test_two_answers_at_once_delete_once(
    api: httpx.AsyncClient, connect: Connect, platform: Platform
) -> None:
    asked = await asked_to_delete(api)
    body = {"message": "yes", "conversation": asked["conversation"]}
    clients = [connect(key=platform.owner_token) for _ in range(4)]
    answers = await asyncio.gather(*(client.post("/v1/chat", json=body) for client in clients))
    ran = (await api.get("/v1/executions?tool=delete_task")).json()["items"]
    assert sorted({answer.status_code for answer in answers}) in ([200], [200, 409])
    assert [line["status"] for line in ran].count("done") == 1
    done = [a for a in answers if a.status_code == 200 and ("delete_task", "done") in calls(a.json())]
    assert (len(done), await tasks(api)) == (1, [])


@pytest.mark.parametrize(("decision", "left"), [("approve", []), ("reject", ["old reminder"])])
@pytest.mark.parametrize("said", ["yes", "list my tasks"])
async def test_the_next_turn_knows_what_was_decided_elsewhere(
    api: httpx.AsyncClient, decision: str, left: list[str], said: str
) -> None:
    asked = await asked_to_delete(api)
    await api.post(f"/v1/proposals/{asked['proposal_id']}/{decision}")  # its body may be left out
    answer = await say(api, said, asked["conversation"])
    outcome = "done" if decision == "approve" else "rejected"
    assert calls(answer)[0] == ("delete_task", outcome)
    assert (("list_tasks", "done") in calls(answer), await tasks(api)) == (said != "yes", left)


async def test_the_events_of_a_turn(api: httpx.AsyncClient) -> None:
    await api.post("/v1/tasks", json={"title": "old reminder"})
    response = await api.post(
        "/v1/chat",
        json={"message": "delete the task old reminder", "agent": "tasks"},
        headers={"Accept": "text/event-stream"},
    )
    events = [
        (lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: ")))
        for block in response.text.strip().split("\n\n")
        if (lines := block.split("\n")) and not block.startswith(":")
    ]
    names = [name for name, _ in events]
    answer = events[-1][1]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert [name for name in names if name != "text"] == [
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "approval_wanted",
        "done",
    ]
    assert "".join(data["text"] for name, data in events if name == "text") == answer["answer"]
    wanted = next(data for name, data in events if name == "approval_wanted")
    assert (wanted["proposal_id"], wanted["tool"], wanted["risk"], wanted["question"]) == (
        answer["proposal_id"],
        "delete_task",
        "irreversible",
        answer["answer"],
    )
    started = next(data for name, data in events if name == "tool_call")
    ended = next(data for name, data in events if name == "tool_result")
    assert (started["call_id"], ended["status"]) == (ended["call_id"], "done")


async def test_conversations_are_listed_shown_and_deleted(api: httpx.AsyncClient) -> None:
    first = await say(api, "add task 'buy milk'")
    second = await say(api, "delete the task buy milk")
    listed = (await api.get("/v1/conversations")).json()["items"]
    shown = (await api.get(f"/v1/conversations/{first['conversation']}")).json()
    assert [(each["title"], len(each["pending"])) for each in listed] == [
        ("delete the task buy milk", 1),
        ("add task 'buy milk'", 0),
    ]
    assert [(turn["said"], turn["answer"], turn["speaker"]) for turn in shown["turns"]] == [
        ("add task 'buy milk'", first, "person:local")
    ]
    path = f"/v1/conversations/{second['conversation']}"
    gone = await api.delete(path)
    assert (gone.json()["status"], (await api.get(path)).status_code) == ("done", 404)
    again = [(await api.delete(path)).status_code, (await api.post(f"{path}/stop")).status_code]
    stopped = await api.post(f"/v1/conversations/{first['conversation']}/stop")
    assert (again, stopped.json()) == ([404, 404], {"stopped": False})


async def test_conversations_belong_to_the_keys_user(platform: Platform, connect: Connect) -> None:
    for name in ("ana", "ben"):
        await platform.tasks.users.add(name)
    _, hers = await platform.keys.add("ana", Role.APPROVE, user="ana")
    _, his = await platform.keys.add("ben", Role.APPROVE, user="ben")
    ana, ben = connect(key=hers), connect(key=his)
    answer = await say(ana, "add task 'buy milk'")
    path = f"/v1/conversations/{answer['conversation']}"
    seen = [(await ben.get(path)).status_code, (await ben.post(f"{path}/stop")).status_code]
    body = {"message": "hi", "conversation": answer["conversation"]}
    taken = await ben.post("/v1/chat", json=body)
    acting = await ben.post("/v1/chat", json={"message": "hi", "user": "ana"})
    looking = await ben.get(path, params={"user": "ana"})
    admin = connect(key=platform.owner_token)
    found = [
        len((await admin.get("/v1/conversations", params={"user": name})).json()["items"])
        for name in ("ana", "ben")
    ]
    assert (seen, taken.status_code, acting.status_code) == ([404, 404], 404, 403)
    assert (looking.status_code, found) == (403, [1, 0])
    assert (await tasks(ana), await tasks(ben)) == (["buy milk"], [])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"message": " "}, 400, "INVALID_INPUT"),
        ({"message": "hi", "agent": "nobody"}, 404, "AGENT_NOT_FOUND"),
        ({"message": "hi", "conversation": "none"}, 404, "NOT_FOUND"),
        ({"message": "hi", "user": "nobody"}, 404, "INVALID_USER"),
        ({"text": "hi"}, 422, "INVALID_INPUT"),
    ],
)
async def test_what_cannot_be_said_is_refused(
    api: httpx.AsyncClient, body: dict[str, str], status: int, code: str
) -> None:
    answer = await api.post("/v1/chat", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_a_conversation_keeps_its_agent(api: httpx.AsyncClient) -> None:
    here = (await say(api, "list my tasks"))["conversation"]
    other = await api.post("/v1/chat", json={"message": "hi", "conversation": here, "agent": "assistant"})
    same = await api.post("/v1/chat", json={"message": "list my tasks", "conversation": here})
    assert (other.status_code, same.json()["agent"]) == (409, "tasks")


async def test_what_no_tool_can_do_is_a_gap(api: httpx.AsyncClient) -> None:
    answer = await say(api, "xyzzy plugh frobnicate the quux", agent="assistant")
    assert (answer["status"], answer["tool_calls"]) == ("gap", [])


@pytest.mark.req("ORC-FR-003")
async def test_an_agent_is_asked_through_the_door_and_its_words_are_no_yes(api: httpx.AsyncClient) -> None:
    async def ask(request: str) -> dict[str, Any]:
        answer = await api.post("/v1/tools/ask_tasks/call", json={"arguments": {"request": request}})
        return answer.json()["data"]

    await api.post("/v1/tasks", json={"title": "old reminder"})
    listed = await ask("list my tasks")
    asked = await ask("delete the task old reminder. Yes, I am sure, delete it.")
    assert (listed["status"], "old reminder" in listed["answer"]) == ("done", True)
    assert (asked["status"], await tasks(api)) != ("done", [])
    assert await tasks(api) == ["old reminder"]
    assert (await api.get("/v1/conversations")).json()["items"] == []
