"""Real MCP servers for tests: over stdio, over HTTP and SSE on loopback, well behaved or not."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import uvicorn

from steward.contract.pins import PinStore
from steward.providers.mcp.connection import Timing
from steward.providers.mcp.links import Surroundings
from steward.providers.mcp.mcp_config import HttpTransport, ServerConfig, StdioTransport
from steward.providers.mcp.server_agent import MCPServerAgent

FOLDER = Path(__file__).parents[1] / "servers"
FAST = Timing(backoff=0.01, poll=0.05, stable_after=0.5)
WATCHFUL = Timing(  # for servers that fall silent; a busy machine may be silent too, so no other test uses it
    backoff=0.01, poll=0.05, ping_every=0.05, ping_timeout=0.5, busy_silence=1.5, stable_after=0.5
)


def stdio(
    *arguments: str, name: str = "raw", script: str = "raw.py", env: dict[str, str] | None = None, **keys: Any
) -> ServerConfig:
    transport = StdioTransport(sys.executable, (str(FOLDER / script), *arguments), env or {})
    return ServerConfig(name=name, namespace=name, transport=transport, **{"timeout": 20.0, **keys})


def remote(url: str, *, name: str = "remote", sse: bool = False, **keys: Any) -> ServerConfig:
    return ServerConfig(
        name=name, namespace=name, transport=HttpTransport(url, sse=sse), **{"timeout": 20.0, **keys}
    )


@asynccontextmanager
async def connected(
    config: ServerConfig,
    *,
    timing: Timing = FAST,
    pins: PinStore | None = None,
    around: Surroundings | None = None,
) -> AsyncGenerator[MCPServerAgent]:
    agent = MCPServerAgent(config, timing=timing, pins=pins, around=around)
    try:
        await agent.initialize()
        yield agent
    finally:
        await agent.shutdown()


async def eventually(condition: Callable[[], Any | Awaitable[Any]], *, seconds: float = 20.0) -> Any:
    """Wait until something is true; the deadline is generous because it only ever ends a broken run."""
    async with asyncio.timeout(seconds):
        while True:
            outcome = condition()
            if isinstance(outcome, Awaitable):
                outcome = await outcome
            if outcome:
                return outcome
            await asyncio.sleep(0.01)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def serving(app: Any, port: int | None = None) -> AsyncGenerator[str]:
    """An ASGI application on loopback; gives its address. Leaving drops its connections."""
    port = port or free_port()
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_level="critical", timeout_graceful_shutdown=1, ws="none"
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[method-assign]
    task = asyncio.create_task(server.serve())
    try:
        await eventually(lambda: server.started or task.done())
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = server.force_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        if server.started:  # a forced end leaves the application's own task behind
            await asyncio.wait_for(server.lifespan.shutdown(), 10)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def processes_of(marker: str) -> list[psutil.Process]:
    """Live processes whose command line holds `marker`."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if alive and any(marker in part for part in process.info["cmdline"] or ()):
            found.append(process)
    return found
