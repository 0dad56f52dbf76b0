"""Schedules and notices over HTTP: whose they are follows from the key."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from tests.integration.api.conftest import Connect
from tests.support.waiting import until

from steward.bootstrap import Platform
from steward.policy.access import Role
from steward.storage.reminders import PostgresReminderStore

DAILY = {"request": "Show my tasks", "when": "every day at 8"}


async def reminded(platform: Platform, api: httpx.AsyncClient, title: str = "stretch") -> dict[str, Any]:
    """A task whose reminder was told."""
    body = {"title": title, "due_date": "2026-01-05T08:00:00Z", "notify": True}
    task = (await api.post("/v1/tasks", json=body)).json()["data"]["task"]
    at = datetime.fromisoformat(task["notify_at"])
    await PostgresReminderStore(platform.database).remind(task["id"], at, now=datetime.now(UTC))
    return task


async def bobs(platform: Platform, connect: Connect, role: Role = Role.USE) -> httpx.AsyncClient:
    await platform.tasks.users.add("bob")
    _, token = await platform.keys.add("bob", role, user="bob")
    return connect(key=token)


async def test_a_schedule_is_added_seen_paused_and_resumed(api: httpx.AsyncClient) -> None:
    made = (await api.post("/v1/schedules", json=DAILY)).json()
    assert made["status"] == "done"
    where = f"/v1/schedules/{made['data']['id']}"
    assert [each["id"] for each in (await api.get("/v1/schedules")).json()["items"]] == [made["data"]["id"]]
    paused = (await api.post(f"{where}/pause")).json()
    assert (paused["paused"], paused["next_at"]) == (True, None)
    resumed = (await api.post(f"{where}/resume")).json()
    assert resumed["next_at"] == made["data"]["next_at"]
    assert (await api.get(where)).json() == resumed


async def test_removing_a_schedule_waits_for_a_yes(api: httpx.AsyncClient) -> None:
    made = (await api.post("/v1/schedules", json=DAILY)).json()["data"]
    waits = await api.delete(f"/v1/schedules/{made['id']}")
    assert waits.status_code == 202
    assert len((await api.get("/v1/schedules")).json()["items"]) == 1
    proposal = waits.json()["proposal_id"]
    assert (await api.post(f"/v1/proposals/{proposal}/approve", json={})).json()["success"]
    assert (await api.get("/v1/schedules")).json()["items"] == []


async def test_a_time_that_is_none_is_refused_with_an_example(api: httpx.AsyncClient) -> None:
    refused = (await api.post("/v1/schedules", json={"request": "x", "when": "whenever"})).json()
    assert refused["success"] is False
    assert "every weekday at 8" in refused["error"]


@pytest.mark.parametrize("path", ["/v1/schedules/nope", "/v1/schedules/nope/pause", "/v1/notices/nope/seen"])
async def test_what_is_not_there_is_404(api: httpx.AsyncClient, path: str) -> None:
    send = api.get if path.endswith("nope") else api.post
    assert (await send(path)).status_code == 404


async def test_schedules_and_notices_are_ones_own(
    api: httpx.AsyncClient, platform: Platform, connect: Connect
) -> None:
    made = (await api.post("/v1/schedules", json=DAILY)).json()["data"]
    await reminded(platform, api)
    mine = (await api.get("/v1/notices")).json()["items"]
    bob = await bobs(platform, connect)
    assert (await bob.get("/v1/schedules")).json()["items"] == []
    assert (await bob.get("/v1/notices")).json()["items"] == []
    assert (await bob.get(f"/v1/schedules/{made['id']}")).status_code == 404
    assert (await bob.delete(f"/v1/schedules/{made['id']}")).status_code == 404
    assert (await bob.post(f"/v1/notices/{mine[0]['id']}/seen")).status_code == 404


async def test_a_notice_is_listed_until_it_was_seen(api: httpx.AsyncClient, platform: Platform) -> None:
    task = await reminded(platform, api)
    unseen = (await api.get("/v1/notices", params={"unseen": True})).json()["items"]
    assert [(each["event"], each["task_id"]) for each in unseen] == [("reminder", task["id"])]
    seen = (await api.post(f"/v1/notices/{unseen[0]['id']}/seen")).json()
    assert seen["seen_at"] is not None
    assert (await api.get("/v1/notices", params={"unseen": True})).json()["items"] == []
    assert len((await api.get("/v1/notices", params={"newest": True})).json()["items"]) == 1


async def test_notices_come_in_pages(api: httpx.AsyncClient, platform: Platform) -> None:
    for title in ("a", "b", "c"):
        await reminded(platform, api, title)
    first = (await api.get("/v1/notices", params={"limit": 2})).json()
    rest = (await api.get("/v1/notices", params={"limit": 2, "after": first["next"]})).json()
    assert [each["title"] for each in first["items"] + rest["items"]] == ["a", "b", "c"]
    assert rest["next"] is None


async def test_the_stream_tells_what_was_missed_and_ends_with_the_program(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    await reminded(platform, api)
    ending = asyncio.get_running_loop().call_later(0.5, platform.notices.board.close)
    body = (await api.get("/v1/notices/stream")).text  # this client reads to the end
    ending.cancel()
    lines = [line for line in body.splitlines() if line.startswith("data:")]
    assert [json.loads(line[5:])["title"] for line in lines] == ["stretch"]


async def test_a_stream_ends_with_its_key_before_it_tells_anything_more(
    api: httpx.AsyncClient, platform: Platform, connect: Connect
) -> None:
    key, token = await platform.keys.add("phone", Role.READ)
    reading = asyncio.create_task(connect(key=token).get("/v1/notices/stream"))
    await until(lambda: platform.notices.board.followed)
    await platform.keys.revoke(key.name)
    await reminded(platform, api)
    assert "stretch" not in (await reading).text


async def test_only_an_administrator_says_where_notices_are_sent(
    api: httpx.AsyncClient, platform: Platform, connect: Connect
) -> None:
    bob = await bobs(platform, connect, Role.APPROVE)
    path = "/v1/users/bob/addresses/email"
    assert (await bob.put(path, json={"address": "bob@example.org"})).status_code == 403
    assert (await api.put(path, json={"address": "bob@example.org"})).json()["items"] == ["email"]
    assert (await api.get("/v1/users/bob/addresses")).json()["items"] == ["email"]
    assert (await api.delete(path)).json()["items"] == []
    assert (await api.delete(path)).status_code == 404


@pytest.mark.parametrize(
    ("medium", "address", "status"),
    [("email", "nobody", 400), ("webhook", "file:///etc/passwd", 400), ("pigeon", "x", 422)],
)
async def test_an_address_that_cannot_be_right_is_refused(
    api: httpx.AsyncClient, medium: str, address: str, status: int
) -> None:
    answer = await api.put(f"/v1/users/local/addresses/{medium}", json={"address": address})
    assert answer.status_code in (status, 422)
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_task_is_snoozed_by_a_time_in_notify(api: httpx.AsyncClient) -> None:
    body = {"title": "call", "due_date": "2030-01-05T08:00:00Z", "notify": True}
    task = (await api.post("/v1/tasks", json=body)).json()["data"]["task"]
    changed = await api.patch(f"/v1/tasks/{task['id']}", json={"notify": "2030-01-05T08:10:00Z"})
    assert changed.json()["data"]["changes"] == ["notify"]
    shown = (await api.get(f"/v1/tasks/{task['id']}")).json()
    assert shown["notify"] is True
    assert datetime.fromisoformat(shown["notify_at"]) == datetime(2030, 1, 5, 8, 10, tzinfo=UTC)
