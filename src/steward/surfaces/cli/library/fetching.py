"""Fetches one page for `research-agent kb add-url`."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import httpx

from steward.contract.errors import InputError, UnavailableError
from steward.documents.readers import read_file

LARGEST = 20 * 1024 * 1024
_SUFFIXES = {"text/html": ".html", "application/pdf": ".pdf", "application/xhtml+xml": ".html"}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    title: str
    text: str


async def fetch_page(url: str) -> FetchedPage:
    if not url.startswith(("http://", "https://")):
        raise InputError(f"'{url}' is not a web address.", fix="Start it with https://")
    try:
        async with (
            httpx.AsyncClient(follow_redirects=True, timeout=30) as client,
            client.stream("GET", url) as response,
        ):
            response.raise_for_status()
            kind = response.headers.get("content-type", "text/plain").split(";")[0].strip()
            data = b""
            async for part in response.aiter_bytes():
                data += part
                if len(data) > LARGEST:
                    raise InputError(
                        f"{url} is larger than {LARGEST // 1024**2} MB.", fix="Download it first."
                    )
    except httpx.HTTPStatusError as error:
        raise UnavailableError(
            f"{url} answered {error.response.status_code}.", fix="Check the address."
        ) from None
    except httpx.HTTPError as error:
        raise UnavailableError(f"{url} cannot be reached.", fix="Are you online?") from error
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"page{_SUFFIXES.get(kind, '.md')}"
        file.write_bytes(data)
        reading = read_file(file)
    parts: list[str] = []
    last: tuple[str, ...] = ()
    for block in reading.blocks:
        if block.headers != last and block.headers:
            parts.append(f"{'#' * min(len(block.headers), 6)} {block.headers[-1]}")
            last = block.headers
        parts.append(block.text)
    return FetchedPage(title=url if reading.title == "page" else reading.title, text="\n\n".join(parts))
