"""A program that approves its own calls, or lets nobody be asked."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.attacks.clients import Obliging, over_http, over_pipe
from tests.attacks.conftest import ADMIN, Victim
from tests.support.gateway_setup import told

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])


def memory(victim: Victim, text: str) -> str:
    stored = victim.client(ADMIN).post("/v1/tools/store_memory/call", json={"arguments": {"content": text}})
    return stored.raise_for_status().json()["data"]


def remembers(victim: Victim, identity: str) -> bool:
    kept = victim.client(ADMIN).get("/v1/memory", params={"limit": 100}).raise_for_status().json()["items"]
    return identity in [each["id"] for each in kept]


def task(victim: Victim, title: str) -> str:
    made = victim.client(ADMIN).post("/v1/tasks", json={"title": title}).raise_for_status().json()
    return made["data"]["task"]["id"]


def is_there(victim: Victim, task_id: str) -> bool:
    return victim.client(ADMIN).get(f"/v1/tasks/{task_id}").status_code == 200


def newest(victim: Victim) -> dict[str, Any]:
    return (
        victim.client(ADMIN).get("/v1/proposals", params={"limit": 1}).raise_for_status().json()["items"][0]
    )


@ERAS
async def test_a_use_key_cannot_answer_the_question_about_its_own_call(victim: Victim, era: str) -> None:
    kept, yes = memory(victim, f"The safe's code is with Ana, {era}."), Obliging()
    async with over_http(victim.url, victim.key("use"), era=era, answers=yes) as mcp:
        answer = await mcp.call_tool_mcp("forget_memory", {"id": kept})
    assert remembers(victim, kept)
    assert told(answer)["status"] == "pending_approval"
    assert yes.asked == []


@ERAS
async def test_the_task_view_deletes_nothing_for_a_client_that_cannot_be_asked(
    victim: Victim, era: str
) -> None:
    kept = task(victim, f"Renew the passport, {era}")
    async with over_http(victim.url, victim.key("use"), path="/mcp/tasks", era=era) as mcp:
        answer = await mcp.call_tool_mcp("delete_task", {"user_id": "local", "task_id": kept})
    assert is_there(victim, kept)
    told = answer.structured_content
    assert (told["success"], told["code"], sorted(told)) == (
        False,
        "CONFIRMATION_REQUIRED",
        ["code", "message", "success", "timestamp"],
    )


@ERAS
async def test_the_task_view_takes_no_yes_of_a_use_key(victim: Victim, era: str) -> None:
    kept, yes = task(victim, f"Call the bank, {era}"), Obliging()
    async with over_http(victim.url, victim.key("use"), path="/mcp/tasks", era=era, answers=yes) as mcp:
        await mcp.call_tool_mcp("delete_task", {"user_id": "local", "task_id": kept})
    assert is_there(victim, kept)


async def test_not_even_an_approve_key_deletes_where_nobody_can_be_asked(victim: Victim) -> None:
    kept = task(victim, "Water the plants")
    async with over_http(victim.url, victim.key("approve"), path="/mcp/tasks") as mcp:
        await mcp.call_tool_mcp("delete_task", {"user_id": "local", "task_id": kept})
    assert is_there(victim, kept)


async def test_a_client_on_a_pipe_cannot_answer_for_the_person(victim: Victim) -> None:
    kept, yes = task(victim, "Back up the photos"), Obliging()
    async with over_pipe(victim, ["tasks"], answers=yes) as mcp:
        answer = await mcp.call_tool_mcp("delete_task", {"user_id": "local", "task_id": kept})
    assert is_there(victim, kept)
    assert answer.structured_content["code"] == "CONFIRMATION_REQUIRED"


async def test_where_the_owner_lets_the_client_confirm_the_receipt_names_no_person(victim: Victim) -> None:
    gone = task(victim, "An old reminder")
    async with over_pipe(victim, ["tasks", "--client-confirms"]) as mcp:
        answer = await mcp.call_tool_mcp("delete_task", {"user_id": "local", "task_id": gone})
    assert answer.structured_content["success"] is True
    receipt = newest(victim)["receipt"]
    assert (receipt["answered_by"], receipt["via"], receipt["client"]) == ("client", "client", "robot")


def test_letting_the_client_confirm_is_refused_over_http(victim: Victim) -> None:
    ended = victim.cli("serve", "tasks", "--http", "0", "--client-confirms")
    assert ended.returncode == 2
    assert "--client-confirms" in ended.stderr


@contextmanager
def serving_tasks(victim: Victim) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "steward", "serve", "tasks", "--http", "0"],
        env=dict(victim.environment), cwd=victim.folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        address = None
        while address is None:
            line = process.stderr.readline()
            assert line, "it ended before it served"
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
        yield address[0]
    finally:
        process.terminate()
        process.wait(20)
        if process.stderr:
            process.stderr.close()


async def test_a_task_server_over_http_deletes_nothing_unasked(victim: Victim) -> None:
    kept = task(victim, "Send the invoice")
    with serving_tasks(victim) as url:
        async with over_http(url, victim.key("use")) as mcp:
            await mcp.call_tool_mcp("delete_task", {"user_id": "local", "task_id": kept})
    assert is_there(victim, kept)


@ERAS
async def test_a_yes_in_the_client_is_recorded_with_key_role_and_program(victim: Victim, era: str) -> None:
    gone, yes = memory(victim, f"The old address, {era}."), Obliging()
    async with over_http(victim.url, victim.key("approve"), era=era, answers=yes) as mcp:
        await mcp.call_tool_mcp("forget_memory", {"id": gone})
    receipt = newest(victim)["receipt"]
    told = {name: receipt[name] for name in ("approver", "role", "client", "via", "answered_by")}
    assert told == {
        "approver": "approve-local", "role": "approve", "client": "robot", "via": "elicitation",
        "answered_by": "person",
    }  # fmt: skip


def test_a_program_cannot_pass_its_yes_off_as_the_pages(victim: Victim) -> None:
    asked = victim.acting("use").delete(f"/v1/tasks/{task(victim, 'Buy stamps')}").json()
    path = f"/v1/proposals/{asked['proposal_id']}/approve"
    program = victim.client(victim.key("approve"), **{"User-Agent": "robot/1"})
    program.post(path, json={"via": "page"})
    program.post(path, json={})
    receipt = newest(victim)["receipt"]
    assert (receipt["via"], receipt["client"], receipt["role"]) == ("api", "robot/1", "approve")


def test_a_program_cannot_pass_its_turn_off_as_the_terminals(victim: Victim) -> None:
    task(victim, "Sell the sofa")
    program = victim.client(victim.key("approve"), **{"User-Agent": "robot/1"})
    said: dict[str, Any] = {"message": "Delete the task 'Sell the sofa'", "agent": "tasks"}
    asked = program.post("/v1/chat", json=said).raise_for_status().json()
    going_on = {"message": "yes", "conversation": asked["conversation"]}
    if program.post("/v1/chat", json={**going_on, "via": "cli"}).status_code == 422:
        program.post("/v1/chat", json=going_on).raise_for_status()
    assert newest(victim)["receipt"]["via"] == "chat"


def test_a_use_keys_yes_in_a_chat_programs_own_protocol_runs_nothing(victim: Victim) -> None:
    kept = task(victim, "Return the library book")
    program = victim.acting("use")
    said = [{"role": "user", "content": "Delete the task 'Return the library book'"}]
    asked = program.post("/v1/chat/completions", json={"model": "tasks", "messages": said}).json()
    said += [asked["choices"][0]["message"], {"role": "user", "content": "yes"}]
    program.post("/v1/chat/completions", json={"model": "tasks", "messages": said}).raise_for_status()
    assert is_there(victim, kept)


@ERAS
async def test_a_client_cannot_name_what_is_deleted_after_the_yes(victim: Victim, era: str) -> None:
    """The person says yes to a deletion of nothing yet; the name comes from the program."""
    name, admin = f"papers-{era}", victim.client(ADMIN)
    made = {"action": "create", "collection_name": name}
    admin.post("/v1/tools/manage_collections/call", json={"arguments": made}).raise_for_status()
    yes = Obliging(approve=True, value=name)
    async with over_http(victim.url, victim.key("approve"), era=era, answers=yes) as mcp:
        with pytest.raises(Exception, match="collection_name"):
            await mcp.call_tool_mcp("manage_collections", {"action": "delete"})
    kept = admin.get("/v1/knowledge/collections").raise_for_status().json()["items"]
    assert name in [each["name"] for each in kept]
