"""One view of the registry served on its own: over stdio, or over HTTP on this machine."""

import hmac
import socket
from collections.abc import Callable, MutableMapping
from typing import Any

import uvicorn

from steward.bootstrap import open_platform
from steward.bootstrap.gateway import open_gateway, view_named
from steward.contract.errors import ConfigError
from steward.servers.gateway.guard import Guard
from steward.servers.gateway.http import HttpGateway
from steward.servers.gateway.ports import Member
from steward.settings import Settings

HOST = "127.0.0.1"


class OneKey:
    """STEWARD_API_KEY where it is set; without it, everyone on this machine."""

    def __init__(self, key: str | None) -> None:
        self._key = key

    async def admit(self, key: str | None, scope: MutableMapping[str, Any]) -> Member | None:
        del scope
        if self._key is None:
            return Member("local")
        return Member("api-key") if key and hmac.compare_digest(key.encode(), self._key.encode()) else None


async def serve_stdio(settings: Settings, name: str, *, strict: bool) -> None:
    async with open_platform(settings) as platform:
        gateway = open_gateway(platform, view_named(name, strict=strict))
        try:
            await gateway.serve_stdio()
        finally:
            gateway.close()


async def serve_http(
    settings: Settings, name: str, *, port: int, strict: bool, ready: Callable[[str], None]
) -> None:
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(
            f"Port {port} cannot be used: {error.strerror}.", fix="Choose another with --http."
        ) from error
    key = None if settings.api_key is None else settings.api_key.get_secret_value()
    with listening:
        async with open_platform(settings) as platform:
            gateway = open_gateway(platform, view_named(name, strict=strict))
            app = HttpGateway(gateway, platform.orchestrator, guard=Guard(OneKey(key)))
            config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
            async with app.run():
                ready(f"http://{HOST}:{listening.getsockname()[1]}/mcp")
                await uvicorn.Server(config).serve(sockets=[listening])
