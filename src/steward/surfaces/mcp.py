"""One view of the registry served on its own: over stdio, or over HTTP on this machine."""

import socket
from collections.abc import Callable

import uvicorn

from steward.bootstrap import open_platform
from steward.bootstrap.gateway import open_gateway, view_named
from steward.bootstrap.sharing.other_instances import following
from steward.contract.deciding import Role
from steward.contract.errors import ConfigError
from steward.servers.gateway.guard import GatewayGuard, KnownKeys, RateLimit
from steward.servers.gateway.http import HttpGateway
from steward.settings import Settings
from steward.surfaces.deadlines import PunctualHttp

HOST = "127.0.0.1"


async def serve_stdio(settings: Settings, name: str, *, role: Role, client_confirms: bool) -> None:
    async with open_platform(settings) as platform, following(platform):
        view = view_named(name, client_confirms=client_confirms, on_its_own=True)
        gateway = open_gateway(platform, view, piped=role)
        try:
            await gateway.serve_stdio()
        finally:
            gateway.close()


async def serve_http(settings: Settings, name: str, *, port: int, ready: Callable[[str], None]) -> None:
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(
            f"Port {port} cannot be used: {error.strerror}.", fix="Choose another with --http."
        ) from error
    with listening:
        async with open_platform(settings) as platform, following(platform):
            gateway = open_gateway(platform, view_named(name, on_its_own=True))
            guard = GatewayGuard(KnownKeys(platform.keys), limit=RateLimit.of(settings.rate_limit))
            app = HttpGateway(gateway, platform.orchestrator, guard=guard)
            config = uvicorn.Config(
                app,
                http=PunctualHttp,
                log_config=None,
                access_log=False,
                lifespan="off",
                proxy_headers=False,
            )
            async with app.run():
                ready(f"http://{HOST}:{listening.getsockname()[1]}/mcp")
                await uvicorn.Server(config).serve(sockets=[listening])
