"""Jobs over HTTP: work in the background, how far it is, cancelling and trying again."""

from typing import Any

import httpx
import pytest
from tests.integration.api.conftest import Connect
from tests.support.waiting import until

from steward.bootstrap import Platform
from steward.contract.jobs import JobTry
from steward.policy.access import Role


async def job_of(api: httpx.AsyncClient, job: str, state: str) -> dict[str, Any]:
    async def is_so() -> bool:
        return (await api.get(f"/v1/jobs/{job}")).json()["state"] == state

    await until(is_so, seconds=60)
    return (await api.get(f"/v1/jobs/{job}")).json()


async def queued(api: httpx.AsyncClient, tool: str, **arguments: Any) -> str:
    answer = await api.post(f"/v1/tools/{tool}/call", json={"arguments": arguments, "background": True})
    assert answer.status_code == 202, answer.text
    return answer.json()["job"]


async def test_a_call_in_the_background_passes_the_door_and_keeps_its_result(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "add_task", title="buy milk")
    waiting = (await api.get(f"/v1/jobs/{job}")).json()
    async with platform.work.worker():
        done = await job_of(api, job, "done")
    assert (waiting["state"], waiting["kind"], waiting["title"]) == (
        "waiting",
        "call",
        "add_task(title=buy milk)",
    )
    assert (done["result"]["status"], done["result"]["data"]["task"]["title"]) == ("done", "buy milk")
    logged = (await api.get("/v1/executions")).json()["items"]
    assert [line["tool"] for line in logged] == ["add_task"]


async def test_a_call_that_needs_a_yes_waits_for_it_and_the_job_says_so(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "code_execution", code="print(1)", language="python")
    async with platform.work.worker():
        done = await job_of(api, job, "done")
    assert done["result"]["status"] == "pending_approval"
    assert done["note"] == f"Waits for a yes: steward approve {done['result']['proposal_id']}"


async def test_a_failed_call_is_a_dead_letter_until_it_is_tried_again(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "complete_task", task_id="nothing")
    async with platform.work.worker():
        failed = await job_of(api, job, "failed")
        letters = (await api.get("/v1/jobs", params={"state": "failed"})).json()["items"]
        again = await api.post(f"/v1/jobs/{job}/retry")
        await job_of(api, job, "failed")
    assert (failed["failures"], [letter["id"] for letter in letters]) == (1, [job])
    assert (again.status_code, again.json()["state"], again.json()["error"]) == (200, "waiting", None)


async def test_a_change_that_was_interrupted_is_not_made_again(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "add_task", title="buy milk")
    await platform.database.execute(  # as a worker leaves it that was killed in the middle
        "UPDATE steward_work.procrastinate_jobs SET status = 'doing' WHERE id = $1", int(job)
    )
    async with platform.work.worker():
        failed = await job_of(api, job, "failed")
    assert failed["error_code"] == "INTERRUPTED"
    assert (await api.get("/v1/tasks")).json()["items"] == []


async def test_a_change_whose_tool_was_not_there_yet_is_made_when_it_is(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    """As where the server of a tool starts later than the worker that took the job."""
    job = await queued(api, "add_task", title="buy milk")
    registry = platform.orchestrator.registry
    owner = registry.get("add_task").agent_id
    agent = next(each for each in registry.agents() if each.manifest().id == owner)
    registry.remove(owner)
    async with platform.work.worker():
        await until(lambda: has_failed(api, job))
        registry.add(agent)
        done = await job_of(api, job, "done")
    assert (done["failures"], done["error"]) == (1, None)
    assert [task["title"] for task in (await api.get("/v1/tasks")).json()["items"]] == ["buy milk"]


async def has_failed(api: httpx.AsyncClient, job: str) -> bool:
    return (await api.get(f"/v1/jobs/{job}")).json()["failures"] == 1


async def test_a_failure_that_was_noted_before_its_worker_was_killed_stays_one(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    job = await queued(api, "add_task", title="buy milk")
    await platform.database.execute(
        "UPDATE steward_work.procrastinate_jobs SET status = 'doing' WHERE id = $1", int(job)
    )
    killed = JobTry(int(job), worker=None, attempt=0)
    await platform.work.store.note_failure(killed, "It may have run.", code="OUTCOME_UNKNOWN", failures=1)
    async with platform.work.worker():
        failed = await job_of(api, job, "failed")
    assert (failed["error_code"], failed["failures"]) == ("OUTCOME_UNKNOWN", 1)
    assert (await api.get("/v1/tasks")).json()["items"] == []


async def test_one_that_waits_is_cancelled_once(api: httpx.AsyncClient) -> None:
    job = await queued(api, "add_task", title="buy milk")
    first, second = [await api.post(f"/v1/jobs/{job}/cancel") for _ in range(2)]
    assert (first.json()["state"], second.status_code, second.json()["code"]) == (
        "cancelled",
        409,
        "CONFLICT",
    )


@pytest.mark.parametrize(("job", "status"), [("99999", 404), ("0", 422), ("x", 422), (str(2**70), 422)])
async def test_a_job_that_is_not_there_is_said_to_be_so(
    api: httpx.AsyncClient, job: str, status: int
) -> None:
    assert (await api.get(f"/v1/jobs/{job}")).status_code == status


async def test_an_unknown_tool_is_not_queued(api: httpx.AsyncClient) -> None:
    answer = await api.post("/v1/tools/nothing/call", json={"background": True})
    assert (answer.status_code, (await api.get("/v1/jobs")).json()["items"]) == (404, [])


async def test_what_the_database_cannot_keep_is_refused_and_not_queued(api: httpx.AsyncClient) -> None:
    body = {"arguments": {"title": "a\0b"}, "background": True}
    answer = await api.post("/v1/tools/add_task/call", json=body)
    assert (answer.status_code, answer.json()["retryable"]) == (400, False)
    assert (await api.get("/v1/jobs")).json()["items"] == []


async def test_people_see_and_cancel_only_their_own(
    platform: Platform, api: httpx.AsyncClient, connect: Connect
) -> None:
    await api.post("/v1/users", json={"id": "ben", "name": "Ben"})
    _, token = await platform.keys.add("ben", Role.USE, user="ben")
    ben = connect(key=token)
    job = await queued(api, "add_task", title="a secret")
    assert (await ben.get("/v1/jobs")).json()["items"] == []
    statuses = [
        (await ben.get(f"/v1/jobs/{job}")).status_code,
        (await ben.post(f"/v1/jobs/{job}/cancel")).status_code,
        (await ben.post(f"/v1/jobs/{job}/retry")).status_code,
    ]
    assert statuses == [404, 404, 404]


async def test_a_turn_in_the_background_is_taken_by_a_worker(
    platform: Platform, api: httpx.AsyncClient
) -> None:
    body = {"message": "add task 'buy milk'", "agent": "tasks", "background": True}
    queued_turn = await api.post("/v1/chat", json=body)
    here = queued_turn.json()["conversation"]
    busy = await api.post("/v1/chat", json={"message": "list my tasks", "conversation": here})
    async with platform.work.worker():
        done = await job_of(api, queued_turn.json()["job"], "done")
    [turn] = (await api.get(f"/v1/conversations/{here}")).json()["turns"]
    assert (queued_turn.status_code, busy.status_code) == (202, 409)
    assert (done["kind"], done["result"]["answer"]) == ("turn", turn["answer"]["answer"])
    assert [task["title"] for task in (await api.get("/v1/tasks")).json()["items"]] == ["buy milk"]


async def test_a_large_renewal_is_left_to_a_worker(platform: Platform) -> None:
    handed = platform.library.base._renewal.hand_over
    assert handed is not None
    alone = await handed()
    async with platform.work.worker():
        taken = await handed()
        [job] = (await platform.work.store.list(user=None, kind="renew_vectors")).items

        async def renewed() -> bool:
            return (await platform.work.store.get(job.id, user=None)).result == {"passages": 0}

        await until(renewed)
    assert (alone, taken) == (False, True)
