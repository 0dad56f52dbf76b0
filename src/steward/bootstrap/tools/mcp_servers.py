"""The servers of mcp.json, registered as agents, and registered again when the file says so.

Owns what a connection is given from the workspace: the environment, where tokens live, pins, masking.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steward.contract.errors import AgentError, ConfigError, ErrorCode, StewardError
from steward.contract.pins import PinStore
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.mcp.mcp_config import ServerConfig, load_mcp_config
from steward.providers.mcp.resources import AGENT as RESOURCES
from steward.providers.mcp.resources import resources_agent
from steward.providers.scripts.workers import stamp
from steward.settings import Settings, variables
from steward.telemetry.masking import MASKER

if TYPE_CHECKING:
    from steward.providers.mcp.server_agent import MCPServerAgent

logger = logging.getLogger(__name__)

BESIDE = "mcp-"  # before the name of a server that is called like one of our own agents


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a second look at mcp.json changed, by server."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


class Servers:
    """The workspace's servers. What is in flight on one that stays goes on undisturbed."""

    def __init__(
        self, orchestrator: Orchestrator, settings: Settings, pins: PinStore, rules: Callable[[], Rules]
    ) -> None:
        self._orchestrator = orchestrator
        self._settings = settings
        self._pins = pins
        self._rules = rules
        self._known: dict[str, ServerConfig] = {}
        self._running: dict[str, MCPServerAgent] = {}
        self._turn = asyncio.Lock()
        self._looked: tuple[object, str | None] = (None, None)

    def open(self) -> None:
        """Register what the file names; whoever starts all agents starts them. A broken file halts."""
        self._register(self._read())

    async def reload(self) -> Reloaded:
        """Take over what changed in the file. A broken file changes nothing."""
        async with self._turn:
            wanted = {server.name: server for server in self._read()}
            removed = tuple(name for name in self._known if name not in wanted)
            changed = tuple(name for name, old in self._known.items() if wanted.get(name, old) != old)
            added = tuple(name for name in wanted if name not in self._known)
            for name in (*removed, *changed):
                with suppress(AgentError):  # one that did not end cleanly is gone all the same
                    await self._orchestrator.lifecycle.stop(name)
                with suppress(AgentError):
                    await self._orchestrator.lifecycle.unregister(name)
                self._known.pop(name, None)
                self._running.pop(name, None)
            self._register([wanted[name] for name in (*changed, *added)])
            await self._orchestrator.lifecycle.start_all()
        return Reloaded(added, changed, removed)

    async def rejudge(self) -> None:
        """What a person accepted elsewhere counts here for the same definitions, and for no others."""
        for agent in tuple(self._running.values()):
            with suppress(StewardError, TimeoutError):  # one that is away is judged when it is back
                await agent.rejudge()

    def problem(self) -> str | None:
        """Why the file as it stands now could not be taken over; the servers are the last good ones."""
        now = stamp(self._settings.mcp_file)
        if self._looked[0] != (now,):
            try:
                load_mcp_config(self._settings.mcp_file)
                self._looked = ((now,), None)
            except ConfigError as error:
                self._looked = ((now,), error.explain())
        return self._looked[1]

    def _read(self) -> Sequence[ServerConfig]:
        config = load_mcp_config(self._settings.mcp_file)
        for note in config.notes:
            logger.info("mcp_config_note", extra={"note": note})
        return self._apart(config.servers)

    def _apart(self, servers: Sequence[ServerConfig]) -> Sequence[ServerConfig]:
        """A server that is called like one of our own agents stands beside it under a name of its own.

        Its tools keep the names that they have anywhere else: `files__read_file`.
        """
        taken = {RESOURCES, *(status.id for status in self._orchestrator.lifecycle.statuses())} - {
            *self._known
        }
        return [
            replace(server, name=f"{BESIDE}{server.name}") if server.name in taken else server
            for server in servers
        ]

    def _register(self, servers: Sequence[ServerConfig]) -> None:
        if not servers:
            return
        # Speaking MCP takes over a second to import, which a workspace without servers need not pay.
        from steward.providers.mcp.links import Surroundings  # noqa: PLC0415
        from steward.providers.mcp.oauth import BrowserSignIn  # noqa: PLC0415
        from steward.providers.mcp.pool import mcp_agents  # noqa: PLC0415
        from steward.providers.mcp.secrets import MappingSource, Secrets  # noqa: PLC0415

        around = Surroundings(
            secrets=Secrets(MappingSource(variables()), on_value=lambda value: MASKER.register((value,))),
            tokens=self._settings.home / "oauth",
            sign_in=BrowserSignIn(),
        )
        with suppress(AgentError):  # it is there from the first server on
            self._orchestrator.register_agent_factory(
                RESOURCES, lambda: resources_agent(lambda: self._running)
            )
        starts = {server.name: server.auto_start for server in servers}
        for name, make in mcp_agents(servers, around=around, pins=self._pins, rules=self._rules).items():
            try:
                self._orchestrator.register_agent_factory(
                    name, self._noted(name, make), auto_start=starts[name]
                )
            except AgentError as error:
                raise self._name_taken(name) from error
        self._known |= {server.name: server for server in servers}

    def _noted(self, name: str, make: "Callable[[], MCPServerAgent]") -> "Callable[[], MCPServerAgent]":
        def factory() -> "MCPServerAgent":
            self._running[name] = make()
            return self._running[name]

        return factory

    def _name_taken(self, name: str) -> ConfigError:
        return ConfigError(
            f"{self._settings.mcp_file}: there is an agent '{name}' already.",
            code=ErrorCode.CONFIG_INVALID,
            fix="Give the server another name.",
        )
