"""Jobs, schedules and notices on the page: what they show, and what a person does with them."""

from datetime import UTC, datetime
from typing import Any

import httpx
from tests.integration.web.conftest import Visiting
from tests.integration.web.test_page_rooms import told
from tests.support.waiting import until

from steward.bootstrap import Platform
from steward.storage.reminders import PostgresReminderStore


async def queued(api: httpx.AsyncClient, tool: str, **arguments: Any) -> str:
    answer = await api.post(f"/v1/tools/{tool}/call", json={"arguments": arguments, "background": True})
    assert answer.status_code == 202, answer.text
    return answer.json()["job"]


async def reminded(platform: Platform, api: httpx.AsyncClient, title: str) -> str:
    """The id of a task whose reminder was told."""
    body = {"title": title, "due_date": "2026-01-05T08:00:00Z", "notify": True}
    task = (await api.post("/v1/tasks", json=body)).json()["data"]["task"]
    at = datetime.fromisoformat(task["notify_at"])
    await PostgresReminderStore(platform.database).remind(task["id"], at, now=datetime.now(UTC))
    return task["id"]


async def notice_of(api: httpx.AsyncClient) -> str:
    return (await api.get("/v1/notices")).json()["items"][0]["id"]


async def test_a_waiting_job_is_cancelled_and_put_back(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "add_task", title="<b>milk</b>")
    shown = (await browser.get("/jobs")).text
    assert "add_task(title=&lt;b&gt;milk&lt;/b&gt;)" in shown
    cancelled = await browser.post(f"/jobs/{job}/cancel")
    assert told(cancelled)["text"] == "Cancelled. What it did until then stays."
    assert "Try again" in cancelled.text
    again = await browser.post(f"/jobs/{job}/retry")
    assert told(again)["text"] == "It waits for a worker again."
    assert (await api.get(f"/v1/jobs/{job}")).json()["state"] == "waiting"


async def test_what_was_given_up_is_found_with_its_reason(
    platform: Platform, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "complete_task", task_id="nothing")

    async def failed() -> bool:
        return (await api.get(f"/v1/jobs/{job}")).json()["state"] == "failed"

    async with platform.work.worker():
        await until(failed, seconds=60)
    letters = (await browser.get("/jobs/list", params={"state": "failed"})).text
    assert f'id="job-{job}"' in letters
    assert "given up" in letters
    assert f'id="job-{job}"' not in (await browser.get("/jobs/list", params={"state": "done"})).text


async def test_jobs_are_ones_own_and_a_reader_only_looks(visiting: Visiting, api: httpx.AsyncClient) -> None:
    (await api.post("/v1/users", json={"id": "ana"})).raise_for_status()
    job = await queued(api, "add_task", title="milk")
    ana, reader = await visiting("use", "ana"), await visiting("read")
    assert f'id="job-{job}"' not in (await ana.get("/jobs")).text
    assert (await ana.post(f"/jobs/{job}/cancel")).status_code == 404
    assert "/cancel" not in (await reader.get("/jobs")).text
    assert (await reader.post(f"/jobs/{job}/cancel")).status_code == 403


async def test_a_schedule_is_added_paused_resumed_and_removed(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    refused = await browser.post("/schedules", data={"request": "x", "when": "whenever"})
    assert (refused.status_code, "every weekday at 8" in refused.text) == (409, True)
    added = await browser.post("/schedules", data={"request": "Show my tasks", "when": "every day at 8"})
    assert told(added)["text"] == "It runs at its times."
    made = (await api.get("/v1/schedules")).json()["items"][0]["id"]
    assert "Show my tasks" in (await browser.get("/schedules")).text
    assert "paused" in (await browser.post(f"/schedules/{made}/pause")).text
    assert "Pause" in (await browser.post(f"/schedules/{made}/resume")).text
    assert 'value="every day at 8"' in (await browser.get(f"/schedules/{made}/edit")).text
    said = {"request": "Show my open tasks", "when": "every day at 9"}
    changed = await browser.post(f"/schedules/{made}", data=said)
    assert all(words in changed.text for words in (*said.values(), "09:00"))
    back = told(changed)["undo"]
    assert (await browser.post(f"/schedules/{made}", data=said | {"agent": "researcher"})).is_success
    assert (await api.get(f"/v1/schedules/{made}")).json()["agent"] == "researcher"
    said["agent"] = "researcher"
    unchanged = await browser.post(f"/schedules/{made}", data=said)
    assert (unchanged.is_success, "HX-Trigger" in unchanged.headers) == (True, False)
    assert not (await browser.post(f"/schedules/{made}", data={**said, "when": "whenever"})).is_success
    assert (await browser.post(back)).is_success
    assert "every day at 8" in (await browser.get("/schedules/list")).text
    assert (
        told(await browser.post(f"/schedules/{made}/remove", data={"shown": "Show my tasks"}))["text"]
        == "Removed."
    )
    assert (await api.get("/v1/schedules")).json()["items"] == []
    assert (await browser.post(f"/schedules/{made}/pause")).status_code == 404


async def test_a_notice_stands_on_every_page_until_it_was_seen(
    platform: Platform, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    await reminded(platform, api, "stretch <i>now</i>")
    notice = await notice_of(api)
    assert "stretch &lt;i&gt;now&lt;/i&gt;" in (await browser.get("/memory")).text
    left = (await browser.post(f"/notices/{notice}/seen")).text
    assert f"unseen-{notice}" not in left
    assert f"unseen-{notice}" not in (await browser.get("/tasks")).text
    assert f'id="notice-{notice}"' in (await browser.get("/schedules")).text


async def test_a_notice_is_snoozed(
    platform: Platform, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    task = await reminded(platform, api, "stretch")
    notice = await notice_of(api)
    data = {"task": task, "until": "in 1 hour"}
    snoozed = await browser.post(f"/notices/{notice}/snooze", data=data)
    assert told(snoozed)["text"] == "You are told again later."
    again = (await api.get(f"/v1/tasks/{task}")).json()["notify_at"]
    assert datetime.fromisoformat(again) > datetime.now(UTC)
    assert (await browser.get("/notices/unseen")).text.count("data-notice") == 0


async def test_the_page_hears_of_jobs_schedules_and_notices(
    platform: Platform, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    heard: set[str] = set()
    async with browser.stream("GET", "/events") as stream:
        lines = stream.aiter_lines()
        while "event: hello" not in await anext(lines):
            pass
        await queued(api, "add_task", title="milk")
        await api.post("/v1/schedules", json={"request": "Show my tasks", "when": "every day at 8"})
        await reminded(platform, api, "stretch")
        while not {"event: jobs", "event: schedules", "event: notices"} <= heard:
            heard.add(await anext(lines))
