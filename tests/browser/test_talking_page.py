"""Talking on the page: the words at once, what is done beside them, and everything that can be taken back."""

import httpx
import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Visitor, said, task_titles

pytestmark = pytest.mark.timeout(600)


def say(page: Page, text: str) -> None:
    page.locator("#message").fill(text)
    page.locator("#message").press("Enter")


def answers(page: Page, count: int) -> None:
    expect(page.locator(".turn .how")).to_have_count(count)


def test_a_turn_that_was_taken_elsewhere_appears_in_the_open_conversation(
    visitor: Visitor, api: httpx.Client
) -> None:
    conversation = said(api, "Add water the ferns", agent="tasks")
    page = visitor.open(f"chat/{conversation}", "Add water the ferns")
    expect(page.locator(".turn .how")).to_have_count(1)
    said(api, "Show my tasks", conversation=conversation)
    expect(page.locator(".turn .how")).to_have_count(2)
    expect(page.locator(".said").last).to_contain_text("Show my tasks")
    page.locator("#message").fill("Add feed the cat")
    page.keyboard.press("Enter")
    expect(page.locator(".turn .how")).to_have_count(3)


def test_ask_approve_see_the_run_and_undo(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("", "Chat")
    say(page, "Add renew the passport tomorrow 9am, high priority")
    expect(page.locator(".said").first).to_have_text("Add renew the passport tomorrow 9am, high priority")
    answers(page, 1)
    expect(page.locator("#message")).to_be_focused()
    assert "renew the passport" in task_titles(api)

    page.keyboard.type("Delete renew the passport")
    page.keyboard.press("Enter")
    asks = page.locator(".card")
    expect(asks).to_be_visible()
    visitor.picture("asks")
    assert "renew the passport" in task_titles(api)
    asks.get_by_text("Approve…").click()
    asks.get_by_role("button", name="Run it now").click()
    answers(page, 3)
    assert "renew the passport" not in task_titles(api)

    call = page.locator(".call").filter(has_text="add_task").first
    call.locator("summary").click()
    call.get_by_role("link", name="Show the whole run").click()
    expect(page.locator(".fall .bar.tool").first).to_be_visible()
    page.go_back()
    answers(page, 3)

    page.locator("[data-new]").click()
    expect(page.get_by_role("heading", name="Chat", level=1)).to_be_visible()
    say(page, "Add call the bank")
    answers(page, 1)
    assert "call the bank" in task_titles(api)
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: added the task 'call the bank'.")).to_be_visible()
    assert "call the bank" not in task_titles(api)


def test_a_look_that_something_newer_takes_the_place_of_is_no_fault(
    visitor: Visitor, api: httpx.Client
) -> None:
    """What is said now ends the look at the conversation that is on its way."""
    conversation = said(api, "Add repot the cactus", agent="tasks")
    page = visitor.open(f"chat/{conversation}", "Add repot the cactus")
    held: list[Route] = []
    # The first look is never answered, those after it are.
    page.route("**/live?*", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/live?*"):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('resync'))")
    say(page, "Show my tasks")
    answers(page, 2)
    assert len(held) == 1
    assert visitor.problems == []


def test_a_button_whose_card_is_gone_still_says_that_nobody_answered(visitor: Visitor) -> None:
    page = visitor.open("tools/add_task", "add_task")
    held: list[Route] = []
    page.route("**/try", lambda route: held.append(route))  # noqa: PLW0108
    page.get_by_label("title").fill("never added")
    with page.expect_request("**/try"):
        page.get_by_role("button", name="Call it").click()
    page.evaluate("document.querySelector('form[hx-post$=\"/try\"]').remove()")
    held[0].abort()
    expect(page.get_by_text("Steward did not answer.")).to_be_visible()
    assert [each for each in visitor.problems if "htmx" in each] == []
    visitor.problems.clear()  # the browser itself notes a request that failed


def test_a_conversation_is_found_renamed_deleted_and_brought_back(
    visitor: Visitor, api: httpx.Client
) -> None:
    conversation = said(api, "What is due on the day of the narwhal?")
    page = visitor.open(f"chat/{conversation}", "What is due on the day of the narwhal?")
    page.get_by_label("Search conversations").fill("narwhal")
    expect(page.locator("#talks li")).to_have_count(1)
    page.get_by_label("Rename or delete").click()
    page.get_by_label("Title").fill("Sea mammals")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="Sea mammals", level=1)).to_be_visible()
    page.get_by_label("Rename or delete").click()
    page.get_by_role("button", name="Delete this conversation").click()
    expect(page.get_by_text("The conversation is gone.")).to_be_visible()
    assert api.get(f"/v1/conversations/{conversation}").status_code == 404
    page.locator(".say").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Sea mammals", level=1)).to_be_visible()
    assert api.get(f"/v1/conversations/{conversation}").status_code == 200


def test_a_conversation_that_is_deleted_elsewhere_says_so_once(visitor: Visitor, api: httpx.Client) -> None:
    conversation = said(api, "What is due on the day of the walrus?")
    page = visitor.open(f"chat/{conversation}", "What is due on the day of the walrus?")
    api.delete(f"/v1/conversations/{conversation}").raise_for_status()
    expect(page.get_by_text("This conversation was deleted.")).to_be_visible()
    page.get_by_role("link", name="New conversation").click()
    expect(page.get_by_role("heading", name="Chat", level=1)).to_be_visible()


def test_what_was_said_is_edited_and_asked_again(visitor: Visitor, api: httpx.Client) -> None:
    conversation = said(api, "What is due this year?")
    page = visitor.open(f"chat/{conversation}", "What is due this year?")
    page.locator(".said").first.hover()
    page.get_by_label("Edit and ask again").first.click()
    expect(page.locator("#message")).to_be_focused()
    expect(page.locator("#message")).to_have_value("What is due this year?")
    page.locator("#message").fill("What is due next year?")
    page.keyboard.press("Enter")
    answers(page, 2)


def test_a_turn_taken_elsewhere_appears(visitor: Visitor, api: httpx.Client) -> None:
    conversation = said(api, "What is due today?")
    page = visitor.open("chat", "Chat")
    expect(page.locator("#talks li").first).to_contain_text("What is due today?")
    said(api, "Add feed the heron", conversation=conversation)
    other = said(api, "What is due in spring?")
    expect(page.locator(f'#talks a[href="/chat/{other}"]')).to_be_visible()


def test_a_quote_opens_the_document_at_its_place(visitor: Visitor, api: httpx.Client) -> None:
    conversation = said(api, "What do my documents say about the waterfall of spans?", agent="researcher")
    sources = api.get(f"/v1/conversations/{conversation}").json()["turns"][0]["answer"]["sources"]
    documents = [each for each in sources if each["kind"] == "document"]
    assert documents, "the question finds a document among the samples"
    page = visitor.open(f"chat/{conversation}", "What do my documents say about the waterfall of spans?")
    page.locator(".sources a").first.click()
    expect(page.locator(".reading")).to_be_visible()
    expect(page.locator(".bit.here")).to_be_visible()
