"""The Chat page, as its script runs it, with the offline planner behind it."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest
from tests.integration.web.conftest import Visiting
from tests.waiting import until
from tests.web_visits import Visit


async def said(page: Visit, message: str) -> None:
    """Say something, and wait until the answer is on the page."""
    page.app.chat_input[0].set_value(message)
    await page.draw()
    await answered(page)


async def answered(page: Visit) -> None:
    async def ended() -> bool:
        await page.draw()
        return page.app.session_state["jobs"] == {}

    await until(ended, seconds=90)


async def titles(api: httpx.AsyncClient) -> list[str]:
    return [task["title"] for task in (await api.get("/v1/tasks")).json()["items"]]


async def conversations(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await api.get("/v1/conversations")).json()["items"]


async def test_a_request_is_answered_and_shows_what_was_called(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    page = visiting("chat")
    page.app.session_state["agent"] = "tasks"
    await page.draw()
    assert "What can I do for you?" in page.text()
    await said(page, "Add buy stamps to my tasks")
    assert await titles(api) == ["buy stamps"]
    assert any("add\\_task" in label for label in page.labels())
    (kept,) = await conversations(api)
    assert page.app.query_params["conversation"] in (kept["id"], [kept["id"]])
    await page.press("New conversation")
    assert "What can I do for you?" in page.text()
    await page.press(kept["title"], key="conversation-")
    assert any("add\\_task" in label for label in page.labels())
    await page.press("Delete this conversation")
    assert len(await conversations(api)) == 1
    await page.press("Delete it")
    assert await conversations(api) == []


async def test_a_deletion_asks_in_place_and_a_yes_runs_it_once(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    await api.post("/v1/tasks", json={"title": "buy stamps"})
    page = visiting("chat")
    page.app.session_state["agent"] = "tasks"
    await page.draw()
    await said(page, "Delete buy stamps")
    (proposal,) = (await api.get("/v1/proposals", params={"state": "waiting"})).json()["items"]
    assert proposal["tool"] == "delete_task"
    await page.press("Approve and run")
    assert "Nothing was run" in page.text()
    next(field for field in page.app.text_input if str(field.key).startswith("typed-")).set_value(
        "delete_task"
    )
    await page.press("Approve and run")
    await answered(page)
    assert await titles(api) == []
    done = (await api.get(f"/v1/proposals/{proposal['id']}")).json()
    assert (done["state"], done["receipt"]["via"]) == ("finished", "page")


async def test_a_no_in_place_keeps_the_task(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await api.post("/v1/tasks", json={"title": "buy stamps"})
    page = visiting("chat")
    page.app.session_state["agent"] = "tasks"
    await page.draw()
    await said(page, "Delete buy stamps")
    await page.press("Reject")
    await answered(page)
    assert await titles(api) == ["buy stamps"]


async def test_an_example_is_asked_by_pressing_it(visiting: Visiting, api: httpx.AsyncClient) -> None:
    page = visiting("chat")
    await page.draw()
    await page.press("What is due this week?")
    await answered(page)
    assert [item["title"] for item in await conversations(api)] == ["What is due this week?"]


async def test_a_conversation_that_is_not_there_is_explained(visiting: Visiting) -> None:
    page = visiting("chat", conversation="none")
    await page.draw()
    assert len(page.app.error) == 1


KINDS = """
from steward.surfaces.web.answers import draw_answer

base = {"tool_calls": [], "sources": [], "reasoning": "", "confidence": 0.5, "proposal_id": None}
lines = "No tool reads portfolios.\\nNearest: `read_file` (a `fi le`)"
gap = {"status": "gap", "answer": lines, "missing_tools": ["financial_data_api"]}
draw_answer({**base, **gap}, last=True, reply=print)
draw_answer({**base, "status": "failed", "answer": "The model did not answer."}, last=True, reply=print)
sources = [
    {"title": "Bees [1]", "location": "https://example.org/bees", "date": "2026-01-02"},
    {"title": "Notes", "location": "notes.md", "detail": "Bees > Dance"},
    {"title": "Named", "location": "named.md"},
    {"title": "Hive", "location": "/home/ana/steward/uploads/bees/hive.md"},
]
told = {"answer": "Bees dance. [1] named.md (Hive, /home/ana/steward/uploads/bees/hive.md)"}
known = {"status": "done", "sources": sources, **told, "reasoning": "Two sources agree."}
draw_answer({**base, **known}, last=True, reply=print)
"""


def test_answers_are_drawn_by_their_kind() -> None:
    app = AppTest.from_string(KINDS).run(timeout=60)
    texts = [item.value for item in app.markdown]
    assert ":material/extension_off: **No tool can do this yet.** Missing: `financial_data_api`" in texts
    assert "No tool reads portfolios\\.  \nNearest\\: `read_file` \\(a \\`fi le\\`\\)" in texts
    assert app.error[0].value == "The model did not answer\\."
    assert any("[Bees \\[1\\]](https://example.org/bees) 2026\\-01\\-02" in text for text in texts)
    assert "Bees dance. [1] named.md (Hive, hive.md)" in texts
    assert not any("Named" in text for text in texts)
    assert any("Notes `notes.md` Bees \\> Dance" in text for text in texts)
