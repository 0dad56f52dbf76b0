"""Pictures of what a page looks like in use, at both widths and in both themes; nothing sticks out."""

from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Browser, expect
from tests.browser.conftest import WIDTHS, Place, Visitor

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Talks:
    """Conversations that end in different ways."""

    asks: str
    gap: str
    found: str


@pytest.fixture(scope="module")
def talks(api: httpx.Client) -> Talks:
    def say(message: str, **more: str) -> str:
        return api.post("/v1/chat", json={"message": message, **more}).json()["conversation"]

    asks = say("Add return the library books tomorrow 9am, high priority", agent="tasks")
    say("Delete return the library books", conversation=asks)
    return Talks(
        asks=asks,
        gap=say("Retrieve my stock portfolio performance for Q3 2024", agent="researcher"),
        found=say("Where are my documents kept?", agent="researcher"),
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_cards_and_details_are_readable(
    chromium: Browser, steward: Place, talks: Talks, width: str, theme: str
) -> None:
    visitor = Visitor(chromium, steward, width=width, theme=theme)
    page = visitor.page

    def keep(name: str) -> None:
        visitor.settle()
        visitor.picture(name)
        assert visitor.fits(), f"{name} sticks out"

    visitor.open(f"?conversation={talks.asks}", "Chat")
    page.get_by_test_id("stExpander").filter(has_text="add_task").first.locator("summary").click()
    keep("card-tool")
    page.get_by_role("button", name="Approve and run").scroll_into_view_if_needed()
    keep("card-approval")
    visitor.open(f"?conversation={talks.gap}", "Chat")
    keep("card-gap")
    visitor.open(f"?conversation={talks.found}", "Chat")
    keep("card-sources")
    visitor.open("activity", "Activity")
    page.get_by_test_id("stExpander").filter(has_text="add_task").first.locator("summary").click()
    keep("activity-details")
    page.get_by_role("button", name="Show the whole run").first.click()
    expect(page.locator(".chart .bar.tool").first).to_be_visible()
    keep("activity-run")
    for tab in ("Agents", "Numbers"):
        visitor.open("tools", "Tools and agents")
        page.get_by_role("tab", name=tab).click()
        keep(f"tools-{tab.lower()}")
    visitor.open("knowledge", "Knowledge")
    page.get_by_placeholder("How is a task deleted?").fill("who may approve a proposal")
    page.keyboard.press("Enter")
    expect(page.locator("mark").first).to_be_visible()
    keep("knowledge-found")
    for tab in ("Add documents", "Collections and projects"):
        page.get_by_role("tab", name=tab).click()
        keep(f"knowledge-{tab.split()[0].lower()}")
    visitor.context.close()
    assert visitor.outside == []


@pytest.fixture(scope="module")
def edited(api: httpx.Client) -> str:
    """A call that was approved after its arguments were changed."""
    call = {"arguments": {"language": "python", "code": "print('before')"}}
    proposal = api.post("/v1/tools/code_execution/call", json=call).json()["proposal_id"]
    arguments = {"language": "python", "code": "print('after')"}
    api.post(f"/v1/proposals/{proposal}/approve", json={"arguments": arguments})
    return proposal


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_receipts_forms_and_questions_are_readable(
    chromium: Browser, steward: Place, edited: str, width: str, theme: str
) -> None:
    visitor = Visitor(chromium, steward, width=width, theme=theme)
    page = visitor.open("approvals", "Approvals")
    page.get_by_role("tab", name="Decided").click()
    receipt = page.locator(f".st-key-proposal-{edited}").last
    expect(receipt.get_by_text("after editing the arguments")).to_be_visible()
    receipt.scroll_into_view_if_needed()
    visitor.settle()
    visitor.picture("approvals-decided")
    assert visitor.fits()
    visitor.open("tasks", "Tasks")
    chosen, other, *_ = page.locator("[data-testid=stButtonGroup] button").all()
    colours = [each.evaluate("each => getComputedStyle(each).color") for each in (chosen, other)]
    assert colours[0] == colours[1]  # readable in both themes; the frame shows which one is chosen
    row = page.locator("[class*=st-key-task-]").filter(has_text="Tick this task off")
    for button, name in (("History", "tasks-history"), ("Delete", "tasks-delete")):
        row.get_by_role("button", name=button).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        visitor.settle()
        visitor.picture(name)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    row.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Task", exact=True)).to_be_visible()
    visitor.settle()
    visitor.picture("tasks-edit")
    assert visitor.fits()
    visitor.context.close()
