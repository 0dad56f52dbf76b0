"""`/mcp`: the gateway beside the API, on the same address and with the same keys.

`/mcp` shows the whole registry, `/mcp/NAME` one part of it. It stands in front of the API and not in it:
a call must not pass through what only pages and documents need.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from steward.bootstrap import Platform
from steward.bootstrap.gateway import open_gateway, view_named
from steward.contract.errors import StewardError
from steward.servers.gateway.guard import GatewayGuard, KnownKeys, RateLimit
from steward.servers.gateway.http import HttpGateway

PATH = "/mcp"
MOST_VIEWS = 50
Scope = MutableMapping[str, Any]
App = Callable[[Any, Any, Any], Awaitable[None]]


class WithGateway:
    """An ASGI application: `/mcp` is the gateway's, everything else the API's."""

    def __init__(
        self, app: FastAPI, platform: Platform, *, any_host: bool, limit: RateLimit | None = None
    ) -> None:
        self._app = app
        self._platform = platform
        keys = KnownKeys(platform.keys)
        self._guard = GatewayGuard(keys, any_host=any_host, limit=limit)
        self._gateways: dict[str, HttpGateway] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not (path == PATH or path.startswith(f"{PATH}/")):
            await self._app(scope, receive, send)
            return
        gateway = await self._gateway(path.removeprefix(PATH).strip("/") or "gateway")
        await (gateway or self._app)(scope, receive, send)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        await self._gateway("gateway")
        try:
            yield
        finally:
            self._stop.set()
            await asyncio.gather(*self._serving, return_exceptions=True)

    async def _gateway(self, name: str) -> HttpGateway | None:
        known = self._gateways.get(name)
        if known is not None or len(self._gateways) >= MOST_VIEWS:
            return known
        try:
            gateway = open_gateway(self._platform, view_named(name))
        except StewardError:
            return None
        app = HttpGateway(gateway, self._platform.orchestrator, guard=self._guard)
        self._gateways[name] = app
        ready = asyncio.Event()
        serving = asyncio.create_task(self._serve(app, ready))
        self._serving.add(serving)
        await ready.wait()
        return app

    async def _serve(self, app: HttpGateway, ready: asyncio.Event) -> None:
        """Sessions live in a task of their own, whichever request opened the view."""
        async with app.run():
            ready.set()
            await self._stop.wait()
