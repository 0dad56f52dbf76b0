"""The pages for tools, activity and knowledge, and the door of the page itself."""

import httpx
import pytest
from streamlit.runtime.context import ContextProxy
from tests.integration.web.conftest import Visiting
from tests.waiting import until
from tests.web_visits import Visit, visit

from steward.surfaces.web import session
from steward.surfaces.web.visits import COOKIE, Visits


async def test_tools_are_found_by_what_they_do(visiting: Visiting) -> None:
    page = visiting("tools")
    await page.draw()
    assert any("save\\_fact" in label for label in page.labels())
    await page.write("What do you want to do?", "what time is it in Tokyo")
    assert "get\\_current\\_time" in page.app.expander[0].label


async def idle(page: Visit) -> str:
    """Whatever was begun on the page has ended; gives all that it showed, also for a moment only."""
    shown = [page.text()]

    async def ended() -> bool:
        await page.draw()
        shown.append(page.text())
        return "jobs" in page.app.session_state and page.app.session_state["jobs"] == {}

    await until(ended)
    return "\n".join(shown)


async def test_agents_show_their_health_and_are_stopped_and_started(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    page = visiting("tools")
    await page.draw()
    await page.press("Health", key="health-tasks")
    assert "Healthy" in page.text()

    async def agent(word: str) -> str:
        await page.press(word, key="switch-tasks")
        await idle(page)
        agents = (await api.get("/v1/agents")).json()["items"]
        return next(item["state"] for item in agents if item["id"] == "tasks")

    assert await agent("Stop") == "stopped"
    assert await agent("Start") == "running"


async def test_numbers_come_with_the_first_calls(visiting: Visiting, api: httpx.AsyncClient) -> None:
    page = visiting("tools")
    await page.draw()
    assert "No numbers yet" in page.text()
    await api.get("/v1/tasks")
    await api.post("/v1/tools/read_file/call", json={"arguments": {"path": "/none/there"}})
    await page.draw()
    assert "<td>list_tasks</td><td>1</td><td>0</td>" in page.text()
    assert "100 %" in page.text()


@pytest.mark.usefixtures("suspicious_server")
async def test_a_definition_that_was_held_back_is_read_and_accepted(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    page = visiting("tools")
    await page.draw()
    assert "tells the model to ignore its instructions" in page.text()
    await page.press("I have read it: accept the definition", key="accept-raw__echo")
    assert (await api.get("/v1/tools/raw__echo")).json()["blocked"] is None


async def test_every_call_leaves_a_line_that_leads_to_its_run(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    page = visiting("activity")
    await page.draw()
    assert "Nothing was run yet" in page.text()
    await api.post("/v1/tasks", json={"title": "buy <b>milk</b>"})
    (line,) = (await api.get("/v1/executions")).json()["items"]

    async def traced() -> bool:
        return (await api.get(f"/v1/traces/{line['correlation_id']}")).status_code == 200

    await until(traced)
    await page.draw()
    assert "add\\_task" in page.app.expander[0].label
    await page.press("Show the whole run")
    assert 'class="bar tool"' in page.text()
    assert "One run\\: add\\_task" in page.text().replace("One run:", "One run\\:")
    assert "http://localhost:16686/trace/" in page.app.link_button[0].url
    await page.press("All activity")
    await page.choose("Result", "Failed")
    assert "Nothing was run yet" in page.text()


async def test_a_run_that_is_not_there_is_explained(visiting: Visiting) -> None:
    page = visiting("activity", trace="none")
    await page.draw()
    assert "There is no trace" in page.text()


async def test_the_log_is_shown_in_parts(visiting: Visiting, api: httpx.AsyncClient) -> None:
    for _ in range(32):
        await api.get("/v1/tasks")
    page = visiting("activity")
    await page.draw()
    assert len(page.app.expander) == 30
    await page.press("Show more")
    assert len(page.app.expander) == 32


async def collection(api: httpx.AsyncClient, name: str) -> None:
    made = {"arguments": {"action": "create", "collection_name": name}}
    await api.post("/v1/tools/manage_collections/call", json=made)


async def test_documents_are_dropped_in_and_found_again(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await collection(api, "Bees")
    page = visiting("knowledge")
    app = await page.draw()
    assert "There is nothing to search yet" in page.text()
    app.file_uploader[0].upload(
        "bees.md", b"# Bees\n\n## Dance\n\nThe waggle dance tells other bees where flowers are.\n"
    )
    await page.draw()
    await page.press("Add them")
    await idle(page)
    (filled,) = (await api.get("/v1/knowledge/collections")).json()["items"]
    assert (filled["name"], filled["documents"]) == ("Bees", 1)
    await page.write("Search", "how do bees dance")
    assert "<mark>dance</mark>" in page.text()
    assert "Bees \\> Dance" in page.text() or "Dance" in page.text()
    app.toggle[0].set_value(True)
    await page.draw()
    assert "<td>Bees</td>" in page.text()
    assert ("<td>bees.md</td>" in page.text(), "/uploads/" in page.text()) == (True, False)


async def test_a_document_that_cannot_be_read_is_named(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await collection(api, "Bees")
    page = visiting("knowledge")
    app = await page.draw()
    app.file_uploader[0].upload("broken.pdf", b"this is no PDF")
    await page.draw()
    await page.press("Add them")
    await idle(page)
    assert "broken\\.pdf" in page.text()
    assert len(app.error) == 1


async def test_projects_group_collections_and_a_collection_goes_by_its_name(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    await collection(api, "Bees")
    page = visiting("knowledge")
    app = await page.draw()
    next(field for field in app.text_input if field.label == "New project").set_value("Garden")
    app.multiselect[0].set_value(["Bees"])
    await page.press("Make it")
    assert "Garden" in page.text()
    (project,) = (await api.get("/v1/knowledge/projects")).json()["items"]
    assert project["collections"] == ["Bees"]
    await page.press("", key="drop-Bees")
    await page.press("Delete it")
    assert "Nothing was deleted" in page.text()
    await page.press("", key="drop-Bees")
    next(field for field in app.text_input if field.label == "Type its name to confirm").set_value("Bees")
    await page.press("Delete it")
    shown = await idle(page)
    assert (await api.get("/v1/knowledge/collections")).json()["items"] == []
    assert "Deleted the collection Bees" in shown


async def test_whoever_is_not_signed_in_is_sent_where_that_is_done(visiting: Visiting) -> None:
    page = visiting("tasks", key=None)
    await page.draw()
    assert "You are not signed in" in page.text()
    assert 'href="/sign-in"' in page.text()


async def test_a_visit_acts_with_the_key_it_was_begun_with_until_that_is_revoked(
    visiting: Visiting, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "VISITS", Visits())
    key = (await api.post("/v1/keys", json={"name": "ana", "role": "use"})).json()["token"]
    word = session.VISITS.begin(key)
    monkeypatch.setattr(ContextProxy, "cookies", {COOKIE: word})
    page = visiting("tasks", key=None)
    await page.draw()
    assert "Nothing to do" in page.text()
    assert "Show me with some samples" not in page.labels()
    await api.delete("/v1/keys/ana")
    revoked = visiting("tasks", key=None)
    await revoked.draw()
    assert "opens nothing any more" in revoked.text()
    assert session.VISITS.recall(word) is None


async def test_an_api_that_is_away_is_said_in_plain_words() -> None:
    page = visit("tasks", "http://127.0.0.1:9", key="k")
    await page.draw()
    assert "Steward did not answer" in page.text()
    page.leave()
