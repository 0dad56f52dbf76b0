"""Programs that hold what they do not let go of, and people who reach for other people's jobs."""

import time
from typing import Any

import anyio.from_thread
import asyncpg
import pytest
from tests.attacks.conftest import ADMIN, Victim

pytestmark = pytest.mark.slow

KEY = 4_711


@pytest.fixture(scope="module", autouse=True)
def _people(victim: Victim) -> None:
    for name in ("ana", "bob"):
        victim.client(ADMIN).post("/v1/users", json={"id": name}).raise_for_status()


def say(victim: Victim, text: str, *, user: str = "ana", **more: Any) -> Any:
    body = {"message": text, "agent": None if "conversation" in more else "tasks", **more}
    return victim.acting("approve", user).post("/v1/chat", json=body)


def job_of(victim: Victim, job: str, *, user: str) -> dict[str, Any]:
    for _ in range(600):
        found = victim.acting("read", user).get(f"/v1/jobs/{job}").raise_for_status().json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def test_a_claim_that_a_living_program_left_behind_holds_nobody_up(victim: Victim) -> None:
    """It lives and holds its lock, but the turn it claimed for is gone: that was answered 409 for ever."""
    here = say(victim, "add task 'buy milk'").json()["conversation"]

    async def attack() -> int:
        other = await asyncpg.connect(victim.environment["DATABASE_URL"])
        try:
            await other.execute("SELECT pg_advisory_lock($1)", KEY)
            await other.execute("UPDATE conversations SET claimed_by = $1 WHERE id = $2", KEY, here)
            answer = await anyio.to_thread.run_sync(lambda: say(victim, "list my tasks", conversation=here))
            return answer.status_code
        finally:
            await other.close()

    with anyio.from_thread.start_blocking_portal() as portal:
        assert portal.call(attack) == 200


def test_a_yes_in_the_background_decides_nothing(victim: Victim) -> None:
    """The right to decide is of whoever is there; a job would carry it to another time and place."""
    say(victim, "add task 'wedding plan'")
    asked = say(victim, "delete the task wedding plan").json()
    queued = say(victim, "yes", conversation=asked["conversation"], background=True)
    job_of(victim, queued.json()["job"], user="ana")
    proposal = victim.acting("read", "ana").get(f"/v1/proposals/{asked['proposal_id']}").json()
    assert (queued.status_code, proposal["state"]) == (202, "waiting")


def test_a_job_of_somebody_else_is_not_there(victim: Victim) -> None:
    body = {"arguments": {"title": "a secret"}, "background": True}
    queued = victim.acting("use", "ana").post("/v1/tools/add_task/call", json=body).json()
    bob = victim.acting("use", "bob")
    tried = [bob.get(f"/v1/jobs/{queued['job']}"), bob.post(f"/v1/jobs/{queued['job']}/cancel")]
    assert [each.status_code for each in tried] == [404, 404]
    assert "a secret" not in bob.get("/v1/jobs").text


def test_a_reader_starts_and_stops_no_work(victim: Victim) -> None:
    reader = victim.acting("read", "bob")
    body = {"arguments": {"title": "x"}, "background": True}
    tried = [reader.post("/v1/tools/add_task/call", json=body), reader.post("/v1/jobs/1/cancel")]
    assert [each.status_code for each in tried] == [403, 403]


def test_a_background_call_cannot_speak_for_somebody_else(victim: Victim) -> None:
    body = {"arguments": {"title": "for bob", "user_id": "bob"}, "background": True}
    queued = victim.acting("use", "ana").post("/v1/tools/add_task/call", json=body).json()
    job_of(victim, queued["job"], user="ana")
    listed = victim.acting("read", "bob").get("/v1/tasks").json()["items"]
    assert [each["title"] for each in listed] == []
