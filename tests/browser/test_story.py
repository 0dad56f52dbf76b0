"""The whole story in a real browser: ask, approve, see the trace, undo."""

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.timeout(600)


def say(page: Page, text: str) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_be_enabled()
    box.fill(text)
    box.press("Enter")


def titles(api: httpx.Client) -> list[str]:
    return [task["title"] for task in api.get("/v1/tasks").json()["items"]]


def test_ask_approve_see_the_trace_and_undo(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("", "Chat")
    say(page, "Add renew the passport tomorrow 9am, high priority")
    call = page.get_by_test_id("stExpander").filter(has_text="add_task").first
    expect(call).to_be_visible()
    expect(page.get_by_text("How it got there").first).to_be_visible()
    assert "renew the passport" in titles(api)

    say(page, "Delete renew the passport")
    approve = page.get_by_role("button", name="Approve and run")
    expect(approve).to_be_visible()
    visitor.settle()
    visitor.picture("asks")
    assert "renew the passport" in titles(api)
    typed = page.get_by_label("Type delete_task to confirm")
    typed.fill("delete_task")
    typed.blur()
    approve.click()
    expect(page.get_by_text("How it got there").nth(2)).to_be_visible()
    assert "renew the passport" not in titles(api)
    visitor.settle()
    visitor.picture("approved")

    call.locator("summary").click()
    call.get_by_role("button", name="Show the whole run").click()
    expect(page.locator(".chart .bar.tool").first).to_be_visible()
    visitor.settle()
    visitor.picture("trace")

    visitor.open("", "Chat")
    say(page, "Add call the bank")
    expect(page.get_by_text("How it got there").first).to_be_visible()
    assert "call the bank" in titles(api)
    visitor.open("tasks", "Tasks")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Deleted '")).to_be_visible()
    assert "call the bank" not in titles(api)
