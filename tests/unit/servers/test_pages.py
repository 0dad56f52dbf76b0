"""Reading a page: what it becomes, where it may come from, and how long and large it may be."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.errors import StewardError
from steward.documents.pool import DocumentReaders
from steward.servers.pages import FetchPageParams, FetchPageResult, PageFetcher, is_public, without_furniture

ARTICLE = """<html><head><title>The Brennan Tower &amp; its height</title>
<meta property="article:published_time" content="2026-03-04T10:00:00+00:00"></head><body>
<nav><a href="/">Home</a> Subscribe now</nav><script>alert("no")</script>
<h1>Brennan Tower</h1><p>At 312 metres, the Brennan Tower is the tallest building in Port Vesper.</p>
<h2>History</h2><p>It opened in 2019.</p><footer>All rights reserved</footer></body></html>"""

Serve = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes, kind: str = "text/html", *, status: str = "200 OK", **headers: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}"]
    head += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "connection: close", "", ""]).encode() + body


@dataclass
class Site:
    pages: dict[str, bytes | Serve]
    port: int = 0
    asked: list[str] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1]
            self.asked.append(next(line for line in head.split("\r\n") if line.lower().startswith("host")))
            page = self.pages[path]
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                await page(path, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def site(pages: dict[str, bytes | Serve]) -> AsyncIterator[Site]:
    served = Site(pages)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()


async def fetch(url: str, *, allowed: Sequence[str] = ("127.0.0.1",), **more: object) -> FetchPageResult:
    limit = more.pop("max_characters", 20_000)
    async with DocumentReaders(workers=1) as readers:
        fetcher = PageFetcher(readers=readers, allowed=frozenset(allowed), **more)  # type: ignore[arg-type]
        return await fetcher.fetch(FetchPageParams(url=url, max_characters=limit))  # type: ignore[arg-type]


async def refusal(url: str, **more: object) -> StewardError:
    with pytest.raises(StewardError) as caught:
        await fetch(url, **more)  # type: ignore[arg-type]
    return caught.value


async def test_a_page_becomes_text_with_its_title_and_date_and_without_its_furniture() -> None:
    async with site({"/tower": answer(ARTICLE.encode(), "text/html; charset=utf-8")}) as served:
        page = await fetch(served.url("/tower#top"))
    assert page == FetchPageResult(
        url=served.url("/tower"),
        title="The Brennan Tower & its height",
        text="# Brennan Tower\n\nAt 312 metres, the Brennan Tower is the tallest building in Port Vesper.\n\n"
        "## History\n\nIt opened in 2019.",
        date="2026-03-04",
        truncated=False,
    )


async def test_plain_text_and_json_are_read_and_long_pages_are_cut() -> None:
    long = ("Tea is grown in Assam. " * 200).encode()
    pages = {"/t": answer(long, "text/plain"), "/j": answer(b'{"tea": "Assam"}', "application/json")}
    async with site(pages) as served:
        text = await fetch(served.url("/t"), max_characters=200)
        data = await fetch(served.url("/j"))
    assert (len(text.text), text.truncated, "Assam" in data.text) == (200, True, True)


async def test_text_in_another_encoding_is_read_as_its_header_says() -> None:
    body = "<html><body><p>Das Büro öffnet um acht und schließt um fünf.</p></body></html>".encode("latin-1")
    async with site({"/": answer(body, "text/html; charset=iso-8859-1")}) as served:
        page = await fetch(served.url())
    assert "Das Büro öffnet um acht und schließt um fünf." in page.text


async def test_a_redirect_is_followed_and_the_page_says_where_it_is() -> None:
    pages = {
        "/old": answer(b"", status="301 Moved", location="/new"),
        "/new": answer(b"<p>Here it is now, and here it stays.</p>"),
    }
    async with site(pages) as served:
        page = await fetch(served.url("/old"))
    assert (page.url, page.text) == (served.url("/new"), "Here it is now, and here it stays.")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://192.168.1.1/admin",
        "http://169.254.169.254/latest/meta-data",
        "http://0.0.0.0/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://100.64.0.1/",
    ],
)
async def test_private_addresses_are_refused_however_they_are_written(url: str) -> None:
    assert (await refusal(url, allowed=())).code in ("FORBIDDEN", "SERVICE_UNAVAILABLE", "INVALID_INPUT")


async def test_a_name_that_leads_into_the_private_network_is_refused_before_anything_is_sent() -> None:
    async def inside(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34", "127.0.0.1"]

    async with site({"/": answer(b"secret")}) as served:
        found = await refusal(served.url(host="innocent.example"), allowed=(), resolve=inside)
    assert (found.code, served.asked) == ("FORBIDDEN", [])


async def test_a_name_is_resolved_once_and_the_judged_address_is_the_one_connected_to() -> None:
    asked: list[str] = []

    async def once(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    async with site({"/": answer(b"<p>The site under its own name is here.</p>")}) as served:
        page = await fetch(served.url(host="wiki.home"), allowed=("wiki.home",), resolve=once)
    assert (page.text, asked, served.asked) == (
        "The site under its own name is here.",
        ["wiki.home"],
        [f"Host: wiki.home:{served.port}"],
    )


async def test_a_redirect_into_the_private_network_is_judged_again() -> None:
    pages = {"/": answer(b"", status="302 Found", location="http://127.0.0.2/admin")}
    async with site(pages) as served:
        found = await refusal(served.url(), allowed=(f"127.0.0.1:{served.port}",))
    assert found.code == "FORBIDDEN"


async def test_another_port_of_an_allowed_place_is_not_allowed() -> None:
    async with site({"/": answer(b"x")}) as served:
        assert (await refusal(served.url(), allowed=("127.0.0.1:1",))).code == "FORBIDDEN"


async def test_redirects_in_circles_end() -> None:
    async with site({"/": answer(b"", status="302 Found", location="/")}) as served:
        assert (await refusal(served.url())).code == "SERVICE_UNAVAILABLE"


async def test_a_page_that_is_too_large_is_refused_also_when_it_was_small_on_the_wire() -> None:
    packed = gzip.compress(b"a" * (9 * 1024 * 1024))
    async with site({"/": answer(packed, "text/plain", content_encoding="gzip")}) as served:
        assert (await refusal(served.url())).code == "PAGE_TOO_LARGE"


async def test_a_page_that_never_ends_is_a_timeout_with_its_limit() -> None:
    async def drip(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with site({"/": drip}) as served:
        found = await refusal(served.url(), timeout=0.3)
    assert (found.code, found.retryable) == ("TOOL_EXECUTION_TIMEOUT", True)


@pytest.mark.parametrize(
    ("page", "code"),
    [
        (answer(b"", status="404 Not Found"), "NOT_FOUND"),
        (answer(b"", status="503 Busy"), "SERVICE_UNAVAILABLE"),
        (answer(b"", status="403 Forbidden"), "PAGE_NOT_READABLE"),
        (answer(b"\x89PNG", "image/png"), "PAGE_NOT_READABLE"),
        (answer(b"not a pdf", "application/pdf"), "PAGE_NOT_READABLE"),
        (b"this is no HTTP\r\n\r\n", "SERVICE_UNAVAILABLE"),
    ],
)
async def test_what_cannot_be_read_says_why(page: bytes, code: str) -> None:
    async with site({"/": page}) as served:
        assert (await refusal(served.url())).code == code


async def test_an_empty_page_is_an_empty_text() -> None:
    async with site({"/": answer(b"")}) as served:
        assert (await fetch(served.url())).text == ""


async def test_without_a_network_it_says_so() -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    found = await refusal("https://example.org/", resolve=nowhere)
    assert (found.code, found.retryable) == ("SERVICE_UNAVAILABLE", True)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/x",
        "http://user:pw@example.org/",
        "https:///path",
        "http://a b/c",
        "javascript:alert(1)",
    ],
)
async def test_only_plain_web_addresses_are_taken(url: str) -> None:
    assert (await refusal(url)).code == "INVALID_INPUT"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("64:ff9b::5db8:d822", True),
        ("2002:7f00:1::1", False),
        ("fe80::1%eth0", False),
        ("224.0.0.1", False),
        ("not an address", False),
    ],
)
def test_public_is_what_everybody_can_reach(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_unclosed_furniture_is_kept_and_takes_no_longer() -> None:
    page = "<nav>" * 200_000 + "<p>text</p>"
    assert without_furniture(page) == page


@given(st.text(alphabet="<>/navscript p", max_size=200))
def test_furniture_never_hides_what_stands_outside_of_it(text: str) -> None:
    assert without_furniture(f"{text}<p>kept</p>".replace("<nav", "").replace("<script", "")).endswith(
        "<p>kept</p>"
    )
