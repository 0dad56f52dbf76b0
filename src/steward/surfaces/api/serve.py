"""Serving the API on a socket: one process, announced to the CLI, stopped without dropping calls."""

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from steward.bootstrap import Platform, open_platform
from steward.bootstrap.record import told
from steward.bootstrap.samples import add_samples
from steward.bootstrap.sharing.other_instances import following
from steward.bootstrap.sharing.shared_limits import limits_shared
from steward.bootstrap.workspace.home import initialised
from steward.contract.errors import ConfigError, ErrorCode, StewardError
from steward.servers.gateway.guard import RateLimit
from steward.settings import Settings
from steward.surfaces.api import terminal
from steward.surfaces.api.app import create_app
from steward.surfaces.api.background import Attendance
from steward.surfaces.background import claimed, fitting
from steward.surfaces.collector import memory_given_back, memory_returned
from steward.surfaces.deadlines import PunctualHttp
from steward.surfaces.instance import Instance, announced, is_announced
from steward.surfaces.web.visits import SignInLinks
from steward.work.reminders import QUEUE as NOTIFY

logger = logging.getLogger(__name__)

SECONDS_TO_FINISH_CALLS = 30
SignIn = Callable[[], str]  # an address that signs one browser in, once


async def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    ready: Callable[[str, SignIn | None, Sequence[str]], None],
    page: bool = True,
    samples: bool = False,
) -> None:
    """Serve until told to stop.

    `ready` is called once requests are answered: with the address, and with what makes one-time addresses of
    the page, where there is one, and with what the last program did not finish.
    """
    from steward.surfaces.api.mcp import WithGateway  # noqa: PLC0415 - its imports take half a second
    from steward.surfaces.web.app import WebPage  # noqa: PLC0415 - what runs in the background has no page

    async with claimed(settings):
        is_new = not initialised(settings)
        listening = _bind(host, port)
        with listening, terminal.watched() as terminal_closed:
            address = f"http://{_printable(host)}:{listening.getsockname()[1]}"
            async with open_platform(settings) as platform:
                await _require_key_beyond_loopback(platform, host)
                others = not _is_loopback(host)
                limit = RateLimit.of(settings.rate_limit)
                visitors = WebPage(platform, limit=limit) if page else None
                api = create_app(
                    platform,
                    any_host=others,
                    origins=settings.origins,
                    limit=limit,
                    page=visitors,
                )
                called = RateLimit.of(settings.rate_limit)
                app = WithGateway(api, platform, any_host=others, limit=called)
                async with AsyncExitStack() as stack:
                    await stack.enter_async_context(following(platform))
                    await stack.enter_async_context(limits_shared(platform, {"api": limit, "mcp": called}))
                    for room in (app, visitors) if visitors is not None else (app,):
                        await stack.enter_async_context(room.run())
                    stack.enter_context(announced(settings, Instance(url=address, pid=os.getpid())))
                    unfinished = [told(line) for line in platform.record.found]
                    ready(address, _sign_in(api, platform, _own_address(listening)), unfinished)
                    await _work(platform, stack)
                    fill = samples and settings.samples and is_new
                    await stack.enter_async_context(_beginning(platform, fill=fill))
                    over = terminal_closed if _hangs_up() else None
                    server = _Server(_config(app), over, ending=platform.notices.board.close)
                    await server.serve(sockets=[listening])


async def serve_in_background(
    settings: Settings, *, folder: str, idle: float, ready: Callable[[str], None]
) -> None:
    """Serve the commands of this home's owner until nobody needs it: without page, gateway or other keys.

    It answers before all agents have started; a request waits for those that it needs.
    """
    listening = _bind("127.0.0.1", 0)
    with listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with open_platform(settings, agents=()) as platform, AsyncExitStack() as stack:
            lifecycle = platform.orchestrator.lifecycle
            everybody: asyncio.Task[object] | None = None

            async def starting(needed: Collection[str] | None) -> None:
                nonlocal everybody
                if everybody is None or not everybody.done():
                    if needed is not None:
                        await lifecycle.start_all(needed)
                        return
                    everybody = everybody or asyncio.create_task(lifecycle.start_all())
                    await asyncio.shield(everybody)

            app = Attendance(create_app(platform, whole=False), token=platform.owner_token, starting=starting)
            pid = os.getpid()
            instance = Instance(url=address, pid=pid, fits=fitting(settings), folder=folder)
            await stack.enter_async_context(following(platform))
            stack.enter_context(announced(settings, instance))
            await _work(platform, stack)

            async def at_leisure() -> None:
                await app.quiet()
                await starting(None)
                await app.quiet()
                await _warm(platform)

            leisure = asyncio.create_task(at_leisure())
            stack.push_async_callback(_cancelled, leisure)
            over = asyncio.create_task(
                app.over(
                    idle=idle,
                    found=lambda: is_announced(settings.home, pid),
                    working=platform.work.busy,
                )
            )
            stack.push_async_callback(_cancelled, over)
            server = _Server(_config(app), over, ending=platform.notices.board.close)
            ready(address)
            await server.serve(sockets=[listening])


def _hangs_up() -> bool:
    """A terminal that is closed ends it too, unless somebody (nohup) has said that it goes on."""
    return signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


async def _work(platform: Platform, stack: AsyncExitStack) -> None:
    await stack.enter_async_context(memory_returned())
    await stack.enter_async_context(platform.work.worker())
    # Its own: however much other work there is, a reminder comes on time.
    await stack.enter_async_context(platform.work.worker((NOTIFY,), concurrency=2))


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _config(app: Any) -> uvicorn.Config:
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

    async def begin() -> None:
        await asyncio.gather(*([samples()] if fill else []), _warm(platform))

    begun = asyncio.create_task(begin())
    try:
        yield
    finally:
        await _cancelled(begun)


async def _warm(platform: Platform) -> None:
    with memory_given_back():
        await asyncio.gather(platform.agents.warm(), platform.search.warm())


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, over: "asyncio.Task[None] | None", *, ending: Callable[[], None]
    ) -> None:
        """It ends when `over` does; `ending` is called before open answers are waited for."""
        super().__init__(config)
        self._over = over
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)

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
        if _hangs_up():
            numbers.append(signal.SIGHUP)
        if self._over is not None:
            self._over.add_done_callback(self._end)
        for number in numbers:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            if self._over is not None:
                self._over.remove_done_callback(self._end)
            for number in numbers:
                loop.remove_signal_handler(number)

    def _end(self, _: "asyncio.Task[None]") -> None:
        self.handle_exit(signal.SIGTERM, None)


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
