"""What each part of the page shows and does, over HTTP: the browser's own part is tested in tests/browser."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.integration.web.conftest import Visiting, code_waits
from tests.support.waiting import until

from steward.settings import Settings


def told(answer: httpx.Response) -> dict[str, Any]:
    """What the page says after it was done."""
    assert answer.is_success, answer.text
    return json.loads(answer.headers["hx-trigger"])["steward:say"]


async def task(api: httpx.AsyncClient, title: str, **more: str) -> str:
    made = await api.post("/v1/tasks", json={"title": title, **more})
    return made.json()["data"]["task"]["id"]


async def test_a_call_is_decided_in_place(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    first, second, third = [await code_waits(api, f"print({number})") for number in range(3)]
    inbox = (await browser.get("/approvals/list")).text
    assert all(f'id="proposal-{each}"' in inbox for each in (first, second, third))
    assert "Reject all 3 alike" in inbox
    assert "<textarea" in inbox
    edited = {"edited": "1", "arg-code": "print('edited')\r\nprint(2)"}
    compared = await browser.post(f"/approvals/{first}/difference", data=edited)
    assert 'class="add"' in compared.text
    broken = edited | {"arg-timeout_seconds": "soon"}
    assert "not JSON yet" in (await browser.post(f"/approvals/{first}/difference", data=broken)).text
    refused = await browser.post(f"/approvals/{first}/approve", data=broken)
    assert (refused.status_code, "not JSON yet" in refused.text) == (400, True)
    done = await browser.post(f"/approvals/{first}/approve", data=edited)
    receipt = (await api.get(f"/v1/proposals/{first}")).json()["receipt"]
    assert receipt["arguments"] == {"language": "python", "code": "print('edited')\nprint(2)"}
    assert (told(done)["text"], "after editing the arguments" in done.text) == ("Done.", True)
    rejected = await browser.post(f"/approvals/{second}/reject", data={"why": "not now"})
    assert "not now" in rejected.text
    all_alike = await browser.post(f"/approvals/{third}/reject-alike")
    assert told(all_alike)["text"] == "Rejected 1. Nothing was run."
    again = await browser.post(f"/approvals/{first}/approve")
    assert (again.status_code, "already run" in again.text) == (409, True)
    found = (await browser.get("/approvals/decided", params={"q": "edited", "state": "finished"})).text
    assert (f'id="proposal-{first}"' in found, f'id="proposal-{second}"' in found) == (True, False)


async def test_a_change_of_a_file_is_shown_against_what_the_file_holds(
    browser: httpx.AsyncClient, visiting: Visiting, api: httpx.AsyncClient, tmp_path: Path
) -> None:
    notes = tmp_path / "files" / "notes.txt"
    notes.write_text("one\ntwo\nthree\n")
    (tmp_path / "files" / ".env").write_text("KEY=secret\n")
    for name, parameters in {"write_text": ("path", "content"), "delete_text": ("path",)}.items():
        schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}
        entry = {"name": name, "description": "Changes a file.", "input_schema": schema}
        source = f"def run({', '.join(parameters)}): return 'done'"
        (
            await api.post("/v1/tools", json=entry | {"script": f"{name}.py", "source": source})
        ).raise_for_status()

    async def waits(tool: str, **arguments: str) -> str:
        called = await api.post(f"/v1/tools/{tool}/call", json={"arguments": arguments})
        return f"/approvals/{called.json()['proposal_id']}/file"

    changed = await waits("write_text", path=str(notes), content="one\n2\nthree\n")
    assert changed in (await browser.get("/approvals/list")).text
    shown = (await browser.get(changed)).text
    assert ('<span class="cut">-two</span>' in shown, '<span class="add">+2</span>' in shown) == (True, True)
    new = (
        await browser.get(await waits("write_text", path=str(notes.with_name("new.txt")), content="a"))
    ).text
    assert '<span class="add">+a</span>' in new
    same = await browser.get(await waits("write_text", path=str(notes), content="one\ntwo\nthree\n"))
    assert "exactly this already" in same.text
    gone = (await browser.get(await waits("delete_text", path=str(notes)))).text
    assert gone.count('<span class="cut">') == 3
    for hidden in ("/etc/hostname", str(notes.with_name(".env"))):
        assert (
            "cannot be shown" in (await browser.get(await waits("write_text", path=hidden, content="a"))).text
        )
    states = (await api.get("/v1/proposals", params={"state": "waiting", "limit": 100})).json()["items"]
    assert {each["tool"] for each in states} == {"write_text", "delete_text"}
    assert (await (await visiting("read")).get(changed)).status_code == 403


async def test_a_deletion_shows_the_task_that_goes(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    one = await task(api, "sell <b>the</b> piano", due_date="tomorrow", description="ask Ana first")
    call = {"arguments": {"task_id": one, "user_id": "local"}}
    asked = (await api.post("/v1/tools/delete_task/call", json=call)).json()["proposal_id"]
    assert f"/approvals/{asked}/task" in (await browser.get("/approvals")).text
    goes = (await browser.get(f"/approvals/{asked}/task")).text
    assert all(words in goes for words in ("sell &lt;b&gt;the", "ask Ana first", "tomorrow", "Added"))
    other = await code_waits(api)
    assert (await browser.get(f"/approvals/{other}/task")).status_code == 404


async def test_a_run_without_spans_here_is_drawn_from_the_record(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, settings: Settings
) -> None:
    """As one that another instance made."""
    made = (await api.post("/v1/tools/add_task/call", json={"arguments": {"title": "from afar"}})).json()

    def exported() -> bool:
        """Spans are written a moment after the call: in a folder emptied before, they would come back."""
        return any(
            made["correlation_id"] in each.read_text() for each in settings.logs_folder.glob("traces-*")
        )

    await until(exported)
    for name in ("call_id", "correlation_id"):
        for traces in settings.logs_folder.glob("traces-*"):
            traces.unlink()
        shown = (await browser.get(f"/activity/{made[name]}")).text
        assert ("from afar" in shown, "What went in" in shown, "on record" in shown) == (True, True, True)


async def test_nobody_decides_for_somebody_else(
    visiting: Visiting, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    (await api.post("/v1/users", json={"id": "ana"})).raise_for_status()
    ana = await visiting("approve", "ana")
    proposal = await code_waits(api)
    assert f"proposal-{proposal}" not in (await ana.get("/approvals")).text
    assert (await ana.get(f"/approvals/{proposal}")).status_code == 404
    assert (await ana.post(f"/approvals/{proposal}/approve")).status_code in (403, 404)
    assert (await api.get(f"/v1/proposals/{proposal}")).json()["state"] == "waiting"


async def test_a_question_is_answered(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    asked = {"arguments": {"question": "Which one?"}}
    await api.post("/v1/tools/request_human_input/call", json=asked)
    (question,) = (await api.get("/v1/questions")).json()["items"]
    assert "Which one?" in (await browser.get("/approvals")).text
    answered = await browser.post(f"/questions/{question['id']}/answer", data={"answer": "the left one"})
    assert "the left one" in answered.text


async def test_a_turn_is_begun_followed_and_kept(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    assert (await browser.post("/chat", data={"message": "  "})).status_code == 400
    begun = await browser.post("/chat", data={"message": "Add buy bread", "agent": "tasks"})
    where = begun.headers["hx-push-url"]
    assert "Add buy bread" in begun.text  # with its answer, where the turn was quick

    async def ended() -> bool:
        return (await browser.get(f"{where}/live")).headers.get("hx-retarget") == "#thread"

    await until(ended)
    whole = (await browser.get(where)).text
    assert "add_task" in whole
    conversation = where.removeprefix("/chat/")
    assert told(await browser.post(f"{where}/stop"))["text"] == "It had ended already."
    renamed = await browser.post(f"{where}/rename", data={"title": "  Bread \n and butter "})
    assert "Bread and butter" in renamed.text
    assert conversation in (await browser.get("/chat/list", params={"q": "BREAD AND"})).text
    assert conversation in (await browser.get("/chat/list", params={"q": "buy bread"})).text
    assert conversation not in (await browser.get("/chat/list", params={"q": "cheese"})).text
    gone = told(await browser.post(f"{where}/delete"))
    assert (await browser.get(where)).status_code == 404
    assert conversation not in (await browser.get("/chat/list")).text
    assert (await browser.post(f"{where}/rename", data={"title": "x"})).status_code == 404
    assert told(await browser.post(gone["undo"]))["text"] == "It is back."
    assert (await browser.get(where)).status_code == 200
    assert (await browser.post(gone["undo"])).status_code == 404
    busy = await browser.post("/chat", data={"message": "x", "conversation": "none"})
    assert busy.status_code == 404


async def test_tasks_stand_where_their_day_is(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    await task(api, "late", due_date="2020-01-01")
    await task(api, "now", due_date="today")
    await task(api, "soon", due_date="in 3 days")
    await task(api, "far", due_date="in 60 days")
    some = await task(api, "some day")
    views = {
        view: (await browser.get("/tasks/list", params={"view": view})).text
        for view in ("today", "upcoming", "someday", "done")
    }
    shown = {
        view: {title for title in ("late", "now", "soon", "far", "some day") if f">{title}<" in text}
        for view, text in views.items()
    }
    assert shown == {
        "today": {"late", "now"},
        "upcoming": {"soon", "far"},
        "someday": {"some day"},
        "done": set(),
    }
    assert ("Overdue" in views["today"], "Later" in views["upcoming"]) == (True, True)
    ticked = await browser.post(f"/tasks/{some}/tick", data={"done": "1"})
    assert told(ticked)["undo"] == f"/undo?of=tasks%3A{some}"
    assert ">some day<" in (await browser.get("/tasks/list", params={"view": "done"})).text
    assert "Open again" in told(await browser.post(f"/tasks/{some}/tick"))["text"]


async def test_a_task_is_added_moved_changed_and_taken_back(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    preview = (
        await browser.get("/tasks/preview", params={"sentence": "call Ana tomorrow high priority"})
    ).text
    assert ("call Ana" in preview, "tomorrow" in preview, "high" in preview) == (True, True, True)
    assert "read from your words" in (await browser.get("/tasks/preview")).text
    assert (await browser.post("/tasks", data={"sentence": " "})).status_code == 400
    added = await browser.post("/tasks", data={"sentence": "call Ana tomorrow 5pm", "view": "upcoming"})
    assert told(added)["text"] == "Added “call Ana”."
    (known,) = (await api.get("/v1/tasks")).json()["items"]
    one = known["id"]
    for day, due in (("2031-02-03", "2031-02-03T17:00:00+00:00"), ("", None)):
        await browser.post(f"/tasks/{one}/move", data={"day": day})
        assert (await api.get(f"/v1/tasks/{one}")).json()["due_date"] == due
    for day in ("today", "tomorrow", "week"):
        assert (await browser.post(f"/tasks/{one}/move", data={"day": day})).status_code == 200
    assert (await browser.post(f"/tasks/{one}/move", data={"day": "some"})).status_code == 400
    form = (await browser.get(f"/tasks/{one}/edit")).text
    assert 'name="title" value="call Ana"' in form
    fields = {"title": "call Bea", "due_date": "", "priority": "high", "description": "note"}
    assert "call Bea" in (await browser.post(f"/tasks/{one}", data=fields)).text
    assert "hx-trigger" not in (await browser.post(f"/tasks/{one}", data=fields)).headers
    assert "title: call Ana → call Bea" in (await browser.get(f"/tasks/{one}/history")).text
    assert "call Bea" in (await browser.get(f"/tasks/{one}/row")).text
    assert (await browser.post(f"/undo?of=tasks:{one}")).status_code == 204
    assert (await api.get(f"/v1/tasks/{one}")).json()["title"] == "call Ana"
    assert "Deleted" in told(await browser.post(f"/tasks/{one}/delete", data={"shown": "call Ana"}))["text"]
    assert (await api.get("/v1/tasks")).json()["items"] == []
    await browser.post("/tasks", data={"sentence": "only added"})
    assert (await browser.post("/undo")).status_code == 204
    assert (await api.get("/v1/tasks")).json()["items"] == []


async def test_who_may_not_approve_leaves_a_deletion_waiting(
    visiting: Visiting, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    user = await visiting("use")
    one = await task(api, "kept")
    waits = await user.post(f"/tasks/{one}/delete")
    assert "waits for a yes" in waits.text
    assert (await api.get(f"/v1/tasks/{one}")).status_code == 200


async def test_a_document_comes_in_is_found_read_and_goes(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    text = "# Bees\n\n## Dance\n\nThe waggle dance tells other bees where flowers are.\n"
    path = "/documents/in/Insects/files/bees.md"
    streamed = await browser.put(path, content=text, headers={"accept": "text/event-stream"})
    assert "event: result" in streamed.text
    found = (await browser.get("/documents", params={"q": "bees dance", "within": "Insects"})).text
    assert "<mark>dance</mark>" in found
    (document,) = (await api.get("/v1/knowledge/collections/Insects/documents")).json()["items"]
    listed = (await browser.get("/documents/in/Insects")).text
    assert f'href="/documents/{document["id"]}"' in listed
    read = (await browser.get(f"/documents/{document['id']}", params={"passage": 0})).text
    assert 'class="bit here"' in read
    quoted = await browser.get("/documents/read", params={"source": document["source"], "at": "Bees > Dance"})
    assert 'class="bit here"' in quoted.text
    assert (await browser.get("/documents/read", params={"source": "/gone.md"})).status_code == 404
    assert (await browser.get("/documents/99999")).status_code == 422
    made = await browser.post("/documents/projects", data={"name": "Garden", "collection": "Insects"})
    assert told(made)["text"] == "The project is made."
    within = (await browser.get("/documents", params={"q": "dance", "within": "project:Garden"})).text
    assert "waggle" in within
    assert not (await browser.post("/documents/projects", data={"name": "Garden"})).is_success
    emptied = await browser.post("/documents/projects/Garden", data={})
    assert told(emptied)["text"] == "Changed Garden."
    (garden,) = (await api.get("/v1/knowledge/projects")).json()["items"]
    assert garden["collections"] == []
    for _ in range(2):
        linked = await browser.post("/documents/projects/Garden", data={"collection": "Insects"})
    assert told(linked)["text"] == "Nothing changed."
    (garden,) = (await api.get("/v1/knowledge/projects")).json()["items"]
    assert garden["collections"] == ["Insects"]
    assert (await browser.post("/documents/projects/Nothing", data={})).status_code == 404
    refused = await browser.post("/documents/in/Insects/delete", data={"typed": "insects"})
    assert "Nothing was deleted" in refused.text
    assert (
        "Deleted"
        in told(await browser.post("/documents/in/Insects/delete", data={"typed": "Insects"}))["text"]
    )
    assert (await browser.get("/documents/in/Insects")).status_code == 404


async def test_something_is_remembered_and_forgotten(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    assert (
        told(await browser.post("/memory", data={"content": "The key is at Ana's."}))["text"] == "Remembered."
    )
    (kept,) = (await api.get("/v1/memory")).json()["items"]
    assert "at Ana" in (await browser.get("/memory", params={"q": "where is the key"})).text
    assert "the first of its kind" in (await browser.get(f"/memory/{kept['id']}/history")).text
    assert told(await browser.post(f"/memory/{kept['id']}/forget"))["text"] == "Forgotten."
    assert (await api.get("/v1/memory")).json()["items"] == []
    assert not (await browser.post(f"/memory/{kept['id']}/forget")).is_success
    assert not (await browser.post("/memory", data={"content": ""})).is_success


async def test_a_memory_is_corrected_in_its_place_and_the_correction_taken_back(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    await browser.post("/memory", data={"content": "the key is at anas"})
    (kept,) = (await api.get("/v1/memory")).json()["items"]
    assert "the key is at anas</textarea>" in (await browser.get(f"/memory/{kept['id']}/edit")).text
    changed = await browser.post(f"/memory/{kept['id']}", data={"content": "The key is at Ana's."})
    assert "The key is at Ana&#39;s." in changed.text
    (now,) = (await api.get("/v1/memory")).json()["items"]
    assert (now["content"], now["timestamp"]) == ("The key is at Ana's.", kept["timestamp"])
    assert "the key is at anas" in (await browser.get(f"/memory/{now['id']}/history")).text
    assert "The key is at Ana" in (await browser.get(f"/memory/{now['id']}/row")).text
    late = await browser.post(f"/memory/{kept['id']}", data={"content": "It is lost."})
    assert (late.is_success, "newer has taken its place" in late.text) == (False, True)
    (line,) = (await api.get("/v1/executions", params={"tool": "store_memory", "limit": 1})).json()["items"]
    assert line["arguments"]["corrected_id"] == kept["id"]
    assert (await browser.post(told(changed)["undo"])).is_success
    assert "the key is at anas" in (await browser.get("/memory/list")).text


async def test_only_whoever_may_use_tools_changes_a_memory(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, visiting: Visiting
) -> None:
    await browser.post("/memory", data={"content": "The key is at Ana's."})
    (kept,) = (await api.get("/v1/memory")).json()["items"]
    reader = await visiting("read")
    assert "Change this" not in (await reader.get("/memory")).text
    refused = await reader.post(f"/memory/{kept['id']}", data={"content": "It is lost."})
    assert refused.status_code == 403
    await api.post("/v1/users", json={"id": "ben"})
    stranger = await visiting("use", "ben")
    assert (await stranger.get(f"/memory/{kept['id']}/edit")).status_code == 404
    assert not (await stranger.post(f"/memory/{kept['id']}", data={"content": "It is lost."})).is_success


async def test_a_tool_is_tried_through_the_door(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    tried = await browser.post(
        "/tools/add_task/try", data={"arg-title": "from the form", "arg-priority": "low"}
    )
    assert "done" in tried.text
    assert (await api.get("/v1/tasks")).json()["items"][0]["priority"] == "low"
    waits = await browser.post("/tools/code_execution/try", data={"arg-code": "print(1)"})
    assert "It waits for a yes" in waits.text
    wrong = await browser.post("/tools/list_tasks/try", data={"arg-limit": "many"})
    assert (wrong.status_code, "not JSON yet" in wrong.text) == (400, True)
    drawn = (await browser.get("/tools/add_task")).text
    assert "<rect" in drawn
    assert "get_current_time" in (await browser.get("/tools", params={"q": "time in Tokyo"})).text
    refused = await browser.post("/tools/code_execution/trust")
    assert refused.status_code == 409
    assert "without asking" in told(await browser.post("/tools/log_to_obsidian/trust"))["text"]


async def test_answers_that_last_are_given_on_the_page_listed_and_removed(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    entry = {"name": "greet_person", "description": "Shows a greeting.", "input_schema": schema}
    await api.post("/v1/tools", json=entry | {"script": "greet.py", "source": "def run(who): return who"})
    call = {"arguments": {"who": "Ada"}}
    asked = (await api.post("/v1/tools/greet_person/call", json=call)).json()["proposal_id"]
    assert "Always for exactly these arguments" in (await browser.get("/approvals")).text
    done = await browser.post(f"/approvals/{asked}/approve", data={"always": "arguments"})
    assert told(done)["text"] == "Done. It does not ask again; see Policy."
    assert (await api.post("/v1/tools/greet_person/call", json=call)).json()["status"] == "done"
    [rule] = (await api.get("/v1/policy")).json()["rules"]
    drawn = (await browser.get("/policy")).text
    assert "with exactly these arguments" in drawn
    replayed = await browser.post("/policy/replay", data={"text": ""})
    assert "would be decided otherwise" in replayed.text
    assert "Removed" in told(await browser.post(f"/policy/rules/{rule['id']}/remove"))["text"]
    asked = (await api.post("/v1/tools/greet_person/call", json=call)).json()["proposal_id"]
    never = {"always": "tool", "everyone": "1"}
    assert "refused" in told(await browser.post(f"/approvals/{asked}/reject", data=never))["text"]
    refused = (await api.post("/v1/tools/greet_person/call", json=call)).json()
    assert refused["error_code"] == "FORBIDDEN"
    assert "never runs" in (await browser.get("/policy")).text


async def test_servers_stop_start_and_are_read_again(browser: httpx.AsyncClient) -> None:
    assert "Start" in (await browser.post("/servers/time/stop")).text
    assert told(await browser.post("/servers/time/start"))["text"] == "time is running."
    assert "Healthy" in (await browser.get("/servers/time/health")).text
    assert (await browser.post("/servers/time/dance")).status_code == 400
    assert "nothing changed" in told(await browser.post("/servers/reload"))["text"]
    assert 'id="agent-time"' in (await browser.get("/servers/list")).text


@pytest.mark.usefixtures("suspicious_server")
async def test_a_definition_that_is_held_back_is_read_and_accepted(browser: httpx.AsyncClient) -> None:
    held = (await browser.get("/tools")).text
    assert "is held back" in held
    shown = held.partition('name="shown" value="')[2].partition('"')[0]
    accepted = await browser.post("/tools/raw__echo/accept", data={"shown": "something else"})
    assert accepted.status_code == 409
    assert shown
    assert "accepted" in told(await browser.post("/tools/raw__echo/accept"))["text"]
    assert "is held back" not in (await browser.get("/tools")).text


async def test_the_policy_is_shown_and_written(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    before = (await api.get("/v1/policy")).json()["text"]
    text = f'{before}\n[[rule]]\ntool = "mail__*"\nrisk = "irreversible"\n'
    outdated = await browser.post("/policy", data={"text": text, "before": "something else"})
    assert (outdated.status_code, "changed meanwhile" in outdated.text) == (409, True)
    broken = await browser.post("/policy", data={"text": "[[rule]", "before": before})
    assert (broken.status_code, "Nothing was written" in broken.text) == (400, True)
    assert "Written" in told(await browser.post("/policy", data={"text": text, "before": before}))["text"]
    assert "mail__*" in (await browser.get("/policy")).text
    assert (await api.get("/v1/policy")).json()["rules"][-1]["tool"] == "mail__*"


async def test_keys_and_people_come_and_go(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    added = await browser.post(
        "/access/users", data={"id": "ana", "name": "Ana", "time_zone": "Europe/Lisbon"}
    )
    assert told(added)["text"] == "Added Ana."
    assert (
        told(await browser.post("/access/users/ana", data={"name": "Ana Lima"}))["text"]
        == "Changed Ana Lima."
    )
    made = await browser.post("/access/keys", data={"name": "tablet", "role": "use", "user": "ana"})
    assert "stw_" in made.text
    assert (await browser.post("/access/keys", data={"name": "x", "role": "king"})).status_code == 400
    (key,) = (await api.get("/v1/keys")).json()["items"]
    assert "Revoked" in told(await browser.post(f"/access/keys/{key['id']}/revoke"))["text"]
    refused = await browser.post("/access/users/ana/erase", data={"typed": "anna"})
    assert refused.status_code == 409
    assert "Erased ana" in told(await browser.post("/access/users/ana/erase", data={"typed": "ana"}))["text"]
    assert (await api.get("/v1/users/ana")).status_code == 404


async def test_activity_is_filtered_by_who_asked(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, visiting: Visiting
) -> None:
    made = (await api.post("/v1/keys", json={"name": "robot", "role": "use"})).json()["token"]
    call = {"arguments": {"expression": "6 * 7"}}
    for headers in ({}, {"X-API-Key": made}):
        (await api.post("/v1/tools/calculate/call", json=call, headers=headers)).raise_for_status()
    everybody = (await browser.get("/activity")).text
    assert everybody.count('class="exec"') == 2
    assert '<option value="person:robot"' in everybody
    robots = (await browser.get("/activity", params={"caller": "person:robot"})).text
    assert robots.count('class="exec"') == 1
    assert '<option value="person:robot" selected' in robots
    lines = (await browser.get("/activity/export", params={"caller": "person:robot"})).text.splitlines()
    assert [json.loads(line)["caller"]["id"] for line in lines] == ["robot"]
    assert 'class="exec"' not in (await browser.get("/activity", params={"caller": "person:nobody"})).text
    await api.post("/v1/users", json={"id": "ben"})
    assert "person:robot" not in (await (await visiting("use", "ben")).get("/activity")).text


async def test_what_the_page_reads_to_show_it_fills_activity_only_on_request(
    browser: httpx.AsyncClient,
) -> None:
    await browser.get("/memory", params={"q": "where is the key"})
    await browser.get("/documents", params={"q": "how do bees dance"})
    for address in ("/tasks", "/tasks/list", "/tasks?view=done"):
        await browser.get(address)
    await browser.post("/tools/list_tasks/try")
    listed = (await browser.get("/activity")).text
    assert (listed.count('class="exec"'), "<b>list_tasks</b>" in listed) == (1, True)
    everything = (await browser.get("/activity", params={"reads": "1"})).text
    assert all(f"<b>{tool}</b>" in everything for tool in ("search_memory", "query_knowledge_base"))


async def test_activity_is_filtered_and_exported(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    await api.post("/v1/tools/get_current_time/call", json={"arguments": {}})
    await task(api, "another call")
    query = {"tool": "get_current_time", "status": "done", "since": "1"}
    listed = (await browser.get("/activity", params=query)).text
    assert ("<b>get_current_time</b>" in listed, "<b>add_task</b>" in listed) == (True, False)
    lines = (await browser.get("/activity/export", params=query)).text.splitlines()
    assert [json.loads(line)["tool"] for line in lines] == ["get_current_time"]
    run = json.loads(lines[0])["correlation_id"]

    async def written() -> bool:
        return "<rect" in (await browser.get(f"/activity/{run}")).text

    await until(written)
    assert "Open in Jaeger" in (await browser.get(f"/activity/{run}")).text


async def test_samples_come_once(browser: httpx.AsyncClient) -> None:
    assert "samples are here" in told(await browser.post("/samples"))["text"]
    assert (await browser.post("/samples")).status_code == 409
