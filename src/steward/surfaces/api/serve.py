"""Serving the API on a socket: one process, announced to the CLI, stopped without dropping calls."""

import asyncio
import ipaddress
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn

from steward.bootstrap import Platform, open_platform
from steward.contract.errors import ConfigError, ErrorCode
from steward.servers.gateway.guard import RateLimit
from steward.settings import Settings
from steward.surfaces.api.app import create_app
from steward.surfaces.api.mcp import WithGateway
from steward.surfaces.instance import Instance, announced, require_none

SECONDS_TO_FINISH_CALLS = 30


async def serve(settings: Settings, *, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until told to stop. `ready` is called with the address once requests are answered."""
    await require_none(settings)
    listening = _bind(host, port)
    with listening:
        address = f"http://{_printable(host)}:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(32)
        async with open_platform(settings) as platform:
            await _require_key_beyond_loopback(platform, host)
            others = not _is_loopback(host)
            limit = RateLimit.of(settings.rate_limit)
            api = create_app(
                platform, local_token=token, any_host=others, origins=settings.origins, limit=limit
            )
            app = WithGateway(api, platform, any_host=others)
            config = uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                proxy_headers=False,  # whoever stands in front, the peer's own address is the true one
                timeout_graceful_shutdown=SECONDS_TO_FINISH_CALLS,
            )
            instance = Instance(url=address, token=token, pid=os.getpid())
            async with app.run():
                with announced(settings, instance):
                    ready(address)
                    warming = asyncio.create_task(platform.agents.warm())
                    await _Server(config).serve(sockets=[listening])
                    warming.cancel()


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop on a signal, and no more than that.

        uvicorn raises the signal again when it is done, which would cut the platform's own shutdown short.
        """
        loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


async def _require_key_beyond_loopback(platform: Platform, host: str) -> None:
    if not _is_loopback(host) and not await platform.keys.exist():
        raise ConfigError(
            f"Serving on {host} lets other machines in, and no key is set.",
            fix="Make one with 'steward keys add', set STEWARD_API_KEY, or serve on 127.0.0.1.",
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"Port {port} on {host} cannot be used: {error.strerror}.",
            code=ErrorCode.CONFIG_INVALID,
            fix="Choose another with --port.",
        ) from error
    return listening


def _printable(host: str) -> str:
    return f"[{host}]" if ":" in host else host
