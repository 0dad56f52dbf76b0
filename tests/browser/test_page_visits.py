"""A visit with a key, and answers that take their time: what a reload keeps, and what Stop ends."""

import socket
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Visitor, running

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
def locked(silence: str) -> Iterator[str]:
    """A Steward that wants a key, with that model."""
    model = {"STEWARD_MODEL": "openai:silent", "OPENAI_BASE_URL": silence, "OPENAI_API_KEY": "k"}
    with running(STEWARD_API_KEY=KEY, **model) as address:
        yield address


@pytest.fixture
def inside(chromium: Browser, locked: str) -> Iterator[Visitor]:
    visitor = Visitor(chromium, locked, width="desktop", theme="light")
    page = visitor.page
    page.goto(f"{locked}/tasks")
    asks_for_a_key(page)
    visitor.picture("sign-in")
    page.get_by_label("Your key").fill(KEY)
    page.get_by_label("Your key").press("Enter")
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    yield visitor
    visitor.context.close()
    assert visitor.outside == []


def asks_for_a_key(page: Page) -> None:
    expect(page.get_by_text("This workspace has keys")).to_be_visible()


def test_a_page_loaded_again_needs_no_key_and_leaving_ends_that(inside: Visitor, locked: str) -> None:
    page = inside.page
    page.reload()
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    assert KEY not in page.url
    cookies = {cookie["name"]: cookie for cookie in inside.context.cookies()}
    assert (cookies["steward-visit"]["httpOnly"], cookies["steward-visit"]["expires"]) == (True, -1)
    assert all(KEY not in cookie["value"] for cookie in cookies.values())
    assert KEY not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    inside.settle()
    page.get_by_role("button", name="Leave").click()
    asks_for_a_key(page)
    page.reload()
    asks_for_a_key(page)


def test_an_answer_is_stopped_and_other_pages_are_free_meanwhile(inside: Visitor) -> None:
    page = inside.open("", "Chat")
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill("Think about it for ever")
    box.press("Enter")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_enabled()
    inside.picture("thinking")
    page.get_by_role("link", name="Tasks").click()
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    page.get_by_role("link", name="Chat").click()
    page.get_by_role("button", name="Think about it for ever").first.click()
    expect(stop).to_be_enabled()
    stop.click()
    expect(page.get_by_text("The run was stopped")).to_be_visible()
    expect(box).to_be_enabled()
