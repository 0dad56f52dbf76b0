"""The web page beside the API: one address, one process, one set of checks on every request.

Owns which paths are the page's. Does not own what the page shows (app.py), nor who may see it (gate.py).
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

App = Callable[[Any, Any, Any], Awaitable[None]]
Scope = MutableMapping[str, Any]

API = frozenset(("v1", "docs", "openapi.json", "healthz", "readyz", "metrics", "mcp"))


class WithPage:
    """An ASGI application: what is not the API's is the page's, addresses within the page included.

    Guests, pages of other sites that may call the API with a key, have no business with the page.
    """

    def __init__(self, app: App, page: App) -> None:
        self._app = app
        self._page = page

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        first = scope.get("path", "").removeprefix("/").partition("/")[0]
        visited = scope["type"] == "http" and first not in API and not scope.get("guest")
        await (self._page if visited else self._app)(scope, receive, send)
