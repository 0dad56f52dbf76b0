"""All servers of mcp.json at once.

Owns making an agent for each and connecting them in parallel. A server that fails is shown, never in the way.
"""

import asyncio
from collections.abc import Callable, Sequence

from steward.contract.pins import PinStore
from steward.policy.rules import Rules
from steward.providers.mcp.connection import Timing
from steward.providers.mcp.links import Surroundings
from steward.providers.mcp.mcp_config import ServerConfig
from steward.providers.mcp.server_agent import MCPServerAgent


def mcp_agents(
    servers: Sequence[ServerConfig],
    *,
    around: Surroundings | None = None,
    pins: PinStore | None = None,
    rules: Callable[[], Rules] = Rules,
    timing: Timing | None = None,
) -> dict[str, Callable[[], MCPServerAgent]]:
    """A factory for each server, by name, for `Orchestrator.register_agent_factory`."""

    def factory(server: ServerConfig) -> Callable[[], MCPServerAgent]:
        return lambda: MCPServerAgent(server, around=around, pins=pins, rules=rules, timing=timing)

    return {server.name: factory(server) for server in servers}


async def setup_mcp_tools(
    servers: Sequence[ServerConfig],
    *,
    around: Surroundings | None = None,
    pins: PinStore | None = None,
    timing: Timing | None = None,
) -> tuple[MCPServerAgent, ...]:
    """Connect every server that starts by itself, all at the same time.

    Answers when each is connected or its time is up; ask each agent's `health` which it was.
    """
    made = mcp_agents(
        [server for server in servers if server.auto_start], around=around, pins=pins, timing=timing
    )
    agents = tuple(make() for make in made.values())
    await asyncio.gather(*(agent.initialize() for agent in agents))
    return agents
