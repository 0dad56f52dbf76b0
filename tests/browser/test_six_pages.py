"""Each page in a real browser: as it looks, and as people use it."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import WIDTHS, Place, Visitor

pytestmark = pytest.mark.timeout(600)
PAGES = {
    "": "Chat",
    "tasks": "Tasks",
    "knowledge": "Knowledge",
    "approvals": "Approvals",
    "tools": "Tools and agents",
    "activity": "Activity",
}


def code_waits(api: httpx.Client, code: str = "print(6 * 7)") -> str:
    call = {"arguments": {"language": "python", "code": code}}
    return api.post("/v1/tools/code_execution/call", json=call).json()["proposal_id"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_is_readable_and_stays_at_home(
    chromium: Browser, steward: Place, api: httpx.Client, width: str, theme: str
) -> None:
    if not api.get("/v1/proposals", params={"state": "waiting"}).json()["items"]:
        code_waits(api)
    visitor = Visitor(chromium, steward, width=width, theme=theme)
    for path, heading in PAGES.items():
        visitor.open(path, heading)
        visitor.picture(heading.split()[0].lower())
        assert visitor.fits(), f"{heading} sticks out"
    visitor.context.close()
    assert visitor.outside == []


def test_a_task_is_added_ticked_off_and_taken_back(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("tasks", "Tasks")
    page.get_by_label("Add a task in your own words").fill("Call Ana tomorrow 5pm, high priority")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Added “Call Ana”")).to_be_visible()
    row = page.locator("[class*=st-key-task-]").filter(has_text="Call Ana")
    expect(row.get_by_text("tomorrow")).to_be_visible()
    row.get_by_role("checkbox").check(force=True)
    expect(page.get_by_text("Done: “Call Ana”")).to_be_visible()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("is as before it was")).to_be_visible()
    visitor.settle()

    row.get_by_role("button", name="Edit").click()
    title = page.get_by_label("Task", exact=True)
    expect(title).to_be_visible()
    visitor.settle()
    title.fill("Call Ana back")
    title.press("Enter")
    expect(page.get_by_text("Changed “Call Ana back”")).to_be_visible()
    visitor.settle()
    changed = page.locator("[class*=st-key-task-]").filter(has_text="Call Ana back")
    changed.get_by_role("button", name="History").click()
    expect(page.get_by_role("dialog").get_by_text("title: Call Ana → Call Ana back")).to_be_visible()
    page.keyboard.press("Escape")
    changed.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(changed).to_have_count(0)
    titles = [task["title"] for task in api.get("/v1/tasks").json()["items"]]
    assert "Call Ana back" not in titles


def test_a_document_is_dropped_in_and_found(visitor: Visitor, tmp_path: Path) -> None:
    document = tmp_path / "bees.md"
    document.write_text("# Bees\n\n## Dance\n\nThe waggle dance tells other bees where flowers are.\n")
    page = visitor.open("knowledge", "Knowledge")
    page.get_by_role("tab", name="Add documents").click()
    chosen = page.get_by_role("combobox", name="Collection")
    chosen.fill("Insects")
    page.keyboard.press("Enter")
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(document)
    page.get_by_role("button", name="Add them").click()
    expect(page.get_by_text("1 of 1 documents are in Insects")).to_be_visible()
    page.get_by_role("tab", name="Search").click()
    page.get_by_placeholder("How is a task deleted?").fill("how do bees dance")
    page.keyboard.press("Enter")
    expect(page.locator("mark").filter(has_text="dance").first).to_be_visible()
    visitor.settle()
    visitor.picture("found")


def decided_proposal(page: Page, api: httpx.Client, proposal: str) -> dict[str, Any]:
    """As it is once it ran: the page says that it was approved before that."""
    deadline = time.monotonic() + 60
    while (found := api.get(f"/v1/proposals/{proposal}").json())["state"] == "running":
        assert time.monotonic() < deadline, found
        page.wait_for_timeout(100)
    return found


def test_a_call_is_approved_by_typing_its_name(visitor: Visitor, api: httpx.Client) -> None:
    proposal = code_waits(api, "print('approved')")
    page = visitor.open("approvals", "Approvals")
    card = page.locator(f".st-key-proposal-{proposal}").first
    card.get_by_role("button", name="Approve and run").click()
    expect(card.get_by_text("Nothing was run")).to_be_visible()
    assert api.get(f"/v1/proposals/{proposal}").json()["state"] == "waiting"
    card.get_by_label("Type code_execution to confirm").fill("code_execution")
    card.get_by_label("Type code_execution to confirm").blur()
    card.get_by_role("button", name="Approve and run").click()
    page.get_by_role("tab", name="Decided").click()
    decided = page.locator(f".st-key-proposal-{proposal}").last
    expect(decided.get_by_text("approved it")).to_be_visible()
    done = decided_proposal(page, api, proposal)
    assert (done["state"], done["receipt"]["via"]) == ("finished", "page")


def test_a_tool_is_found_and_an_agent_stopped(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("tools", "Tools and agents")
    page.get_by_label("What do you want to do?").fill("what time is it in Tokyo")
    page.keyboard.press("Enter")
    expect(page.get_by_text("get_current_time").first).to_be_visible()
    page.get_by_role("tab", name="Agents").click()
    agent = page.locator(".st-key-agent-time")
    agent.get_by_role("button", name="Stop").click()
    expect(agent.get_by_role("button", name="Start")).to_be_visible()
    agent.get_by_role("button", name="Start").click()
    expect(agent.get_by_role("button", name="Stop")).to_be_visible()
    page.get_by_role("tab", name="Numbers").click()
    expect(page.get_by_text("How long a call takes")).to_be_visible()
    visitor.settle()
    visitor.picture("numbers")


def test_a_run_is_shown_as_a_waterfall(visitor: Visitor, api: httpx.Client) -> None:
    api.post("/v1/tools/get_current_time/call", json={"arguments": {}})
    page = visitor.open("activity", "Activity")
    line = page.get_by_test_id("stExpander").filter(has_text="get_current_time").first
    line.locator("summary").click()
    line.get_by_role("button", name="Show the whole run").click()
    expect(page.locator(".chart .bar.tool").first).to_be_visible()
    expect(page.get_by_role("link", name="Open in Jaeger")).to_be_visible()
    visitor.settle()
    visitor.picture("run")
    page.reload()  # the run has an address of its own
    expect(page.locator(".chart .bar.tool").first).to_be_visible()
