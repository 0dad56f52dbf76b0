"""One open way to one server: its dispatcher, and news of its end.

Owns how each transport is opened and closed. Does not own when (connection.py) or what is said (session.py).
"""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import httpx2
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import Dispatcher, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.memory import create_client_server_memory_streams

from steward.contract.errors import ConfigError
from steward.providers.mcp.mcp_config import HttpTransport, OAuthConfig, ServerConfig, StdioTransport
from steward.providers.mcp.oauth import SignIn, nobody_to_ask, oauth_provider
from steward.providers.mcp.remote_http import CandidTransport, make_client
from steward.providers.mcp.secrets import MappingSource, Secrets
from steward.providers.mcp.server_process import start_process

if TYPE_CHECKING:
    from fastmcp import FastMCP  # a second's import that only servers in this process need

STOP_GRACE = 2.0  # seconds for a server to end by itself once its input is closed


def _same(error: MCPError) -> MCPError:
    return error


@dataclass(slots=True, kw_only=True)
class ServerLink:
    dispatcher: Dispatcher[Any]
    kind: str
    lost: asyncio.Event
    reason: Callable[[], str | None]
    lose: Callable[[str], None]
    facts: Callable[[], dict[str, Any]] = dict[str, Any]
    stderr: Callable[[], tuple[str, ...]] = tuple[str, ...]
    honest: Callable[[MCPError], MCPError] = _same
    watched: bool = True  # whether silence means anything


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What opening a link needs from outside."""

    secrets: Secrets = field(default_factory=lambda: Secrets(MappingSource({})))
    environment: Mapping[str, str] = field(default_factory=get_default_environment, repr=False)
    tokens: Path = Path(".steward-tokens")
    sign_in: SignIn = nobody_to_ask


SignInWanted = Callable[[str], None]
"""Told the page on which a person must sign in before anything else can happen."""

LinkOpener = Callable[[SignInWanted], AbstractAsyncContextManager[ServerLink]]


def link_opener(config: ServerConfig, around: Surroundings) -> LinkOpener:
    transport = config.transport
    if isinstance(transport, StdioTransport):
        return lambda _wanted: _stdio(config, transport, around)
    return lambda wanted: _http(config, transport, around, wanted)


@asynccontextmanager
async def _stdio(
    config: ServerConfig, transport: StdioTransport, around: Surroundings
) -> AsyncGenerator[ServerLink]:
    where = f"server '{config.name}'"
    expand = around.secrets.expand
    env = {**around.environment, **await around.secrets.expand_all(transport.env, where=f"{where}: env")}
    command = await expand(transport.command, where=f"{where}: command")
    args = [await expand(arg, where=f"{where}: args") for arg in transport.args]
    program, cwd = _find_program(command, env, transport.cwd)
    process = await start_process(
        [program, *args], env=env, cwd=cwd, max_message_bytes=config.max_message_bytes
    )
    dispatcher = process.dispatcher
    try:
        yield ServerLink(
            dispatcher=dispatcher,
            kind="stdio",
            lost=dispatcher.lost,
            reason=lambda: dispatcher.reason,
            lose=dispatcher.lose,
            facts=lambda: {"pid": process.pid},
            stderr=dispatcher.stderr.lines,
        )
    finally:
        await asyncio.shield(process.stop(STOP_GRACE))


def _find_program(command: str, env: Mapping[str, str], folder: str | None) -> tuple[str, str | None]:
    """The program and the folder to start it in, checked before anything is started."""
    cwd = None if folder is None else str(Path(folder).expanduser())
    if cwd is not None and not Path(cwd).is_dir():
        raise ConfigError(f"its working folder {cwd} does not exist.", fix="Correct 'cwd' in mcp.json.")
    path = Path(command).expanduser()
    found = shutil.which(str(path if path.is_absolute() else command), path=env.get("PATH"))
    if found is None and cwd is not None:
        found = shutil.which(str(Path(cwd) / command))
    if found is None:
        raise ConfigError(
            f"the program '{command}' was not found.", fix="Install it, or correct 'command' in mcp.json."
        )
    return found, cwd


class _WatchedDispatcher(JSONRPCDispatcher):
    """The SDK's dispatcher, which says when its stream ends."""

    def __init__(self, read: Any, write: Any, lost: asyncio.Event) -> None:
        super().__init__(read, write)
        self._lost = lost

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self._lost.set()


@asynccontextmanager
async def _http(
    config: ServerConfig, transport: HttpTransport, around: Surroundings, wanted: SignInWanted
) -> AsyncGenerator[ServerLink]:
    where = f"server '{config.name}'"
    url = await around.secrets.expand(transport.url, where=f"{where}: url")
    headers = await around.secrets.expand_all(transport.headers, where=f"{where}: headers")
    lost = asyncio.Event()
    reasons: list[str] = []

    def on_lost(reason: str) -> None:
        reasons.append(reason)
        lost.set()

    candid = CandidTransport(
        httpx2.AsyncHTTPTransport(), endpoint=url, max_bytes=config.max_message_bytes, on_lost=on_lost
    )
    auth = await _auth(config, url, headers, around, wanted)
    async with AsyncExitStack() as stack:
        client = make_client(candid, headers=headers, timeout=config.timeout, auth=auth)
        if transport.sse:

            def ours(
                headers: dict[str, str] | None = None,
                timeout: httpx2.Timeout | None = None,
                auth: httpx2.Auth | None = None,
            ) -> httpx2.AsyncClient:
                del headers, timeout, auth
                return client

            streams = sse_client(url, httpx_client_factory=ours)
        else:
            await stack.enter_async_context(client)
            streams = streamable_http_client(
                url, http_client=client, max_sse_event_size=config.max_message_bytes
            )
        read, write = await stack.enter_async_context(streams)
        yield ServerLink(
            dispatcher=_WatchedDispatcher(read, write, lost),
            kind="sse" if transport.sse else "http",
            lost=lost,
            reason=lambda: reasons[0] if reasons else "it closed the connection",
            lose=on_lost,
            facts=lambda: {"url": transport.url},
            honest=candid.honest,
        )


async def _auth(
    config: ServerConfig, url: str, headers: Mapping[str, str], around: Surroundings, wanted: SignInWanted
) -> httpx2.Auth | None:
    if config.oauth is None or any(name.lower() == "authorization" for name in headers):
        return None
    return oauth_provider(
        await _expanded(config.oauth, around.secrets, f"server '{config.name}': oauth"),
        server=config.name,
        url=url,
        folder=around.tokens,
        sign_in=around.sign_in,
        wanted=wanted,
    )


async def _expanded(config: OAuthConfig, secrets: Secrets, where: str) -> OAuthConfig:
    named = {
        "client_id": config.client_id,
        "client_secret": config.client_secret,
        "private_key": config.private_key,
    }
    given = {key: value for key, value in named.items() if value is not None}
    return replace(config, **await secrets.expand_all(given, where=where))


def memory_opener(server: "FastMCP[Any]") -> LinkOpener:
    """A server in this process, spoken to without a wire."""
    return lambda _wanted: _memory(server)


@asynccontextmanager
async def _memory(server: "FastMCP[Any]") -> AsyncGenerator[ServerLink]:
    lost = asyncio.Event()
    lowlevel = server._mcp_server  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - FastMCP has no public way
    async with (
        create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
        server._lifespan_manager(),  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(lowlevel.run, server_read, server_write, lowlevel.create_initialization_options())
        try:
            yield ServerLink(
                dispatcher=_WatchedDispatcher(read, write, lost),
                kind="memory",
                lost=lost,
                reason=lambda: "it stopped",
                lose=lambda _reason: lost.set(),
                watched=False,
            )
        finally:
            tasks.cancel_scope.cancel()
