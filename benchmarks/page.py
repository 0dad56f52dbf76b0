"""The page beside the API on one running Steward: turns, ticks, an approval made elsewhere, open visits.

Budgets: a message echoed within 100 ms, a turn at most 1.3 times and a tick at most 2 times the API's, a
first visit under 250 kB and 15 requests, an approval shown within 1 s, 100 open visits under 100 MB.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
ROUNDS = 12
VISITS = 100
TURN = "Show my tasks"
# In the page itself, so that the way between this program and the browser is not measured.
SAY = """async (text) => {
  const field = document.querySelector("#message"), before = document.querySelectorAll(".turn .how").length;
  const began = performance.now();
  const shown = (test) => new Promise((done) => {
    const ready = () => requestAnimationFrame(() => done(performance.now() - began));
    const look = () => test() ? ready() : setTimeout(look, 2);
    look();
  });
  field.value = text;
  document.querySelector("#composer").requestSubmit();
  const echo = await shown(() => document.querySelector("#live .said p")?.textContent === text);
  const answer = await shown(() => document.querySelectorAll(".turn .how").length > before);
  return [echo, answer];
}"""
TICK = """async (id) => {
  const row = () => document.querySelector(`#task-${id}`);
  const began = performance.now();
  const answered = new Promise((done) => document.addEventListener("htmx:afterSettle",
    () => done(performance.now() - began), { once: true }));
  row().querySelector("input").click();
  return await answered;
}"""
CALL = """async ([path, body, key]) => {
  const began = performance.now();
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body),
    headers: { "X-API-Key": key, "Content-Type": "application/json" } });
  await answer.text();
  return performance.now() - began;
}"""


@contextmanager
def up(folder: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    environment = {**os.environ, "STEWARD_HOME": folder, "STEWARD_MODEL": "planner"}
    environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "none", "DATABASE_URL": "", "STEWARD_DAEMON": "off"}
    command = [sys.executable, "-m", "steward", "up", "--port", "0", "--no-open"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield next(word for word in line.split() if word.startswith("http")), process
        finally:
            process.terminate()


def first_visit(page: Page, link: str) -> tuple[float, int]:
    """Kilobytes and requests of somebody who was never here."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    names: set[str] = set()
    sizes: list[float] = []
    session.on("Network.requestWillBeSent", lambda sent: names.add(sent["requestId"]))
    session.on("Network.dataReceived", lambda got: sizes.append(max(got["encodedDataLength"], 0)))
    page.goto(link)
    expect(page.locator("#message")).to_be_focused()
    page.wait_for_timeout(1_000)
    return sum(sizes) / 1000, len(names)


def talk(page: Page, base: str, key: str) -> dict[str, float]:
    """Turns by turns, one of the page and one of the API, in the same browser."""
    page.goto(f"{base}/chat")
    expect(page.locator("#message")).to_be_focused()
    page.evaluate(SAY, "Add feed the cat")  # a conversation to go on in, and everything loaded
    apis: list[float] = []
    pages: list[list[float]] = []
    conversation = page.url.rpartition("/")[2]
    for _ in range(ROUNDS):
        pages.append(page.evaluate(SAY, TURN))
        apis.append(page.evaluate(CALL, ["/v1/chat", {"message": TURN, "conversation": conversation}, key]))
        page.wait_for_timeout(400)  # what the API's turn changed on the page is drawn
    return {
        "echo ms": statistics.median(echo for echo, _ in pages),
        "turn ms": statistics.median(answer for _, answer in pages),
        "API turn ms": statistics.median(apis),
    }


def tick(page: Page, base: str, key: str, api: httpx.Client) -> dict[str, float]:
    made = [
        api.post("/v1/tasks", json={"title": f"task {n}"}).json()["data"]["task"]["id"]
        for n in range(2 * ROUNDS)
    ]
    page.goto(f"{base}/tasks?view=someday")
    expect(page.locator(".task")).to_have_count(2 * ROUNDS + 1)
    pages, apis = list[float](), list[float]()
    for mine, other in zip(made[:ROUNDS], made[ROUNDS:], strict=True):
        pages.append(page.evaluate(TICK, mine))
        page.wait_for_timeout(400)
        apis.append(page.evaluate(CALL, [f"/v1/tasks/{other}/complete", {}, key]))
        page.wait_for_timeout(400)
    return {"tick ms": statistics.median(pages), "API tick ms": statistics.median(apis)}


def approval(page: Page, base: str, api: httpx.Client) -> float:
    """Milliseconds from a call made elsewhere to its card on the page."""
    page.goto(f"{base}/approvals")
    page.wait_for_timeout(500)
    times: list[float] = []
    for number in range(5):
        call = {"arguments": {"language": "python", "code": f"print({number})"}}
        proposal = api.post("/v1/tools/code_execution/call", json=call).json()["proposal_id"]
        began = time.perf_counter()
        page.locator(f"#proposal-{proposal}").wait_for()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


async def open_visits(base: str, link: Any, process: int) -> float:
    """Megabytes that a hundred open streams add."""
    watched = psutil.Process(process)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=base, timeout=60, limits=httpx.Limits(max_connections=2 * VISITS))
        )
        await client.get(link())
        await client.get("/tasks")
        before = watched.memory_info().rss
        for _ in range(VISITS):
            stream = await stack.enter_async_context(client.stream("GET", "/events"))
            await anext(stream.aiter_bytes())
            await client.get("/tasks")
        return (watched.memory_info().rss - before) / 1e6


def beside(work: Callable[[], float]) -> float:
    """In a thread: Playwright has a loop of its own in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def measure(folder: str) -> dict[str, float]:
    with up(folder) as (base, process), sync_playwright() as playwright:
        key = Path(folder, "token").read_text(encoding="ascii").strip()
        with httpx.Client(base_url=base, headers={"X-API-Key": key}, timeout=120) as api:

            def link() -> str:
                return base + api.post("/v1/sign-in-links").json()["path"]

            time.sleep(8)  # the time it takes to warm up in the background
            options = ["--no-sandbox", "--disable-background-networking"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
            page = browser.new_page()
            size, requests = first_visit(page, link())
            found = {"first visit kB": size, "first visit requests": requests}
            found |= talk(page, base, key) | tick(page, base, key, api)
            found["approval ms"] = approval(page, base, api)
            browser.close()
            found["100 visits MB"] = beside(lambda: asyncio.run(open_visits(base, link, process.pid)))
    return found


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        found = measure(folder)
    for name, value in found.items():
        print(f"{name:24} {value:9.1f}")
    turn, ticked = found["turn ms"] / found["API turn ms"], found["tick ms"] / found["API tick ms"]
    print(f"a turn is {turn:.2f} times the API's, a tick {ticked:.2f} times")
    budgets = {
        "echo": found["echo ms"] <= 100,
        "turn": turn <= 1.3,
        "tick": ticked <= 2,
        "first visit": found["first visit kB"] < 250 and found["first visit requests"] < 15,
        "approval": found["approval ms"] < 1_000,
        "visits": found["100 visits MB"] < 100,
    }
    print("; ".join(f"{name} {'kept' if kept else 'MISSED'}" for name, kept in budgets.items()))
    return 0 if all(budgets.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
