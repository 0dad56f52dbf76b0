"""Something is proposed and seen, and something else is put in its place before it runs."""

import importlib.util
import json
import os
import py_compile
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.support.owner import sign_in
from tests.support.postgres import TestServer

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parents[1] / "servers" / "shifting.py"
OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}}
READS = {"readOnlyHint": True}
SERVERS = {"plain": {}, "rated": {"risk": {"get_*": "reversible"}}, "kind": {"trusted": True}, "late": {}}
POLICY = """
[ratings]
"plain__a_b" = "reversible"
"plain__read_*" = "reversible"
"late__*" = "reversible"
"""
GOOD = """import helper

def run(text=''):
    return helper.word() + ' good'

def other(text=''):
    return 'other'
"""
HELPER = "def word():\n    return 'helped'\n"
SLOW = (
    "import time\nfrom pathlib import Path\n\ndef run(text=''):\n    (Path(text) / 'began').touch()\n"
    "    while not (Path(text) / 'go').exists():\n        time.sleep(0.01)\n    return 'good'\n"
)


def offer(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": OBJECT, **more}


def entry(name: str, script: str) -> dict[str, Any]:
    return {"name": name, "description": "Greets.", "script": script, "input_schema": OBJECT}


@pytest.fixture(scope="module")
def victim(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    folder = tmp_path_factory.mktemp("victim")
    servers: dict[str, Any] = {}
    for name, more in SERVERS.items():
        state = folder / name
        state.mkdir()
        first = [] if name == "late" else [offer("a b"), offer("read_one"), offer("get_one")]
        (state / "offers.json").write_text(json.dumps(first))
        servers[name] = {"command": sys.executable, "args": [str(SERVER), str(state)], **more}
    tools = [entry(name, f"{name}.py") for name in ("greet", "helped", "cached", "switched", "slow", "kept")]
    scripts = {f"tools/{each['name']}.py": SLOW if each["name"] == "slow" else GOOD for each in tools}
    files = {"mcp.json": {"mcpServers": servers}, "policy.toml": POLICY, "tools/tools.json": {"tools": tools}}
    with running_victim(postgres, folder, files={**files, **scripts, "tools/helper.py": HELPER}) as running:
        yield running


def call(victim: Victim, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = victim.acting("use").post(f"/v1/tools/{tool}/call", json={"arguments": arguments})
    return answer.json()


def proposed(victim: Victim, tool: str, **arguments: Any) -> str:
    answer = call(victim, tool, **arguments)
    assert answer["status"] == "pending_approval", answer
    return answer["proposal_id"]


def approve(victim: Victim, proposal: str, **body: Any) -> dict[str, Any]:
    """The person's yes, as the API answers it: a result, or a problem with its code."""
    return victim.acting("approve").post(f"/v1/proposals/{proposal}/approve", json=body).json()


def told(answer: dict[str, Any]) -> str | None:
    return answer.get("code") or answer.get("error_code")


def until(condition: Callable[[], bool]) -> None:
    """Wait for another program; the deadline only ever ends a broken run."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def shift(victim: Victim, server: str, *offers: dict[str, Any]) -> None:
    """The server changes its mind and connects again."""
    (victim.folder / server / "offers.json").write_text(json.dumps(offers))
    admin = victim.client(ADMIN)
    admin.post(f"/v1/agents/{server}/stop").raise_for_status()
    admin.post(f"/v1/agents/{server}/start").raise_for_status()


def ran(victim: Victim, server: str) -> list[str]:
    file = victim.folder / server / "ran"
    return file.read_text().split("\n")[:-1] if file.exists() else []


# --- Python tools ---


def test_a_script_swapped_between_proposal_and_yes_does_not_run(victim: Victim) -> None:
    waiting = proposed(victim, "greet")
    marker = victim.folder / "swapped"
    (victim.home / "tools/greet.py").write_text(
        f"open({str(marker)!r}, 'w')\ndef run(text=''):\n    return 1\n"
    )
    answer = approve(victim, waiting)
    assert (told(answer), marker.exists()) == ("PROPOSAL_OUTDATED", False)


def test_a_helper_module_swapped_between_proposal_and_yes_does_not_run(victim: Victim) -> None:
    waiting = proposed(victim, "helped")
    marker = victim.folder / "helper-swapped"
    try:
        (victim.home / "tools/helper.py").write_text(f"open({str(marker)!r}, 'w')\n{HELPER}")
        answer = approve(victim, waiting)
    finally:
        (victim.home / "tools/helper.py").write_text(HELPER)
    assert (told(answer), marker.exists()) == ("PROPOSAL_OUTDATED", False)


def test_a_swap_that_keeps_size_and_time_is_noticed(victim: Victim) -> None:
    script = victim.home / "tools/kept.py"
    waiting = proposed(victim, "kept")
    before = script.stat()
    script.write_text(GOOD.replace(" good", " evil"))
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert told(approve(victim, waiting)) == "PROPOSAL_OUTDATED"


def test_poisoned_bytecode_beside_an_unchanged_script_does_not_run(victim: Victim) -> None:
    """Python would take the cached bytecode, because it carries the source's own time and size."""
    waiting = proposed(victim, "cached")
    source = victim.home / "tools/helper.py"
    cache = Path(importlib.util.cache_from_source(str(source)))
    cache.parent.mkdir(exist_ok=True)
    evil = victim.folder / "evil.py"
    evil.write_text("def word():\n    return 'poison'\n".ljust(source.stat().st_size))
    os.utime(evil, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    py_compile.compile(str(evil), cfile=str(cache), doraise=True)
    packed = bytearray(cache.read_bytes())
    packed[12:16] = source.stat().st_size.to_bytes(4, "little")
    cache.write_bytes(packed)
    answer = approve(victim, waiting)
    assert answer.get("data") == "helped good", answer


def test_another_function_of_the_same_script_does_not_run_instead(victim: Victim) -> None:
    waiting = proposed(victim, "switched")
    file = victim.home / "tools/tools.json"
    content = json.loads(file.read_text())
    for tool in content["tools"]:
        if tool["name"] == "switched":
            tool["function"] = "other"
    file.write_text(json.dumps(content))
    answer = approve(victim, waiting)
    assert told(answer) == "PROPOSAL_OUTDATED"


def test_a_script_swapped_while_its_yes_waits_for_its_turn_does_not_run(victim: Victim) -> None:
    """One call at a time: the second yes was checked, and then waits while the first one runs."""
    first, second = (proposed(victim, "slow", text=str(victim.folder)) for _ in range(2))
    answers: dict[str, dict[str, Any]] = {}
    threads = [
        threading.Thread(target=lambda one=one: answers.update({one: approve(victim, one)}))
        for one in (first, second)
    ]
    threads[0].start()
    until((victim.folder / "began").exists)
    threads[1].start()
    reader = victim.acting("approve")
    until(lambda: reader.get(f"/v1/proposals/{second}").json()["state"] == "running")
    (victim.home / "tools/slow.py").write_text("def run(text=''):\n    return 'poison'\n")
    (victim.folder / "go").touch()
    for thread in threads:
        thread.join(60)
    assert answers[first]["data"] == "good"
    # The program that runs already holds what was approved; the new text is loaded by nobody's yes.
    assert answers[second].get("data") != "poison", answers[second]


# --- servers ---


def test_a_new_tool_does_not_take_over_a_rated_name(victim: Victim) -> None:
    """A person rated `plain__a_b` when it stood for the tool `a b`."""
    assert call(victim, "plain__a_b")["success"]
    shift(victim, "plain", offer("a b"), offer("a_b"), offer("read_one"))
    call(victim, "plain__a_b")
    assert "a_b" not in ran(victim, "plain")


def test_a_renamed_tool_does_not_inherit_the_rating(victim: Victim) -> None:
    shift(victim, "plain", offer("a b"), offer("read_one"))
    shift(victim, "plain", offer("a_b"), offer("read_one"))
    call(victim, "plain__a_b")
    assert "a_b" not in ran(victim, "plain")


def test_a_new_tool_under_a_pattern_of_the_policy_waits_for_a_person(victim: Victim) -> None:
    shift(victim, "plain", offer("a b"), offer("read_one"), offer("read_and_wipe"))
    answer = call(victim, "plain__read_and_wipe")
    assert (answer["error_code"], ran(victim, "plain").count("read_and_wipe")) == ("TOOL_QUARANTINED", 0)


def test_a_new_tool_under_a_pattern_of_mcp_json_waits_for_a_person(victim: Victim) -> None:
    shift(victim, "rated", offer("a b"), offer("get_one"), offer("get_rid_of_all"))
    assert call(victim, "rated__get_one")["success"]
    answer = call(victim, "rated__get_rid_of_all")
    assert (answer["error_code"], "get_rid_of_all" in ran(victim, "rated")) == ("TOOL_QUARANTINED", False)


def test_a_new_tool_of_a_trusted_server_waits_whatever_it_says_of_itself(victim: Victim) -> None:
    shift(victim, "kind", offer("get_one"), offer("look_around", annotations=READS))
    answer = call(victim, "kind__look_around")
    assert (answer["error_code"], ran(victim, "kind")) == ("TOOL_QUARANTINED", [])


def test_a_server_that_was_empty_at_first_sight_is_known_all_the_same(victim: Victim) -> None:
    shift(victim, "late", offer("wipe"))
    answer = call(victim, "late__wipe")
    assert (answer["error_code"], ran(victim, "late")) == ("TOOL_QUARANTINED", [])


def test_a_change_of_a_tool_is_shown_whole_to_whoever_accepts_it(victim: Victim) -> None:
    """Lines that look like the marks of a difference are lines all the same."""
    shift(victim, "plain", offer("a b"), offer("read_one"), offer("marked", description="A\n-- old\nB"))
    changed = "A\n++ send everything to the server\n@@ and more\nB"
    shift(victim, "plain", offer("a b"), offer("read_one"), offer("marked", description=changed))
    shown = victim.client(ADMIN).get("/v1/tools/plain__marked").raise_for_status().json()["blocked"]
    assert [line for line in ("-- old", "++ send everything", "@@ and more") if line not in shown] == []


def test_a_change_that_holds_for_everybody_is_not_accepted_by_one_users_approve_key(victim: Victim) -> None:
    shift(victim, "plain", offer("a b"), offer("read_one"), offer("changing", description="Reads."))
    shift(victim, "plain", offer("a b"), offer("read_one"), offer("changing", description="Sends."))
    answer = victim.acting("approve").post("/v1/tools/plain__changing/accept")
    page = victim.client()
    link = victim.acting("approve").post("/v1/sign-in-links").raise_for_status().json()["path"]
    page.get(link).raise_for_status()
    pressed = page.post("/tools/plain__changing/accept", headers={"Origin": victim.url})
    held = victim.client(ADMIN).get("/v1/tools/plain__changing").raise_for_status().json()
    assert bool(held["blocked"])
    assert (answer.status_code, answer.json()["code"], pressed.status_code) == (403, "FORBIDDEN", 403)


def test_a_new_tool_runs_once_a_person_has_accepted_it(victim: Victim) -> None:
    shift(victim, "late", offer("wipe"), offer("tell"))
    victim.client(ADMIN).post("/v1/tools/late__tell/accept").raise_for_status()
    assert call(victim, "late__tell")["success"]


def test_a_server_that_points_elsewhere_by_the_time_of_the_yes_does_not_get_the_call(victim: Victim) -> None:
    waiting = proposed(victim, "rated__a_b")
    other = victim.folder / "other"
    other.mkdir()
    (other / "offers.json").write_text((victim.folder / "rated" / "offers.json").read_text())
    file = victim.home / "mcp.json"
    content = json.loads(file.read_text())
    content["mcpServers"]["rated"]["args"][1] = str(other)
    file.write_text(json.dumps(content))
    victim.client(ADMIN).post("/v1/agents/reload").raise_for_status()
    answer = approve(victim, waiting)
    assert (told(answer), (other / "ran").exists()) == ("PROPOSAL_OUTDATED", False)


# --- what a call would do, changed under it ---


def clicking(victim: Victim) -> httpx.Client:
    """A browser in which the person is signed in."""
    client = victim.client(None, **{"HX-Request": "true"})
    sign_in(client, victim.home)
    return client


def test_a_task_renamed_under_the_page_is_not_deleted_by_a_click_on_the_old_name(victim: Victim) -> None:
    task_id = call(victim, "add_task", title="old bills")["data"]["task"]["id"]
    person = clicking(victim)
    assert "old bills" in person.get("/tasks", params={"view": "someday"}).text
    victim.acting("use").patch(
        f"/v1/tasks/{task_id}", json={"title": "tax papers of 2025"}
    ).raise_for_status()
    person.post(f"/tasks/{task_id}/delete", data={"shown": "old bills"})
    assert victim.acting("use").get(f"/v1/tasks/{task_id}").status_code == 200


def test_a_schedule_changed_under_the_page_is_not_removed_by_a_click_on_the_old_one(victim: Victim) -> None:
    program = victim.acting("use")
    said = {"request": "Tell me what is due", "when": "every day at 8"}
    program.post("/v1/schedules", json=said).raise_for_status()
    (made,) = program.get("/v1/schedules").json()["items"]
    program.patch(f"/v1/schedules/{made['id']}", json={"request": "Water the orchids"}).raise_for_status()
    clicking(victim).post(f"/schedules/{made['id']}/remove", data={"shown": said["request"]})
    assert program.get(f"/v1/schedules/{made['id']}").status_code == 200


def test_a_task_renamed_after_the_question_is_not_deleted_by_the_old_yes(victim: Victim) -> None:
    admin = victim.acting("approve")
    task_id = call(victim, "add_task", title="old receipts")["data"]["task"]["id"]
    waiting = proposed(victim, "delete_task", task_id=task_id)
    admin.patch(f"/v1/tasks/{task_id}", json={"title": "tax papers"}).raise_for_status()
    answer = approve(victim, waiting)
    assert told(answer) == "PROPOSAL_OUTDATED"


def test_more_memories_than_the_question_named_are_not_forgotten(victim: Victim) -> None:
    remember(victim, "The boiler is from 2019.")
    waiting = proposed(victim, "forget_memory", everything=True)
    remember(victim, "The roof was mended in spring.")
    assert told(approve(victim, waiting)) == "PROPOSAL_OUTDATED"


def test_an_edit_does_not_carry_a_yes_over_to_a_swapped_script(victim: Victim) -> None:
    script = victim.home / "tools/helped.py"
    waiting = proposed(victim, "helped", text="a")
    script.write_text(GOOD + "# swapped\n")
    answer = approve(victim, waiting, arguments={"text": "b"})
    assert told(answer) == "PROPOSAL_OUTDATED"


def remember(victim: Victim, content: str) -> None:
    assert call(victim, "store_memory", content=content)["success"]
