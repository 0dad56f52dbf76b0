"""A real `steward up` on a new home, and a real Chromium that visits its page."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    expect,
    sync_playwright,
)
from tests.support.owner import owner_headers
from tests.support.postgres import scratch_folder

from steward.settings import blank_environment

CHROMIUM = "/usr/bin/chromium"
ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "page"
WIDTHS = {"desktop": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
AXE = Path(__file__).parents[2] / ".peers" / "node" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60_000  # milliseconds; a deadline for a busy machine, not a wait

expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a Steward of these tests listens, and its home."""

    address: str
    home: Path

    def link(self) -> str:
        """A new one-time address of its page."""
        made = httpx.post(f"{self.address}/v1/sign-in-links", headers=owner_headers(self.home), timeout=60)
        return self.address + made.raise_for_status().json()["path"]


@contextmanager
def running(*options: str, **variables: str) -> Iterator[Place]:
    """A `steward up` on a home of its own. It ends when it is told to, visitors or not."""
    with scratch_folder() as folder:
        environment = blank_environment() | {
            "STEWARD_HOME": str(folder / "home"),
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
            **variables,
        }
        with subprocess.Popen(
            [sys.executable, "-m", "steward", "up", "--port", "0", *options],
            env=environment, cwd=folder, stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
                address = next(word for word in line.split() if word.startswith("http"))
                yield Place(address, folder / "home")
            finally:
                process.terminate()
                assert process.wait(60) == 0


@pytest.fixture(scope="session")
def steward() -> Iterator[Place]:
    """It has the samples of a first start."""
    with running("--samples", STEWARD_TRACE_VIEWER="http://localhost:16686") as place:
        yield place


@pytest.fixture(scope="session")
def api(steward: Place) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=steward.address, timeout=180, headers=owner_headers(steward.home)) as client:
        yield client


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    assert os.access(CHROMIUM, os.X_OK), "Chromium is missing: run 'make browser'."
    browser = playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
    )
    yield browser
    browser.close()


class Visitor:
    """Somebody at a browser. Notes every request that would leave this machine."""

    def __init__(self, browser: Browser, place: Place, *, width: str, theme: str) -> None:
        across, down = WIDTHS[width]
        self.name = f"{width}-{theme}"
        self.context: BrowserContext = browser.new_context(
            viewport={"width": across, "height": down},
            color_scheme="dark" if theme == "dark" else "light",
            has_touch=width == "phone",
        )
        self.page: Page = self.context.new_page()
        self.address = place.address
        self.place = place
        self.outside: list[str] = []
        self.problems: list[str] = []
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._hear)

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.outside.append(url)

    def _hear(self, message: ConsoleMessage) -> None:
        """What the browser complains about: a script that fails, or one that the content policy stopped."""
        if message.type == "error":
            self.problems.append(message.text)

    def sign_in(self) -> None:
        """As the owner does: by an address that is good for once."""
        self.page.goto(self.place.link())
        expect(self.page.locator("main")).to_be_visible()

    def open(self, path: str, heading: str) -> Page:
        if not self.context.cookies():
            self.sign_in()
        self.page.goto(f"{self.address}/{path}")
        expect(self.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        self.settle()
        return self.page

    def settle(self) -> None:
        """Until everything that was asked for is there."""
        expect(self.page.locator(".htmx-request")).to_have_count(0)

    def picture(self, name: str) -> None:
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}-{self.name}.png", animations="disabled")

    def fits(self) -> bool:
        """Nothing sticks out sideways."""
        return self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    def barriers(self) -> list[str]:
        """What axe-core finds that would keep somebody out: rule, and the first element."""
        assert AXE.exists(), "axe-core is missing: run 'make peers'."
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate('async () => (await axe.run({resultTypes: ["violations"]})).violations')
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


@pytest.fixture
def visitor(chromium: Browser, steward: Place) -> Iterator[Visitor]:
    visitor = Visitor(chromium, steward, width="desktop", theme="light")
    yield visitor
    visitor.context.close()
    assert visitor.outside == []
    assert visitor.problems == []


def code_waits(api: httpx.Client, code: str = "print(6 * 7)") -> str:
    """A call that waits for a yes; its proposal."""
    call = {"arguments": {"language": "python", "code": code}}
    return api.post("/v1/tools/code_execution/call", json=call).json()["proposal_id"]


def said(api: httpx.Client, message: str, **more: str) -> str:
    """The conversation in which this was said."""
    return api.post("/v1/chat", json={"message": message, **more}).raise_for_status().json()["conversation"]


def task_titles(api: httpx.Client) -> list[str]:
    return [task["title"] for task in api.get("/v1/tasks", params={"limit": 100}).json()["items"]]
