"""The web page beside the API: one address, one process, one set of checks on every request.

Owns which paths are the page's and when Streamlit is loaded: with the first visitor, so that whoever uses
only the API pays nothing for the page. Does not own what the page shows (main.py).
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

App = Callable[[Any, Any, Any], Awaitable[None]]
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]

SCRIPT = Path(__file__).parent / "main.py"
FIRST_PAGE = "/chat"
API = frozenset(("v1", "docs", "openapi.json", "healthz", "readyz", "metrics", "mcp"))

# Given as flags, which outweigh a config.toml or variables that somebody keeps for other pages.
OPTIONS: dict[str, Any] = {
    "browser.gatherUsageStats": False,
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.toolbarMode": "minimal",
    "logger.level": "warning",
    "runner.magicEnabled": False,
    "server.enableAgentApi": False,
    "server.enableStaticServing": False,
    "server.fileWatcherType": "none",
    "server.headless": True,
    "server.maxUploadSize": 50,
    "theme.base": None,
    "theme.baseRadius": "medium",
    "theme.light.primaryColor": "#0f766e",
    "theme.light.backgroundColor": "#ffffff",
    "theme.light.secondaryBackgroundColor": "#f1f5f4",
    "theme.light.textColor": "#16211f",
    "theme.light.linkColor": "#0f766e",
    "theme.dark.primaryColor": "#0f8276",
    "theme.dark.backgroundColor": "#101615",
    "theme.dark.secondaryBackgroundColor": "#1a2321",
    "theme.dark.textColor": "#e6efec",
    "theme.dark.linkColor": "#5eead4",
}


# The browser itself keeps the page at home: an answer that names a picture elsewhere does not fetch it,
# and no other site can put the page in a frame. Streamlit needs inline code; nothing comes from outside.
HEADERS = (
    (b"content-security-policy", b"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class WithPage:
    """An ASGI application: what is not the API's is the page's, addresses within the page included.

    Guests, pages of other sites that may call the API with a key, have no business with the page.
    """

    def __init__(self, app: App, page: App) -> None:
        self._app = app
        self._page = page

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        first = scope.get("path", "").removeprefix("/").partition("/")[0]
        visited = scope["type"] in ("http", "websocket") and first not in API and not scope.get("guest")
        await (self._page if visited else self._app)(scope, receive, send)


class Page:
    """The page as an ASGI application. Who may see it is decided before (gate.py)."""

    def __init__(self, *, api: str) -> None:
        self.proof = secrets.token_urlsafe(32)  # that a request is the page's own, for receipts
        self._secrets = {"steward": {"api": api, "proof": self.proof}}
        self._stack = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._app: App | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].rstrip("/") == FIRST_PAGE:
            await _to_the_front(scope, send)
            return
        app = self._app or await self._start()

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await app(scope, receive, guarded)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        async with self._stack:
            yield

    async def _start(self) -> App:
        async with self._starting:
            if self._app is not None:
                return self._app
            app, lifespan = await asyncio.to_thread(_load, self._secrets)
            await self._stack.enter_async_context(lifespan(app))
            self._app = app
            return app


async def _to_the_front(scope: Scope, send: Any) -> None:
    """Streamlit knows its first page by no other address than the front's."""
    query = scope.get("query_string", b"")
    where = scope.get("root_path", "").encode() + b"/" + (b"?" + query if query else b"")
    headers = [(b"location", where), (b"content-length", b"0"), *HEADERS]
    await send({"type": "http.response.start", "status": 307, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _load(known: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    # Imported with the first visitor: it takes a second and its memory.
    from streamlit.starlette import App as StreamlitApp  # noqa: PLC0415
    from streamlit.web.bootstrap import load_config_options  # noqa: PLC0415

    load_config_options({name.replace(".", "_"): value for name, value in OPTIONS.items()})
    app = StreamlitApp(SCRIPT, secrets=known)
    return app, app.lifespan()
