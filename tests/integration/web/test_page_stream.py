"""One stream a visit: what changes is heard at once, by those whom it concerns, and nothing is lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from tests.integration.web.conftest import Visiting, code_waits
from tests.support.waiting import until

from steward.surfaces.web import hub as hubs
from steward.surfaces.web.app import WebPage

SECONDS = 60


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs.Hub.follow, "__kwdefaults__", hubs.Hub.follow.__kwdefaults__ | {"seconds": 0.2})


@pytest.fixture(autouse=True)
async def _hearing(page: WebPage) -> None:
    """The page begins to listen in the background, and says so: what changes before that, nobody hears."""
    await until(lambda: page.hub._last, seconds=SECONDS)


class Heard:
    """The events of a stream as they come."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.last_id = ""

    async def until(self, name: str) -> str:
        """The data of the next event of this name."""
        event = ""
        async with asyncio.timeout(SECONDS):
            async for line in self._lines:
                field, _, value = line.partition(": ")
                if field == "id":
                    self.last_id = value
                if field == "event":
                    event = value
                if field.startswith("data") and event == name:
                    return value
        raise AssertionError(f"the stream ended without {name}")


@asynccontextmanager
async def listening(client: httpx.AsyncClient, since: str = "") -> AsyncIterator[Heard]:
    headers = {"last-event-id": since} if since else {}
    async with client.stream("GET", "/events", headers=headers) as stream:
        assert stream.status_code == 200
        yield Heard(stream.aiter_lines())


async def test_a_call_that_waits_is_heard_within_a_second(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    async with listening(browser) as heard:
        await heard.until("hello")
        proposal = await code_waits(api)
        began = time.monotonic()
        assert await heard.until("approvals") == proposal
        assert time.monotonic() - began < SECONDS  # the figure itself is a benchmark's


async def test_a_stream_resumes_where_it_broke_off(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    async with listening(browser) as heard:
        assert await heard.until("hello") == '{"resumed": false}'
        last = heard.last_id
    missed = await code_waits(api)
    async with listening(browser, since=last) as heard:
        assert await heard.until("hello") == '{"resumed": true}'
        assert await heard.until("approvals") == missed


async def test_a_number_that_is_not_known_means_looking_at_everything(browser: httpx.AsyncClient) -> None:
    for since in ("other-12", "nonsense", "-"):
        async with listening(browser, since=since) as heard:
            assert await heard.until("hello") == '{"resumed": false}'


async def test_nobody_hears_of_somebody_elses_tasks(
    visiting: Visiting, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    (await api.post("/v1/users", json={"id": "ana"})).raise_for_status()
    ana = await visiting("use", "ana")
    async with listening(ana) as heard:
        await heard.until("hello")
        await api.post("/v1/tasks", json={"title": "the owner's"})
        mine = await ana.post("/tasks", data={"sentence": "buy milk"})
        assert mine.status_code == 200
        task = await heard.until("tasks")
    listed = (await ana.get("/tasks/list", params={"view": "someday"})).text
    assert f'id="task-{task}"' in listed
    assert "the owner" not in listed


async def test_a_revoked_key_ends_its_stream(visiting: Visiting, api: httpx.AsyncClient) -> None:
    reader = await visiting("read")
    async with listening(reader) as heard:
        await heard.until("hello")
        (await api.delete("/v1/keys/read-local")).raise_for_status()
        await heard.until("left")


async def test_documents_that_come_in_and_calls_that_are_made_are_heard(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    async with listening(browser) as heard:
        await heard.until("hello")
        path = "/documents/in/Insects/files/bees.md"
        (await browser.put(path, content="# Bees\n\nThey dance.\n")).raise_for_status()
        await heard.until("documents")
    async with listening(browser) as heard:
        await heard.until("hello")
        (await api.post("/v1/tools/get_current_time/call", json={"arguments": {}})).raise_for_status()
        await heard.until("activity")


async def test_a_server_that_stops_is_heard(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    async with listening(browser) as heard:
        await heard.until("hello")
        (await api.post("/v1/agents/time/stop")).raise_for_status()
        await heard.until("servers")


async def test_a_connection_that_is_lost_is_made_again(
    page: WebPage, browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    """What was missed cannot be known: everybody looks again, and then hears as before."""
    async with listening(browser) as heard:
        await heard.until("hello")
        database = page._platform.database
        await database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE query LIKE 'LISTEN %' AND datname = current_database()"
        )
        await heard.until("resync")
        proposal = await code_waits(api)
        assert await heard.until("approvals") == proposal
