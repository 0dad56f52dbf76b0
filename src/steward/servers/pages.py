"""Reading one page of the web as text, without ever reaching into the private network.

Owns `fetch_page`, which addresses it may connect to, and its limits. A name is resolved once; the address
that was judged is the one that is connected to, and every redirect is judged again. Turning the bytes
into text is the documents room's, in a process of its own.
"""

import asyncio
import ipaddress
import socket
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Protocol
from urllib.parse import urljoin

import httpx
from pydantic import BaseModel, Field

from steward.contract import linear_re as re
from steward.contract.errors import (
    ErrorCode,
    ForbiddenError,
    InputError,
    NotFoundError,
    StewardError,
    ToolError,
    UnavailableError,
)
from steward.knowledge.model import Block
from steward.knowledge.ports import ReadDocument

LARGEST = 8 * 1024 * 1024
REDIRECTS = 5
USUAL_CHARACTERS, MOST_CHARACTERS = 20_000, 200_000
LONGEST_URL = 2_000
AGENT = "Steward/0.1 (reads a page for a person who asked)"
NOT_READABLE = "PAGE_NOT_READABLE"
TOO_LARGE = "PAGE_TOO_LARGE"
_MOVED = frozenset({301, 302, 303, 307, 308})
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/json": ".json",
    "application/xml": ".xml",
    "text/xml": ".xml",
}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_HEAD = 100_000  # characters of a page that are searched for its title and date
# Every repetition is bounded: a page is written by strangers.
_DATE_IN_HTML = (
    re.compile(
        r"<meta[^>]{1,200}?(?:article:(?:modified|published)_time|date(?:Modified|Published)?|dc\.date)"
        r"[\"']?[^>]{0,100}?\bcontent\s{0,3}=\s{0,3}[\"']([^\"']{8,40})",
        re.IGNORECASE,
    ),
    re.compile(r"\"date(?:Modified|Published)\"\s{0,3}:\s{0,3}\"([^\"]{8,40})\""),
    re.compile(r"<time[^>]{1,200}?datetime\s{0,3}=\s{0,3}[\"']([^\"']{8,40})", re.IGNORECASE),
)
_TITLE = re.compile(r"<title[^>]{0,100}>([^<]{1,500})", re.IGNORECASE)
# Parts of a page that say nothing about its subject.
_FURNITURE = re.compile(
    r"<(?:(head|script|style|nav|footer|aside|form|noscript|svg|iframe)\b"
    r"|/(head|script|style|nav|footer|aside|form|noscript|svg|iframe)\s{0,3}>)",
    re.IGNORECASE,
)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class FetchPageParams(BaseModel):
    url: str = Field(min_length=8, max_length=LONGEST_URL)
    max_characters: int = Field(default=USUAL_CHARACTERS, ge=200, le=MOST_CHARACTERS)


class FetchPageResult(BaseModel):
    url: str = Field(description="Where the page was found in the end.")
    title: str
    text: str = Field(description="The page as Markdown.")
    date: str | None = Field(default=None, description="When it was written, where it says so (ISO 8601).")
    truncated: bool = Field(default=False, description="Whether the page goes on after this text.")


class PageReaders(Protocol):
    """The documents room's readers."""

    async def read(self, path: Path) -> ReadDocument: ...


@dataclass(frozen=True, slots=True)
class _FetchedAnswer:
    url: str
    media_type: str
    charset: str | None
    body: bytes


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, asked for once."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFetcher:
    """`allowed` are hosts (`wiki.home`, `127.0.0.1:8080`) that may be read although they are private."""

    readers: PageReaders
    timeout: float = 30.0
    allowed: frozenset[str] = frozenset()
    resolve: Resolve = field(default=resolve)

    async def fetch(self, params: FetchPageParams) -> FetchPageResult:
        try:
            async with asyncio.timeout(self.timeout):
                answer = await self._follow(params.url.strip())
                return await self._read(answer, params.max_characters)
        except TimeoutError as error:
            raise ToolError(
                f"{_shown(params.url)} could not be read within {self.timeout:g} seconds.",
                code=ErrorCode.TOOL_EXECUTION_TIMEOUT,
                fix="Try another source, or raise WEBSEARCH_TIMEOUT.",
                retryable=True,
            ) from error

    async def _follow(self, url: str) -> _FetchedAnswer:
        # No environment: a proxy would resolve the name again, to who knows what.
        async with httpx.AsyncClient(follow_redirects=False, timeout=self.timeout, trust_env=False) as client:
            for _ in range(REDIRECTS + 1):
                target = _target(url)
                answer = await self._get(client, target, await self._judged(target))
                if isinstance(answer, _FetchedAnswer):
                    return answer
                url = urljoin(url, answer)
        raise UnavailableError(
            f"{_shown(url)} leads in circles.",
            fix="Use the address where the page really is.",
            retryable=False,
        )

    async def _judged(self, target: httpx.URL) -> Sequence[str]:
        """The addresses to connect to; refuses what is not on the public network."""
        host, port = _place(target)
        try:
            addresses = await self.resolve(host, port)
        except OSError as error:
            raise UnavailableError(
                f"There is no way to {host}.", fix="Check the address and the network connection."
            ) from error
        if not addresses:
            raise UnavailableError(f"There is no way to {host}.", fix="Check the address.")
        if not {host, f"{host}:{port}"} & self.allowed and not all(map(is_public, addresses)):
            raise ForbiddenError(
                f"{host} is a private address; pages are read from the public web only.",
                fix="If you run this site yourself, name it in STEWARD_FETCH_HOSTS.",
            )
        return addresses

    async def _get(
        self, client: httpx.AsyncClient, target: httpx.URL, addresses: Sequence[str]
    ) -> _FetchedAnswer | str:
        """The page, or where it moved to. Connects to an address that was judged, under the site's name."""
        host, _ = _place(target)
        try:
            response = await _connected(client, target, addresses)
            try:
                return await self._body(response, target)
            finally:
                await response.aclose()
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise UnavailableError(
                f"{host} cannot be reached.", fix="Check the network connection, or try another source."
            ) from error

    async def _body(self, response: httpx.Response, target: httpx.URL) -> _FetchedAnswer | str:
        if response.status_code in _MOVED and "location" in response.headers:
            return response.headers["location"]
        if response.status_code >= 400:
            raise _refused(target, response.status_code)
        media_type = response.headers.get("content-type", "text/html").split(";")[0].strip().lower()
        if media_type not in _SUFFIXES:
            raise ToolError(
                f"{_shown(str(target))} is {media_type}, which is not text.",
                code=NOT_READABLE,
                fix="Pages, PDF, Markdown, CSV, JSON and plain text can be read.",
            )
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > LARGEST:
                raise ToolError(
                    f"{_shown(str(target))} is larger than {LARGEST // 2**20} MB.",
                    code=TOO_LARGE,
                    fix="Choose another source.",
                )
        return _FetchedAnswer(str(target), media_type, response.charset_encoding, bytes(body))

    async def _read(self, answer: _FetchedAnswer, limit: int) -> FetchPageResult:
        suffix = _SUFFIXES[answer.media_type]
        body, title, date = answer.body, None, None
        if suffix == ".html":
            page = _decoded(answer)
            title, date = _title(page[:_HEAD]), _date(page[:_HEAD])
            body = (await asyncio.to_thread(without_furniture, page)).encode()
        try:
            text, found = await self._text(body, suffix)
        except StewardError as error:
            raise ToolError(
                f"{_shown(answer.url)} cannot be read: {error.message}",
                code=NOT_READABLE,
                fix="Choose another source.",
            ) from error
        return FetchPageResult(
            url=answer.url,
            title=title or found or _shown(answer.url),
            text=text[:limit],
            date=date,
            truncated=len(text) > limit,
        )

    async def _text(self, body: bytes, suffix: str) -> tuple[str, str | None]:
        if not body.strip():
            return "", None
        with tempfile.TemporaryDirectory(prefix="steward-page-") as folder:
            file = Path(folder) / f"page{suffix}"
            await asyncio.to_thread(file.write_bytes, body)
            reading = await self.readers.read(file)
        title = None if reading.title in ("page", file.name) else reading.title
        return _markdown(reading.blocks), title


def _target(url: str) -> httpx.URL:
    try:
        target = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        target = httpx.URL("")
    odd = "\\" in url or any(character.isspace() for character in url)
    if target.scheme not in ("http", "https") or not target.host or odd:
        raise InputError(f"'{_shown(url)}' is not a web address.", fix="Start it with https://")
    if target.userinfo:
        raise InputError("A web address with a password in it is not used.", fix="Leave the password out.")
    return target.copy_with(fragment=None)


def _place(target: httpx.URL) -> tuple[str, int]:
    return target.raw_host.decode().lower(), target.port or (443 if target.scheme == "https" else 80)


async def _connected(
    client: httpx.AsyncClient, target: httpx.URL, addresses: Sequence[str]
) -> httpx.Response:
    host, port = _place(target)
    for number, address in enumerate(addresses, 1):
        request = client.build_request(
            "GET",
            target.copy_with(host=address, port=port),
            headers={"Host": target.netloc.decode(), "User-Agent": AGENT, "Accept": "*/*"},
            extensions={"sni_hostname": host},
        )
        try:
            return await client.send(request, stream=True)
        except httpx.ConnectError:
            if number == len(addresses):
                raise
    raise httpx.ConnectError("no address")  # pragma: no cover - there is at least one


def is_public(address: str) -> bool:
    """Whether an address belongs to the public network, also where one address hides inside another."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        hidden = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo or (None,))[-1]
        if parsed in _NAT64:
            hidden = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if hidden is not None:
            return is_public(str(hidden))
    return parsed.is_global and not parsed.is_multicast


def _refused(target: httpx.URL, status: int) -> StewardError:
    said = f"{_shown(str(target))} answered {status}."
    if status in (404, 410):
        return NotFoundError(said, fix="The page is gone; choose another source.")
    if status == 429 or status >= 500:
        return UnavailableError(said, fix="Try again later, or choose another source.")
    return ToolError(said, code=NOT_READABLE, fix="The site does not show it; choose another source.")


def _shown(url: str) -> str:
    return url if len(url) <= 120 else f"{url[:119]}…"


def _decoded(answer: _FetchedAnswer) -> str:
    try:
        return answer.body.decode(answer.charset or "utf-8", errors="replace")
    except LookupError:
        return answer.body.decode(errors="replace")


def _title(page: str) -> str | None:
    found = _TITLE.search(page)
    return (" ".join(unescape(found[1]).split()) or None) if found else None


def _date(page: str) -> str | None:
    """The day that the page says it was written or changed."""
    for pattern in _DATE_IN_HTML:
        for found in pattern.finditer(page):
            try:
                return datetime.fromisoformat(found[1].strip()).date().isoformat()
            except ValueError:
                continue
    return None


def without_furniture(page: str) -> str:
    """Each part is cut from its opening to its closing tag, in one pass whatever the page looks like."""
    tags = [(found.start(), found.end(), found[1], found[2]) for found in _FURNITURE.finditer(page)]
    closings: dict[str, list[int]] = {}  # where each tag is closed, the first one last
    for _, end, _, closed in reversed(tags):
        if closed:
            closings.setdefault(closed.lower(), []).append(end)
    kept: list[str] = []
    at = 0
    for start, end, opened, _ in tags:
        if not opened or start < at:
            continue
        ends = closings.get(opened.lower(), [])
        while ends and ends[-1] < end:
            ends.pop()
        if ends:
            kept.append(page[at:start])
            at = ends[-1]
    return " ".join((*kept, page[at:]))


def _markdown(blocks: Sequence[Block]) -> str:
    parts: list[str] = []
    last: tuple[str, ...] = ()
    for block in blocks:
        if block.headers and block.headers != last:
            parts.append(f"{'#' * min(len(block.headers), 6)} {block.headers[-1]}")
        last = block.headers
        if block.text.strip():
            parts.append(block.text.strip())
    return "\n\n".join(parts)
