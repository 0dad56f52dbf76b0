"""The servers of mcp.json, registered as agents.

Owns what a connection is given from the workspace: the environment, where tokens live, pins, masking.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from steward.contract.errors import AgentError, ConfigError
from steward.contract.pins import PinStore
from steward.orchestrator.orchestrator import Orchestrator
from steward.providers.mcp_config import load_mcp_config
from steward.providers.resources import AGENT as RESOURCES
from steward.providers.resources import resources_agent
from steward.settings import Settings, variables
from steward.telemetry.masking import MASKER

if TYPE_CHECKING:
    from steward.providers.mcp import MCPServerAgent

logger = logging.getLogger(__name__)


def register_servers(orchestrator: Orchestrator, settings: Settings, pins: PinStore) -> None:
    config = load_mcp_config(settings.mcp_file)
    for note in config.notes:
        logger.info("mcp_config_note", extra={"note": note})
    if not config.servers:
        return
    # Speaking MCP takes over a second to import, which a workspace without servers need not pay.
    from steward.providers.links import Surroundings  # noqa: PLC0415
    from steward.providers.oauth import BrowserSignIn  # noqa: PLC0415
    from steward.providers.pool import mcp_agents  # noqa: PLC0415
    from steward.providers.secrets import MappingSource, Secrets  # noqa: PLC0415

    around = Surroundings(
        secrets=Secrets(MappingSource(variables()), on_value=lambda value: MASKER.register((value,))),
        tokens=settings.home / "oauth",
        sign_in=BrowserSignIn(),
    )
    running: dict[str, MCPServerAgent] = {}

    def noted(name: str, make: "Callable[[], MCPServerAgent]") -> "Callable[[], MCPServerAgent]":
        def factory() -> "MCPServerAgent":
            running[name] = make()
            return running[name]

        return factory

    starts = {server.name: server.auto_start for server in config.servers}
    orchestrator.register_agent_factory(RESOURCES, lambda: resources_agent(lambda: running))
    for name, make in mcp_agents(config.servers, around=around, pins=pins).items():
        try:
            orchestrator.register_agent_factory(name, noted(name, make), auto_start=starts[name])
        except AgentError as error:
            raise ConfigError(
                f"{settings.mcp_file}: '{name}' is the name of one of Steward's own agents.",
                fix="Give the server another name.",
            ) from error
