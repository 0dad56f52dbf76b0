"""The Tasks page, as its script runs it."""

import httpx
from tests.integration.web.conftest import Visiting
from tests.waiting import until


async def titles(api: httpx.AsyncClient, **query: str) -> list[str]:
    return [task["title"] for task in (await api.get("/v1/tasks", params=query)).json()["items"]]


async def add(api: httpx.AsyncClient, title: str, **more: str) -> str:
    made = (await api.post("/v1/tasks", json={"title": title, **more})).json()
    return made["data"]["task"]["id"]


async def test_an_empty_list_says_how_to_begin_and_offers_samples(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    page = visiting("tasks")
    await page.draw()
    assert "Nothing to do" in page.text()
    await page.press("Show me with some samples")
    assert "Show me with some samples" not in page.labels()

    async def brought() -> bool:
        await page.draw()
        return page.app.session_state["jobs"] == {}

    await until(brought, seconds=60)
    assert "Water the plants" in page.labels()
    assert len(await titles(api)) == 4


async def test_a_sentence_becomes_a_task_and_undo_takes_it_back(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    page = visiting("tasks")
    await page.draw()
    next(field for field in page.app.text_input if field.key == "sentence").set_value(
        "Call Ana tomorrow 5pm, high priority"
    )
    await page.press("Add")
    (task,) = (await api.get("/v1/tasks")).json()["items"]
    assert (task["title"], task["priority"], task["due_date"][11:16]) == ("Call Ana", "high", "17:00")
    assert "Added “Call Ana”" in page.text()
    await page.press("Undo")
    assert await titles(api) == []
    assert "Deleted 'Call Ana'" in page.text()


async def test_a_task_is_ticked_off_and_reopened(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await add(api, "buy milk")
    page = visiting("tasks")
    app = await page.draw()
    app.checkbox[0].check()
    await page.draw()
    assert await titles(api, completed="true") == ["buy milk"]
    assert "buy milk" not in page.labels()
    app.segmented_control[0].set_value("Done")
    await page.draw()
    app.checkbox[0].uncheck()
    await page.draw()
    assert await titles(api, completed="false") == ["buy milk"]


async def test_a_task_is_changed_in_place(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await add(api, "buy milk")
    page = visiting("tasks")
    await page.draw()
    await page.press("", key="edit-")
    next(field for field in page.app.text_input if field.label == "Task").set_value("buy oat milk")
    next(field for field in page.app.text_input if field.label == "Due").set_value("2030-01-02")
    await page.press("Save")
    (task,) = (await api.get("/v1/tasks")).json()["items"]
    assert (task["title"], task["due_date"]) == ("buy oat milk", "2030-01-02")
    assert "buy oat milk" in page.labels()
    await page.press("", key="edit-")
    await page.press("Cancel")
    assert "buy oat milk" in page.labels()


async def test_what_a_tool_refuses_is_said_where_it_happened(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    await add(api, "buy milk")
    page = visiting("tasks")
    await page.draw()
    await page.press("", key="edit-")
    next(field for field in page.app.text_input if field.label == "Task").set_value("")
    await page.press("Save")
    assert len(page.app.error) == 1
    assert await titles(api) == ["buy milk"]


async def test_a_deletion_is_confirmed_first(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await add(api, "buy milk")
    page = visiting("tasks")
    await page.draw()
    await page.press("", key="delete-")
    assert "goes with its history, for good" in page.text()
    await page.press("Keep it")
    assert await titles(api) == ["buy milk"]
    await page.press("", key="delete-")
    await page.press("Delete it")
    assert await titles(api) == []
    (decided,) = (await api.get("/v1/proposals")).json()["items"]
    assert (decided["state"], decided["receipt"]["via"]) == ("finished", "page")


async def test_the_history_tells_what_changed(visiting: Visiting, api: httpx.AsyncClient) -> None:
    task = await add(api, "buy milk")
    await api.patch(f"/v1/tasks/{task}", json={"title": "buy *oat* milk"})
    page = visiting("tasks")
    await page.draw()
    await page.press("", key="log-")
    assert "title\\: buy milk → buy \\*oat\\* milk" in page.text()


async def test_filters_narrow_the_list(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await add(api, "pay rent", priority="high", due_date="today")
    await add(api, "read a book", priority="low")
    page = visiting("tasks")
    await page.draw()
    await page.choose("Priority", "high")
    assert ("pay rent" in page.labels(), "read a book" in page.labels()) == (True, False)
    await page.choose("Priority", "Any")
    await page.choose("Due", "By today")
    assert ("pay rent" in page.labels(), "read a book" in page.labels()) == (True, False)
    await page.write("Search", "nothing like it")
    assert "No task fits" in page.text()


async def test_a_long_list_is_shown_in_parts(visiting: Visiting, api: httpx.AsyncClient) -> None:
    for number in range(27):
        await add(api, f"task {number}")
    page = visiting("tasks")
    await page.draw()
    assert len(page.app.checkbox) == 25
    await page.press("Show 2 more")
    assert len(page.app.checkbox) == 27
