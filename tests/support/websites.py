"""A small web of our own on this machine: a search page that speaks SearXNG's JSON, and pages to read.

The pages are of our own writing, in the form that real ones have. A test may break a part of it.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

HTML = """<!doctype html><html lang="en"><head><title>{title}</title>
<meta property="article:published_time" content="{date}T08:00:00+00:00"></head><body>
<nav><a href="/">Home</a> <a href="/about">About us</a></nav><h1>{title}</h1>{body}
<footer>Cookies. Imprint. All rights reserved.</footer></body></html>"""

PAGES: dict[str, tuple[str, str, str]] = {
    "/atlas/france": (
        "France: an atlas entry",
        "2026-03-04",
        "<p>France lies in Western Europe. Paris is the capital of France and its largest city.</p>",
    ),
    "/cities/paris": (
        "Paris city guide",
        "2026-05-20",
        "<p>Paris, the capital of France, lies on the Seine.</p><h2>Food</h2><p>Bread is good here.</p>",
    ),
    "/travel/france": (
        "Travelling in France",
        "2025-11-02",
        "<p>Trains reach the capital of France, Paris, from every region within a few hours.</p>",
    ),
    "/python/async": (
        "Python async best practices",
        "2026-08-11",
        "<p>Python async best practices: use a TaskGroup, set timeouts, never block the event loop.</p>",
    ),
    "/towers/brennan": (
        "Brennan Tower",
        "2026-01-15",
        "<p>At 312 metres, the Brennan Tower is the tallest building in Port Vesper.</p><p>Opened: 2019</p>",
    ),
    "/institutes/borealis": (
        "The Borealis Institute",
        "2026-02-01",
        "<p>The Borealis Institute was founded in 1987 by Ingrid Solheim in Bergen.</p>",
    ),
    "/news/brennan": (
        "Port Vesper today",
        "2026-11-18",
        "<p>News: the Brennan Tower was evacuated yesterday evening after a fire in its lift shaft.</p>",
    ),
    "/weather/seoul": (
        "Weather in Seoul",
        "2026-11-15",
        "<p>Weather in Seoul today: sunny, 12 degrees, light wind from the west.</p>",
    ),
}


@dataclass
class Web:
    """`hosts` answer under different names of this machine, so that sources are independent of each other."""

    port: int = 0
    broken: str | None = None  # "silent", "garbage" or "down": what the search does instead of answering
    searched: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # every address but searches, as it was sent

    @property
    def search(self) -> str:
        return f"http://127.0.0.1:{self.port}/search"

    @property
    def hosts(self) -> str:
        return ",".join(f"127.0.0.{number}:{self.port}" for number in range(1, 10))

    def url(self, path: str) -> str:
        number = 2 + sorted(PAGES).index(path)
        return f"http://127.0.0.{number}:{self.port}{path}"

    def results(self, query: str) -> dict[str, object]:
        wanted = set(query.lower().replace("?", "").split())

        def shared(path: str) -> int:
            title, _, body = PAGES[path]
            return len(wanted & set(f"{title} {body}".lower().replace(".", " ").replace(",", " ").split()))

        found = sorted((path for path in PAGES if shared(path) > 1), key=lambda path: -shared(path))
        return {
            "results": [
                {"title": PAGES[path][0], "url": self.url(path), "content": PAGES[path][2][3:90]}
                for path in found[:5]
            ]
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            target = urlsplit((await reader.readuntil(b"\r\n\r\n")).decode().split(" ")[1])
            if target.path != "/search":
                self.asked.append(target.geturl())
            await self._answer(target.path, parse_qs(target.query), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(
        self,
        path: str,
        query: dict[str, list[str]],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        if path == "/search":
            self.searched.append(query["q"][0])
            if self.broken == "silent":
                await reader.read()  # until the client gives up
                return
            body = json.dumps(self.results(query["q"][0])).encode()
            _write(writer, b"<html>oops" if self.broken == "garbage" else body, "application/json")
        elif path in PAGES:
            self.read.append(path)
            title, date, text = PAGES[path]
            _write(
                writer, HTML.format(title=title, date=date, body=text).encode(), "text/html; charset=utf-8"
            )
        else:
            _write(writer, b"gone", "text/html", status="404 Not Found")
        await writer.drain()


def _write(writer: asyncio.StreamWriter, body: bytes, kind: str, *, status: str = "200 OK") -> None:
    head = (
        f"HTTP/1.1 {status}",
        f"content-type: {kind}",
        f"content-length: {len(body)}",
        "connection: close",
    )
    writer.write("\r\n".join((*head, "", "")).encode() + body)


@asynccontextmanager
async def small_web() -> AsyncIterator[Web]:
    web = Web()
    servers = [await asyncio.start_server(web.serve, "127.0.0.1", 0)]
    web.port = servers[0].sockets[0].getsockname()[1]
    for number in range(2, 3 + len(PAGES)):
        servers.append(await asyncio.start_server(web.serve, f"127.0.0.{number}", web.port))
    try:
        yield web
    finally:
        for server in servers:
            server.close()
