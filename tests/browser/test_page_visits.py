"""A visit with a key, and answers that take their time: what a reload keeps, and what Stop ends."""

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Place, Visitor, running

from steward.surfaces.cli import opening

pytestmark = pytest.mark.timeout(600)
KEY = "key-of-this-browser-test"


@pytest.fixture(scope="module")
def silence() -> Iterator[str]:
    """A model that takes every question and answers none."""
    held: list[socket.socket] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def hold() -> None:
        try:
            while True:
                held.append(listening.accept()[0])
        except OSError:
            return

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for connection in held:
        connection.close()
    thread.join(10)


@pytest.fixture(scope="module")
def locked(silence: str) -> Iterator[Place]:
    """A Steward that wants a key, with that model."""
    model = {"STEWARD_MODEL": "openai:silent", "OPENAI_BASE_URL": silence, "OPENAI_API_KEY": "k"}
    with running(STEWARD_API_KEY=KEY, **model) as place:
        yield place


@pytest.fixture
def inside(chromium: Browser, locked: Place) -> Iterator[Visitor]:
    visitor = Visitor(chromium, locked, width="desktop", theme="light")
    page = visitor.page
    page.goto(f"{locked.address}/tasks")
    asks_for_a_key(page)
    visitor.picture("sign-in")
    page.get_by_label("Or with a key").fill(KEY)
    page.get_by_label("Or with a key").press("Enter")
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    yield visitor
    visitor.context.close()
    assert visitor.outside == []


def asks_for_a_key(page: Page) -> None:
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_page_loaded_again_needs_no_key_and_leaving_ends_that(inside: Visitor) -> None:
    page = inside.page
    page.reload()
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    assert KEY not in page.url
    cookies = {cookie["name"]: cookie for cookie in inside.context.cookies()}
    assert (cookies["steward-visit"]["httpOnly"], cookies["steward-visit"]["expires"]) == (True, -1)
    assert all(KEY not in cookie["value"] for cookie in cookies.values())
    assert KEY not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    page.get_by_role("button", name="Leave").click()
    asks_for_a_key(page)
    page.reload()
    asks_for_a_key(page)


def test_a_one_time_address_signs_one_browser_in(chromium: Browser, locked: Place) -> None:
    first, second = (Visitor(chromium, locked, width="desktop", theme="light") for _ in range(2))
    link = locked.link()
    first.page.goto(link)
    expect(first.page.get_by_role("heading", name="Chat", level=1)).to_be_visible()
    assert "code=" not in first.page.url
    [cookie] = [each for each in first.context.cookies() if each["name"] == "steward-visit"]
    assert cookie["sameSite"] == "Strict"
    second.page.goto(link)
    asks_for_a_key(second.page)
    first.context.close()
    second.context.close()


def test_a_link_from_another_site_finds_the_browser_signed_in(inside: Visitor, locked: Place) -> None:
    inside.page.goto(f"data:text/html,<a href='{locked.address}/approvals'>look</a>")
    inside.page.get_by_role("link", name="look").click()
    expect(inside.page.get_by_role("heading", name="Approvals", level=1)).to_be_visible()


def test_a_file_that_leads_to_an_address_signs_a_browser_in(
    chromium: Browser, locked: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening.webbrowser, "open", lambda _: True)
    opening.show(locked.link(), tmp_path).join()
    visitor = Visitor(chromium, locked, width="desktop", theme="light")
    visitor.page.goto((tmp_path / opening.FILE).as_uri())
    expect(visitor.page.get_by_role("heading", name="Chat", level=1)).to_be_visible()
    visitor.context.close()


def test_an_answer_is_stopped_and_other_pages_are_free_meanwhile(inside: Visitor) -> None:
    page = inside.open("", "Chat")
    page.locator("#message").fill("Think about it for ever")
    page.locator("#message").press("Enter")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_enabled()
    inside.picture("thinking")
    page.get_by_role("link", name="Tasks").click()
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    page.get_by_role("link", name="Chat").click()
    page.get_by_role("link", name="Think about it for ever").first.click()
    expect(stop).to_be_enabled()
    page.locator("#message").press("Escape")
    expect(page.get_by_text("The run was stopped")).to_be_visible()


def test_a_stream_that_broke_off_misses_nothing(inside: Visitor, locked: Place) -> None:
    """As after sleep: the browser is away while something happens, and shows it when it is back."""
    page = inside.open("tasks?view=someday", "Tasks")
    inside.context.set_offline(True)
    headers = {"X-API-Key": KEY}
    httpx.post(f"{locked.address}/v1/tasks", json={"title": "made meanwhile"}, headers=headers, timeout=60)
    inside.context.set_offline(False)
    expect(page.get_by_text("made meanwhile")).to_be_visible()


def test_a_dozen_tabs_share_one_stream(inside: Visitor, locked: Place) -> None:
    """A browser gives one address six connections; with a stream a tab the seventh would never load."""
    tabs = [inside.page, *(inside.context.new_page() for _ in range(11))]
    for tab in tabs:
        tab.goto(f"{locked.address}/tasks?view=someday")
        expect(tab.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    headers = {"X-API-Key": KEY}
    httpx.post(f"{locked.address}/v1/tasks", json={"title": "seen by all"}, headers=headers, timeout=60)
    for tab in tabs:
        expect(tab.get_by_text("seen by all")).to_be_visible()
    for tab in tabs[1:]:
        tab.close()


def test_a_visit_that_is_ended_elsewhere_ends_on_the_open_page_and_leaves_words_to_be_copied(
    inside: Visitor, locked: Place
) -> None:
    page, headers = inside.page, {"X-API-Key": KEY}
    other = inside.context.new_page()
    other.goto(f"{locked.address}/chat")
    other.locator("#message").fill("half a thought")
    for visit in httpx.get(f"{locked.address}/v1/visits", headers=headers, timeout=60).json()["items"]:
        httpx.delete(f"{locked.address}/v1/visits/{visit['id']}", headers=headers, timeout=60)
    asks_for_a_key(page)
    expect(other.locator("body")).to_have_class(re.compile("gone"))
    expect(other.locator("#message")).to_have_value("half a thought")
