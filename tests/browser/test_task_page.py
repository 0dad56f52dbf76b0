"""Tasks in a real browser: added in words, moved to days, changed in place, taken back, without a mouse."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.browser.conftest import Place, Visitor, task_titles

pytestmark = pytest.mark.timeout(600)


def row(page: Page, title: str) -> Locator:
    return page.locator(".task").filter(has_text=title)


def add(api: httpx.Client, title: str, **more: str) -> str:
    made = api.post("/v1/tasks", json={"title": title, **more}).raise_for_status().json()
    return made["data"]["task"]["id"]


def test_a_task_is_read_while_it_is_written_and_added(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("tasks?view=upcoming", "Tasks")
    page.keyboard.press("n")
    page.keyboard.type("Call Ana tomorrow 5pm, high priority")
    expect(page.locator("#preview")).to_contain_text("Call Ana")
    expect(page.locator("#preview")).to_contain_text("tomorrow")
    page.keyboard.press("Enter")
    expect(row(page, "Call Ana").get_by_text("tomorrow 17:00")).to_be_visible()
    expect(page.locator("#sentence")).to_be_focused()
    expect(page.locator("#sentence")).to_have_value("")
    page.locator(".say").get_by_role("button", name="Undo").click()
    expect(row(page, "Call Ana")).to_have_count(0)
    assert "Call Ana" not in task_titles(api)


def test_a_task_is_ticked_off_and_taken_back(visitor: Visitor, api: httpx.Client) -> None:
    task = add(api, "wash the car")
    page = visitor.open("tasks?view=someday", "Tasks")
    row(page, "wash the car").get_by_role("checkbox").check()
    expect(row(page, "wash the car")).to_have_count(0)
    assert api.get(f"/v1/tasks/{task}").json()["completed"] is True
    page.keyboard.press("u")
    expect(row(page, "wash the car")).to_be_visible()
    assert api.get(f"/v1/tasks/{task}").json()["completed"] is False


def test_a_task_is_changed_in_place_and_its_history_tells(visitor: Visitor, api: httpx.Client) -> None:
    add(api, "call the plumber")
    page = visitor.open("tasks?view=someday", "Tasks")
    row(page, "call the plumber").focus()
    page.keyboard.press("e")
    title = page.get_by_label("Task", exact=True)
    expect(title).to_be_focused()
    title.fill("call the plumber back")
    page.keyboard.press("Enter")
    changed = row(page, "call the plumber back")
    expect(changed).to_be_visible()
    changed.focus()
    page.keyboard.press("h")
    expect(changed.get_by_text("title: call the plumber → call the plumber back")).to_be_visible()


def test_a_task_moves_by_a_key_and_by_dragging(visitor: Visitor, api: httpx.Client) -> None:
    task = add(api, "buy paint")
    today = datetime.now(UTC).date()
    page = visitor.open("tasks?view=someday", "Tasks")
    row(page, "buy paint").focus()
    page.keyboard.press("2")
    expect(row(page, "buy paint")).to_have_count(0)
    assert api.get(f"/v1/tasks/{task}").json()["due_date"] == (today + timedelta(days=1)).isoformat()
    page = visitor.open("tasks?view=upcoming", "Tasks")
    day = (today + timedelta(days=3)).isoformat()
    row(page, "buy paint").drag_to(page.locator(f'section[data-day="{day}"]'))
    expect(page.locator(f'section[data-day="{day}"]').get_by_text("buy paint")).to_be_visible()
    assert api.get(f"/v1/tasks/{task}").json()["due_date"] == day


def test_a_task_is_changed_on_a_phone(chromium: Browser, steward: Place, api: httpx.Client) -> None:
    add(api, "mend the gate of the lower garden", description="The hinge is loose, see the note inside.")
    visitor = Visitor(chromium, steward, width="phone", theme="light")
    page = visitor.open("tasks?view=someday", "Tasks")
    row(page, "mend the gate").locator("[data-edit]").click()
    page.get_by_label("Task", exact=True).fill("mend the garden gate")
    page.get_by_role("button", name="Save").click()
    expect(row(page, "mend the garden gate")).to_be_visible()
    visitor.context.close()


def test_a_task_is_deleted_after_a_question(visitor: Visitor, api: httpx.Client) -> None:
    add(api, "sell the piano")
    page = visitor.open("tasks?view=someday", "Tasks")
    row(page, "sell the piano").focus()
    page.keyboard.press("d")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("sell the piano")
    dialog.get_by_role("button", name="Keep it").click()
    assert "sell the piano" in task_titles(api)
    row(page, "sell the piano").focus()
    page.keyboard.press("d")
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(row(page, "sell the piano")).to_have_count(0)
    assert "sell the piano" not in task_titles(api)


def test_a_change_made_elsewhere_appears(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("tasks?view=someday", "Tasks")
    task = add(api, "water the orchid")
    expect(row(page, "water the orchid")).to_be_visible()
    api.post(f"/v1/tasks/{task}/complete")
    expect(row(page, "water the orchid")).to_have_count(0)


def test_a_filter_has_an_address(visitor: Visitor, api: httpx.Client) -> None:
    add(api, "polish the brass", priority="high")
    add(api, "polish the silver", priority="low")
    page = visitor.open("tasks?view=someday", "Tasks")
    page.get_by_label("Search tasks").fill("polish")
    page.get_by_label("Priority").select_option("high")
    expect(row(page, "polish the brass")).to_be_visible()
    expect(row(page, "polish the silver")).to_have_count(0)
    page.reload()
    expect(row(page, "polish the brass")).to_be_visible()
    expect(row(page, "polish the silver")).to_have_count(0)
