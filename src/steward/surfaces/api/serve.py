"""Serving the API on a socket: one process, announced to the CLI, stopped without dropping calls."""

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import uvicorn
from fastapi import FastAPI

from steward.bootstrap import Platform, open_platform
from steward.bootstrap.home import initialised
from steward.bootstrap.samples import add_samples
from steward.contract.errors import ConfigError, ErrorCode, StewardError
from steward.servers.gateway.guard import RateLimit
from steward.settings import Settings
from steward.surfaces.api import terminal
from steward.surfaces.api.app import create_app
from steward.surfaces.api.mcp import WithGateway
from steward.surfaces.deadlines import PunctualHttp
from steward.surfaces.instance import Instance, announced, require_none
from steward.surfaces.web.serving import Page
from steward.surfaces.web.visits import SignInLinks

logger = logging.getLogger(__name__)

SECONDS_TO_FINISH_CALLS = 30
SignIn = Callable[[], str]  # an address that signs one browser in, once


async def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    ready: Callable[[str, SignIn | None], None],
    page: bool = True,
    samples: bool = False,
) -> None:
    """Serve until told to stop.

    `ready` is called once requests are answered: with the address, and with what makes one-time addresses of
    the page, where there is one.
    """
    await require_none(settings)
    is_new = not initialised(settings)
    listening = _bind(host, port)
    with listening, terminal.watched() as terminal_closed:
        address = f"http://{_printable(host)}:{listening.getsockname()[1]}"
        async with open_platform(settings) as platform:
            await _require_key_beyond_loopback(platform, host)
            others = not _is_loopback(host)
            limit = RateLimit.of(settings.rate_limit)
            visitors = Page(api=_own_address(listening)) if page else None
            api = create_app(
                platform,
                any_host=others,
                origins=settings.origins,
                limit=limit,
                page=visitors,
                page_proof=None if visitors is None else visitors.proof,
            )
            app = WithGateway(api, platform, any_host=others)
            instance = Instance(url=address, pid=os.getpid())
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(app.run())
                if visitors is not None:
                    await stack.enter_async_context(visitors.run())
                stack.enter_context(announced(settings, instance))
                ready(address, _sign_in(api, platform, _own_address(listening)))
                fill = samples and settings.samples and is_new
                await stack.enter_async_context(_beginning(platform, fill=fill))
                await _Server(_config(app), terminal_closed).serve(sockets=[listening])


def _config(app: WithGateway) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=PunctualHttp,
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=False,  # whoever stands in front, the peer's own address is the true one
        timeout_graceful_shutdown=SECONDS_TO_FINISH_CALLS,
    )


def _sign_in(api: FastAPI, platform: Platform, address: str) -> SignIn | None:
    links: SignInLinks | None = api.state.links
    return None if links is None else lambda: address + links.make(platform.owner_token)


@asynccontextmanager
async def _beginning(platform: Platform, *, fill: bool) -> AsyncGenerator[None]:
    """What is better done soon, while first requests are served already: samples, loading, a first search."""

    async def samples() -> None:
        try:
            await add_samples(platform)
        except StewardError as error:
            logger.warning("samples_not_added", extra={"problem": error.explain()})

    first = [platform.agents.warm(), platform.search.warm(), *([samples()] if fill else [])]
    begun = [asyncio.create_task(each) for each in first]
    try:
        yield
    finally:
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, terminal_closed: "asyncio.Task[None]") -> None:
        super().__init__(config)
        self._terminal_closed = terminal_closed

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop on a signal, and no more than that.

        uvicorn raises the signal again when it is done, which would cut the platform's own shutdown short.
        """
        loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [signal.SIGINT, signal.SIGTERM]
        # A terminal that is closed ends it too, unless somebody (nohup) has said that it goes on.
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            numbers.append(signal.SIGHUP)
            self._terminal_closed.add_done_callback(self._hang_up)
        for number in numbers:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            self._terminal_closed.remove_done_callback(self._hang_up)
            for number in numbers:
                loop.remove_signal_handler(number)

    def _hang_up(self, _: "asyncio.Task[None]") -> None:
        self.handle_exit(signal.SIGHUP, None)


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


def _own_address(listening: socket.socket) -> str:
    """Where the page reaches the API: the same socket, by an address that leads back to this machine."""
    bound: tuple[str, int] = listening.getsockname()[:2]
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound
    return f"http://{_printable(everywhere.get(bound[0], bound[0]))}:{bound[1]}"


def _printable(host: str) -> str:
    return f"[{host}]" if ":" in host else host
