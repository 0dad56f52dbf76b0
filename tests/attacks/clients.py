"""Programs of an attacker that speak MCP: one says yes to every question, one cannot be asked."""

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp_types import Implementation
from tests.attacks.conftest import Victim

ROBOT = Implementation(name="robot", version="1")


class Obliging:
    """Says yes to whatever it is asked, with nobody looking."""

    def __init__(self, **content: Any) -> None:
        self.content = content or {"approve": True}
        self.asked: list[str] = []

    async def __call__(self, message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, Any]:
        del response_type, params, ctx
        self.asked.append(message)
        return self.content


def over_http(
    url: str, key: str, *, path: str = "/mcp", era: str = "auto", answers: Obliging | None = None
) -> Client[Any]:
    transport = StreamableHttpTransport(f"{url}{path}", headers={"X-API-Key": key})
    handlers: dict[str, Any] = {} if answers is None else {"elicitation_handler": answers}
    return Client(transport, mode=era, client_info=ROBOT, **handlers)


@asynccontextmanager
async def over_pipe(
    victim: Victim, arguments: Sequence[str], *, era: str = "auto", answers: Obliging | None = None
) -> AsyncGenerator[Client[Any]]:
    """`steward serve …` of the victim's home, as a desktop client starts it."""
    command = ["-m", "steward", "serve", *arguments]
    transport = StdioTransport(
        sys.executable, command, env=dict(victim.environment), cwd=str(victim.folder), keep_alive=False
    )
    handlers: dict[str, Any] = {} if answers is None else {"elicitation_handler": answers}
    async with Client(transport, mode=era, client_info=ROBOT, **handlers) as mcp:
        yield mcp
