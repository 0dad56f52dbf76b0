"""The web server: search behind one small port, and reading a page.

Owns `web_search` and the engines it can ask. Does not own which engine: settings name it, bootstrap
passes it in. How a page is reached safely is pages.py's.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import httpx
from fastmcp import FastMCP
from pydantic import BaseModel, Field

from steward.contract.errors import ConfigError, ErrorCode, ToolError, UnavailableError
from steward.contract.extras import missing
from steward.servers.base import READS, new_server
from steward.servers.pages import (
    LONGEST_URL,
    MOST_CHARACTERS,
    USUAL_CHARACTERS,
    FetchPageParams,
    FetchPageResult,
    PageFetcher,
)

ENGINES = ("google", "duckduckgo", "bing")
MOST_RESULTS = 50
LONGEST_QUERY = 400


class SearchWebParams(BaseModel):
    query: str = Field(min_length=1, max_length=LONGEST_QUERY)
    max_results: int = Field(default=10, ge=1, le=MOST_RESULTS)


class SearchWebResult(BaseModel):
    title: str
    url: str
    snippet: str


class SearchEngine(Protocol):
    """Raises `UnavailableError` when it cannot be reached, `ToolError` when it takes too long."""

    async def search(self, params: SearchWebParams) -> list[SearchWebResult]: ...


@dataclass(frozen=True, slots=True)
class PublicEngine:
    """Google, Bing or DuckDuckGo through `ddgs`."""

    name: str
    timeout: float

    async def search(self, params: SearchWebParams) -> list[SearchWebResult]:
        try:
            async with asyncio.timeout(self.timeout):
                rows = await asyncio.to_thread(self._ask, params)
        except TimeoutError as error:
            raise _too_slow(self.name, self.timeout) from error
        return [
            SearchWebResult(title=row.get("title", ""), url=row.get("href", ""), snippet=row.get("body", ""))
            for row in rows
        ]

    def _ask(self, params: SearchWebParams) -> list[dict[str, Any]]:
        # Imported on first use: its HTTP engine takes a while to load and most runs never search.
        try:
            from ddgs.ddgs import DDGS  # noqa: PLC0415
            from ddgs.exceptions import (  # noqa: PLC0415
                DDGSException,
                RatelimitException,
                TimeoutException,
            )
        except ImportError:
            lacking = missing("search", f"Searching with {self.name}")
            fix = f"{lacking.fix}, or set WEBSEARCH_ENGINE to the address of a SearXNG of yours."
            raise ToolError(lacking.message, code=lacking.code, fix=fix) from None

        try:
            with DDGS(timeout=max(1, round(self.timeout))) as engine:
                return engine.text(params.query, max_results=params.max_results, backend=self.name)
        except TimeoutException as error:
            raise _too_slow(self.name, self.timeout) from error
        except RatelimitException as error:
            raise UnavailableError(
                f"{self.name} refuses more searches for now.",
                code=ErrorCode.RATE_LIMITED,
                fix="Wait a minute, or set WEBSEARCH_ENGINE to another engine.",
            ) from error
        except DDGSException as error:
            if "No results" in str(error):
                return []
            raise _offline(self.name) from error


@dataclass(frozen=True, slots=True)
class OwnEngine:
    """A search service of the user's own that speaks SearXNG's JSON (`GET ?q=...&format=json`)."""

    address: str
    timeout: float

    async def search(self, params: SearchWebParams) -> list[SearchWebResult]:
        question = {"q": params.query, "format": "json"}
        try:
            async with httpx.AsyncClient(timeout=self.timeout, follow_redirects=False) as client:
                answer = await client.get(self.address, params=question)
                answer.raise_for_status()
                rows: Any = answer.json()["results"]
                found = [
                    SearchWebResult(title=row["title"], url=row["url"], snippet=row.get("content") or "")
                    for row in rows[: params.max_results]
                ]
        except httpx.TimeoutException as error:
            raise _too_slow(self.address, self.timeout) from error
        except httpx.TransportError as error:
            raise _offline(self.address) from error
        except (httpx.HTTPStatusError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnavailableError(
                f"{self.address} did not answer with search results.",
                fix="WEBSEARCH_ENGINE must name an engine or a SearXNG search address.",
            ) from error
        return found


def _offline(engine: str) -> UnavailableError:
    return UnavailableError(
        f"Web search cannot reach {engine}.",
        fix="Check the network connection, or set WEBSEARCH_ENGINE to an engine that can be reached.",
    )


def _too_slow(engine: str, timeout: float) -> ToolError:
    return ToolError(
        f"{engine} did not answer within {timeout:g} seconds.",
        code=ErrorCode.TOOL_EXECUTION_TIMEOUT,
        fix="Try again, or raise WEBSEARCH_TIMEOUT.",
        retryable=True,
    )


def engine_named(name: str, *, timeout: float) -> SearchEngine:
    """The engine that WEBSEARCH_ENGINE names: a public one, or the address of your own."""
    if name.startswith(("http://", "https://")):
        return OwnEngine(name, timeout)
    if name in ENGINES:
        return PublicEngine(name, timeout)
    raise ConfigError(
        f"WEBSEARCH_ENGINE is '{name}'.",
        fix=f"Use one of {', '.join(ENGINES)}, or the address of a SearXNG search page.",
    )


def build(engine: SearchEngine, pages: PageFetcher, *, max_results: int = 10) -> FastMCP:
    server = new_server("steward-web", "Searches the web and reads its pages.")
    usual = min(max(1, max_results), MOST_RESULTS)
    reads = READS.model_copy(update={"open_world_hint": True})

    @server.tool(annotations=reads)
    async def web_search(
        query: Annotated[str, Field(description="What to look for.", min_length=1, max_length=LONGEST_QUERY)],
        max_results: Annotated[int, Field(description="At most this many.", ge=1, le=MOST_RESULTS)] = usual,
    ) -> list[SearchWebResult]:
        """Search the web; each result has a title, a URL and a snippet.

        Use it for what changes or is not known here. Prefer search_memory for what was found out before.
        Prefer query_knowledge_base for the person's own documents. Prefer fetch_page for an address that is
        known.
        """
        return await engine.search(SearchWebParams(query=query, max_results=max_results))

    @server.tool(annotations=reads)
    async def fetch_page(
        url: Annotated[str, Field(description="The page's address.", min_length=8, max_length=LONGEST_URL)],
        max_characters: Annotated[
            int, Field(description="At most this much of its text.", ge=200, le=MOST_CHARACTERS)
        ] = USUAL_CHARACTERS,
    ) -> FetchPageResult:
        """Read a web page, PDF or text at an address, as Markdown, with its title and date.

        Use it instead of web_search when the address is known. Prefer read_file for files on this computer.
        """
        return await pages.fetch(FetchPageParams(url=url, max_characters=max_characters))

    return server
