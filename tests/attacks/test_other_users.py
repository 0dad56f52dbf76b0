"""Somebody with a key of their own who reaches for what waits for somebody else."""

import asyncio
from typing import Any

import pytest
from tests.attacks.conftest import ADMIN, Victim
from tests.support.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _people(victim: Victim) -> None:
    for name in ("ana", "bob"):
        victim.client(ADMIN).post("/v1/users", json={"id": name}).raise_for_status()


def task(victim: Victim, title: str, *, user: str = "bob") -> str:
    made = victim.acting("use", user).post("/v1/tasks", json={"title": title}).raise_for_status().json()
    return made["data"]["task"]["id"]


def titles(victim: Victim, user: str = "bob") -> set[str]:
    listed = victim.acting("read", user).get("/v1/tasks").raise_for_status().json()["items"]
    return {each["title"] for each in listed}


def waiting(victim: Victim, title: str) -> str:
    """A deletion that Bob's own program asked for."""
    asked = victim.acting("use", "bob").delete(f"/v1/tasks/{task(victim, title)}").json()
    return f"/v1/proposals/{asked['proposal_id']}"


def state(victim: Victim, proposal: str) -> str:
    return victim.client(ADMIN).get(proposal).raise_for_status().json()["state"]


def test_another_users_approve_key_cannot_edit_a_waiting_deletion(victim: Victim) -> None:
    proposal = waiting(victim, "Old note")
    precious = task(victim, "Wedding plan")
    edit = {"arguments": {"user_id": "bob", "task_id": precious}}
    answer = victim.acting("approve", "ana").post(f"{proposal}/approve", json=edit)
    assert "Wedding plan" in titles(victim)
    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


def test_another_users_approve_key_cannot_approve(victim: Victim) -> None:
    proposal = waiting(victim, "Dentist")
    victim.acting("approve", "ana").post(f"{proposal}/approve", json={})
    assert "Dentist" in titles(victim)
    assert state(victim, proposal) == "waiting"


def test_another_users_approve_key_cannot_turn_it_down(victim: Victim) -> None:
    proposal = waiting(victim, "Tax return")
    victim.acting("approve", "ana").post(f"{proposal}/reject", json={})
    assert state(victim, proposal) == "waiting"


def test_an_edit_never_reaches_for_another_users_things(victim: Victim) -> None:
    proposal, anas = waiting(victim, "Gym"), task(victim, "Ana's secret plan", user="ana")
    edit = {"arguments": {"user_id": "ana", "task_id": anas}}
    victim.acting("approve", "bob").post(f"{proposal}/approve", json=edit)
    assert "Ana's secret plan" in titles(victim, "ana")


def test_what_waits_for_one_user_is_not_listed_for_another(victim: Victim) -> None:
    proposal = waiting(victim, "Surprise party").rpartition("/")[2]
    listed = victim.acting("read", "ana").get("/v1/proposals", params={"limit": 100}).json()["items"]
    assert proposal not in [each["id"] for each in listed]


def test_what_waits_for_one_user_cannot_be_read_by_another(victim: Victim) -> None:
    proposal = waiting(victim, "Doctor's letter")
    assert victim.acting("approve", "ana").get(proposal).status_code == 404


def question(victim: Victim, text: str) -> dict[str, Any]:
    asked = {"arguments": {"question": text}}
    victim.acting("use", "bob").post("/v1/tools/request_human_input/call", json=asked)
    listed = (
        victim.client(ADMIN).get("/v1/questions", params={"limit": 100}).raise_for_status().json()["items"]
    )
    return next(each for each in listed if each["text"] == text)


def test_another_users_approve_key_cannot_answer_a_question(victim: Victim) -> None:
    asked = question(victim, "Which account shall I pay?")
    path = f"/v1/questions/{asked['id']}/answer"
    answer = victim.acting("approve", "ana").post(path, json={"answer": "Ana's"})
    assert answer.status_code == 404


def test_a_question_to_one_user_is_not_listed_for_another(victim: Victim) -> None:
    asked = question(victim, "What is your blood type?")
    listed = victim.acting("read", "ana").get("/v1/questions", params={"limit": 100}).json()["items"]
    assert asked["id"] not in [each["id"] for each in listed]


def test_a_trace_of_one_user_cannot_be_read_by_another(victim: Victim) -> None:
    """By an id that a client chose, such as anybody might guess."""
    told = {"arguments": {"query": "Bob's diagnosis"}, "correlation_id": "run-1"}
    victim.acting("use", "bob").post("/v1/tools/search_memory/call", json=told).raise_for_status()
    mine = victim.acting("read", "bob")
    asyncio.run(until(lambda: mine.get("/v1/traces/run-1").status_code == 200, seconds=20))
    assert "diagnosis" in mine.get("/v1/traces/run-1").text
    assert victim.acting("read", "ana").get("/v1/traces/run-1").status_code == 404


def test_a_kept_answer_is_not_repeated_to_a_later_key_of_the_same_name(victim: Victim) -> None:
    admin, once = victim.client(ADMIN), {"Idempotency-Key": "one"}
    said = {"arguments": {"content": "Bob's bank is Adler."}}
    answers: list[dict[str, Any]] = []
    for user in ("bob", "ana"):
        key = {"name": "laptop", "role": "use", "user": user}
        token = admin.post("/v1/keys", json=key).raise_for_status().json()["token"]
        answer = victim.client(token).post("/v1/tools/store_memory/call", json=said, headers=once)
        answers.append(answer.raise_for_status().json())
        admin.delete("/v1/keys/laptop").raise_for_status()
    assert answers[0]["data"] != answers[1]["data"]
