"""A server of our own behind the door: its tools under their bare names, rated by us.

Owns what the house says about a built-in tool beside the server's own definition: effect, risk, aliases, for
whom it acts. The server runs in this process and is spoken to over MCP like any other, so that what an agent
sees is what every client sees.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from steward.contract.agent import AgentManifest
from steward.contract.call import Failed, ToolResult
from steward.contract.errors import AgentError, ErrorCode
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.providers.mcp.links import memory_opener
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.server_agent import MCPServerAgent

if TYPE_CHECKING:
    from fastmcp import FastMCP

NOWHERE = StdioTransport(command="")  # never started: the server is in this process
START_SECONDS = 28.0  # only a busy machine delays it, and without it tools would be missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool:
    """What the house says about one tool of its own server."""

    effect: Effect
    risk: RiskLevel | None = None  # beside the built-in table, which cannot be lowered
    aliases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    timeout: float | None = None
    user_argument: str | None = None
    checks_itself: bool = False
    tell: Callable[[Mapping[str, Any]], Awaitable[str | None]] | None = None
    """What a call with these arguments would do, in plain words."""


class BuiltinServerAgent(MCPServerAgent):
    """An MCP server in this process whose tools carry our ratings; its resources and prompts come along."""

    def __init__(
        self,
        agent_id: str,
        server: "FastMCP[Any]",
        tools: Mapping[str, BuiltinTool],
        *,
        name: str | None = None,
        category: str | None = None,
    ) -> None:
        config = ServerConfig(
            name=agent_id, transport=NOWHERE, namespace="", trusted=True, timeout=START_SECONDS
        )
        super().__init__(config, opener=memory_opener(server))
        self._patience = START_SECONDS
        self._name = name or agent_id
        self._tools = dict(tools)
        self._category = category

    async def initialize(self) -> None:
        await super().initialize()
        offered = {spec.name for spec in super().manifest().tools}
        if offered != self._tools.keys():
            differing = ", ".join(sorted(offered ^ self._tools.keys()))
            raise AgentError(
                f"The server '{self.config.name}' and what the house says about it differ: {differing}.",
                code=ErrorCode.AGENT_INIT_FAILED,
                fix="Rate every tool of the server, and only those.",
            )

    async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
        result = await super().execute(tool, params)
        return _told(result) if isinstance(result, Failed) else result

    async def tell(self, tool: str, params: Mapping[str, Any]) -> str | None:
        said = self._tools.get(tool)
        return None if said is None or said.tell is None else await said.tell(params)

    def manifest(self) -> AgentManifest:
        inner = super().manifest()
        return replace(inner, name=self._name, tools=tuple(map(self._ours, inner.tools)))

    def _ours(self, spec: ToolSpec) -> ToolSpec:
        said = self._tools[spec.name]
        return replace(
            spec,
            origin=Origin.BUILTIN,
            effect=said.effect,
            risk=said.risk,
            aliases=said.aliases,
            examples=said.examples,
            timeout=said.timeout,
            user_argument=said.user_argument,
            checks_itself=said.checks_itself,
            category=self._category,
        )


def _told(failed: Failed) -> Failed:
    """Our servers say in their answer, or in the data of a JSON-RPC error, what failed and what helps."""
    data = failed.data if failed.data is not None else getattr(failed.native, "data", None)
    if not isinstance(data, dict):
        return failed
    said = cast("dict[str, Any]", data)
    code, message = said.get("code"), said.get("message")
    if "error_code" in said and "details" in said:
        words = [said["details"], said.get("guidance")]
        code, message = said["error_code"], " ".join(str(word) for word in words if word)
    if not isinstance(code, str) or not isinstance(message, str):
        return failed
    return replace(
        failed,
        code=code,
        error=message,
        retryable=bool(said.get("retryable", False)),
        outcome_unknown=failed.outcome_unknown or said.get("outcome_unknown") is True,
    )
