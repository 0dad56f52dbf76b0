"""Our gateway with everything on (rules, proposals, execution log), one stdio server behind it.

steward_gateway.py PORT COMMAND [ARG ...]
"""

import sys
import tempfile
from pathlib import Path

import uvicorn
import uvloop

from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.server_agent import MCPServerAgent
from steward.selection.lexical import LexicalRanker
from steward.servers.gateway.guard import GatewayGuard, OpenDoor, RateLimit
from steward.servers.gateway.http import HttpGateway
from steward.servers.gateway.server import Gateway
from steward.telemetry.executions import ExecutionLogFile
from steward.telemetry.traces import NoTracing
from steward.testing import MemoryProposalStore


async def main(port: int, command: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = ExecutionLogFile(Path(folder))
        rules = Rules()
        door = Orchestrator(proposals=MemoryProposalStore(), log=log, tracer=NoTracing(), rules=lambda: rules)
        transport = StdioTransport(command=command[0], args=tuple(command[1:]))
        door.register_agent(
            MCPServerAgent(ServerConfig(name="echo", transport=transport, namespace="", trusted=True))
        )
        await door.lifecycle.start_all()
        gateway = Gateway(door, ranker=LexicalRanker())
        app = HttpGateway(
            gateway, door, guard=GatewayGuard(OpenDoor(), limit=RateLimit(per_minute=1e9, burst=1e9))
        )
        config = uvicorn.Config(
            app,
            port=port,
            log_level="error",
            http="auto",
            loop="auto",
            lifespan="off",
            access_log=False,
            proxy_headers=False,
        )
        async with app.run():
            await uvicorn.Server(config).serve()
        await door.lifecycle.stop_all()
        log.close()


uvloop.run(main(int(sys.argv[1]), sys.argv[2:]))
