import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
from fastmcp import Client

from steward.contract.errors import ConfigError
from steward.documents.pool import DocumentReaders
from steward.servers import web
from steward.servers.pages import PageFetcher

PAGE = {"results": [{"title": f"T{n}", "url": f"http://x/{n}", "content": f"S{n}"} for n in range(20)]}


@asynccontextmanager
async def site(answer: Callable[[str], Awaitable[bytes]]) -> AsyncIterator[str]:
    """A search page of one's own on this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.write(await answer(request.split(" ")[1]))
        writer.close()
        served.set()

    served = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/search"
        await served.wait()


def ok(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def search(engine: str, timeout: float = 5, usual: int = 10, **arguments):
    found = web.engine_named(engine, timeout=timeout)
    async with Client(web.build(found, PageFetcher(readers=DocumentReaders()), max_results=usual)) as client:
        return await client.call_tool_mcp("web_search", arguments)


def code(answer) -> str:
    assert answer.is_error
    return answer.structured_content["code"]


@pytest.mark.req("RES-FR-006", "RES-FR-028", "RES-FR-033")
async def test_results_have_title_url_and_snippet_and_ten_by_default():
    asked: list[str] = []

    async def answer(path: str) -> bytes:
        asked.append(path)
        return ok(json.dumps(PAGE).encode())

    async with site(answer) as address:
        ten = await search(address, query="mcp servers")
        three = await search(address, usual=3, query="mcp servers")
        two = await search(address, query="mcp servers", max_results=2)
    assert two.structured_content == {
        "result": [
            {"title": "T0", "url": "http://x/0", "snippet": "S0"},
            {"title": "T1", "url": "http://x/1", "snippet": "S1"},
        ]
    }
    assert [len(each.structured_content["result"]) for each in (ten, three)] == [10, 3]
    assert asked[0] == "/search?q=mcp+servers&format=json"


@pytest.mark.req("RES-FR-028")
async def test_a_silent_engine_is_a_timeout_with_its_limit():
    asked_long_ago = asyncio.Event()

    async def never(path: str) -> bytes:
        await asked_long_ago.wait()
        return b""

    async with site(never) as address:
        answer = await search(address, timeout=0.2, query="x")
        asked_long_ago.set()
    assert code(answer) == "TOOL_EXECUTION_TIMEOUT"
    assert answer.structured_content["retryable"]


async def test_an_engine_that_is_not_there_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert code(await search(f"http://127.0.0.1:{port}/search", query="x")) == "SERVICE_UNAVAILABLE"


@pytest.mark.parametrize(
    "body", [b"not json", b"{}", b'{"results": [1]}', b'{"results": [{"title": "x"}]}', b"[]"]
)
async def test_an_answer_that_holds_no_results_is_unavailable(body: bytes):
    async def answer(path: str) -> bytes:
        return ok(body)

    async with site(answer) as address:
        assert code(await search(address, query="x")) == "SERVICE_UNAVAILABLE"


@pytest.mark.req("RES-FR-028")
@pytest.mark.parametrize("name", ["google", "duckduckgo", "bing"])
def test_the_public_engines_are_chosen_by_name(name: str):
    assert web.engine_named(name, timeout=30) == web.PublicEngine(name, 30)


def test_another_engine_is_a_configuration_error():
    with pytest.raises(ConfigError) as caught:
        web.engine_named("altavista", timeout=30)
    assert caught.value.code == "CONFIG_INVALID"


@pytest.mark.parametrize("arguments", [{"query": ""}, {"query": "x", "max_results": 0}, {"query": "x" * 401}])
async def test_a_senseless_question_is_refused(arguments: dict):
    answer = await search("http://127.0.0.1:9/search", **arguments)
    assert answer.is_error


class FakeDdgs:
    outcome: object = None

    def __init__(self, timeout: int) -> None:
        self.timeout = timeout

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def text(self, query: str, max_results: int, backend: str):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.mark.req("RES-FR-028")
@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (TimeoutException("slow"), "TOOL_EXECUTION_TIMEOUT"),
        (RatelimitException("enough"), "RATE_LIMITED"),
        (DDGSException("DNSError: no such host"), "SERVICE_UNAVAILABLE"),
    ],
)
async def test_failures_of_a_public_engine_keep_their_meaning(
    failure: Exception, expected: str, monkeypatch: pytest.MonkeyPatch
):
    # The public engines cannot be reached from a test; what their client raises stands in for them.
    monkeypatch.setattr("ddgs.ddgs.DDGS", FakeDdgs)
    monkeypatch.setattr(FakeDdgs, "outcome", failure)
    assert code(await search("bing", query="x")) == expected


async def test_a_public_engine_answers_in_our_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ddgs.ddgs.DDGS", FakeDdgs)
    monkeypatch.setattr(FakeDdgs, "outcome", [{"title": "T", "href": "http://x", "body": "S"}])
    answer = await search("bing", query="x")
    assert answer.structured_content == {"result": [{"title": "T", "url": "http://x", "snippet": "S"}]}


async def test_nothing_found_is_an_empty_answer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ddgs.ddgs.DDGS", FakeDdgs)
    monkeypatch.setattr(FakeDdgs, "outcome", DDGSException("No results found."))
    answer = await search("google", query="x")
    assert answer.structured_content == {"result": []}
