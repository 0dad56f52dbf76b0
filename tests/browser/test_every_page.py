"""Every part of the page at three widths and in both themes: readable, open to everybody, at home."""

from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Browser, expect
from tests.browser.conftest import WIDTHS, Place, Visitor, code_waits, said

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Content:
    """Addresses of things that there is something to see of."""

    asks: str
    gap: str
    found: str
    decided: str
    run: str
    document: int


@pytest.fixture(scope="module")
def content(api: httpx.Client) -> Content:
    asks = said(api, "Add return the library books tomorrow 9am, high priority", agent="tasks")
    said(api, "Delete return the library books", conversation=asks)
    code_waits(api, "import math\nprint(math.pi)\n")
    decided = code_waits(api, "print('decided')")
    approved = api.post(f"/v1/proposals/{decided}/approve", json={"arguments": {"code": "print('edited')"}})
    approved.raise_for_status()
    api.post("/v1/tools/store_memory/call", json={"arguments": {"content": "The spare key is at Ana's."}})
    asked = {"arguments": {"question": "Which of the two flats is meant?"}}
    api.post("/v1/tools/request_human_input/call", json=asked)
    api.post("/v1/schedules", json={"request": "Tell me what is due.", "when": "every weekday at 8"})
    api.post("/v1/tools/add_task/call", json={"arguments": {"title": "stretch"}, "background": True})
    documents: list[dict[str, int]] = []
    while not documents:
        documents = api.get("/v1/knowledge/collections/steward-docs/documents").json().get("items", [])
    return Content(
        asks=asks,
        gap=said(api, "Retrieve my stock portfolio performance for Q3 2024", agent="researcher"),
        found=said(api, "What does the documentation say about undo?", agent="researcher"),
        decided=decided,
        run=api.get("/v1/executions", params={"limit": 1}).json()["items"][0]["correlation_id"],
        document=documents[0]["id"],
    )


def addresses(content: Content) -> dict[str, str]:
    return {
        "chat": "",
        "chat-asks": f"chat/{content.asks}",
        "chat-gap": f"chat/{content.gap}",
        "chat-found": f"chat/{content.found}",
        "approvals": "approvals",
        "approvals-decided": "approvals/decided",
        "approvals-one": f"approvals/{content.decided}",
        "schedules": "schedules",
        "jobs": "jobs",
        "tasks-today": "tasks",
        "tasks-upcoming": "tasks?view=upcoming",
        "tasks-someday": "tasks?view=someday",
        "tasks-done": "tasks?view=done",
        "documents": "documents",
        "documents-found": "documents?q=who+may+approve",
        "documents-collection": "documents/in/steward-docs",
        "documents-reading": f"documents/{content.document}?passage=1",
        "memory": "memory",
        "tools": "tools",
        "tool": "tools/code_execution",
        "tool-new": "new-tool",
        "servers": "servers",
        "server-new": "new-server",
        "policy": "policy",
        "access": "access",
        "activity": "activity",
        "activity-run": f"activity/{content.run}",
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_is_readable_open_to_everybody_and_stays_at_home(
    chromium: Browser, steward: Place, content: Content, width: str, theme: str
) -> None:
    visitor = Visitor(chromium, steward, width=width, theme=theme)
    visitor.sign_in()
    barriers: list[str] = []
    for name, path in addresses(content).items():
        visitor.page.goto(f"{steward.address}/{path}")
        expect(visitor.page.locator("h1")).to_be_visible()
        visitor.settle()
        visitor.picture(name)
        if not visitor.fits():
            barriers.append(f"{name} sticks out")
        barriers += [f"{name}: {each}" for each in visitor.barriers()]
    visitor.context.close()
    assert barriers == []
    assert visitor.problems == []
    assert visitor.outside == []


def test_what_unfolds_is_open_to_everybody_as_well(visitor: Visitor, content: Content) -> None:
    page = visitor.open(f"chat/{content.asks}", "Add return the library books")
    for summary in page.locator("main summary").all():
        summary.press("Enter")
    assert visitor.barriers() == []
    page = visitor.open("tasks?view=upcoming", "Tasks")
    row = page.locator(".task").first
    row.hover()
    row.locator("[data-history]").click()
    expect(row.locator(".past")).to_be_visible()
    row.locator("[data-edit]").click()
    expect(page.locator(".editing")).to_be_visible()
    assert visitor.barriers() == []
    page.keyboard.press("Escape")
    expect(page.locator(".editing")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert visitor.barriers() == []


def test_a_first_visit_is_small(chromium: Browser, steward: Place) -> None:
    """Under 250 kB and 15 requests, everything that the page needs."""
    visitor = Visitor(chromium, steward, width="desktop", theme="light")
    visitor.sign_in()
    sizes: dict[str, int] = {}

    visitor.context.clear_cookies()
    visitor.page.goto("about:blank")
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("Network.enable")
    names: dict[str, str] = {}
    session.on(
        "Network.requestWillBeSent", lambda sent: names.update({sent["requestId"]: sent["request"]["url"]})
    )
    session.on(
        "Network.dataReceived",
        lambda got: sizes.update(
            {got["requestId"]: sizes.get(got["requestId"], 0) + max(got["encodedDataLength"], 0)}
        ),
    )
    session.send("Network.clearBrowserCache")
    visitor.page.goto(steward.link())
    expect(visitor.page.locator("#message")).to_be_focused()
    visitor.settle()
    assert len(names) < 15
    assert sum(sizes.values()) < 250_000
    visitor.context.close()


def test_the_page_can_be_installed(visitor: Visitor) -> None:
    page = visitor.open("", "Chat")
    manifest = page.evaluate("async () => (await fetch('/manifest.webmanifest')).json()")
    assert (manifest["display"], manifest["start_url"]) == ("standalone", "/approvals")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.reload()
    kept = page.evaluate(
        "async () => { const all = []; for (const name of await caches.keys())"
        " for (const each of await (await caches.open(name)).keys()) all.push(new URL(each.url).pathname);"
        " return all }"
    )
    assert all(path.startswith("/static/") for path in kept), kept
