"""What an agent is: anything with a manifest whose tools the orchestrator executes.

The `Agent` protocol and `ToolResult` are the stable surface (semantic versioning, a release of
deprecation warnings before a removal). Owns no lifecycle: the orchestrator starts and stops agents.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from steward.contract.call import ToolResult
from steward.contract.tool import ToolSpec


class LifecycleState(StrEnum):
    """Open for additions: readers treat an unknown state as 'not running'."""

    INITIALIZED = "initialized"
    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"  # running, but its other side cannot be reached now


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentManifest:
    id: str
    name: str
    tools: tuple[ToolSpec, ...]
    capabilities: tuple[str, ...] = ()
    requires_approval: bool = False  # every call to any of its tools waits for a person


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    healthy: bool
    detail: str = ""
    facts: Mapping[str, Any] | None = None  # what an operator wants to see: pid, version, last stderr lines


class Agent(Protocol):
    """Implementations raise `AgentError` from `initialize` and `shutdown`.

    `execute` answers with a `ToolResult`; an exception it lets out becomes a failed result and the
    agent stays available.
    """

    async def initialize(self) -> None: ...

    async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult: ...

    async def shutdown(self) -> None: ...

    def manifest(self) -> AgentManifest: ...

    async def health(self) -> Health: ...


AgentFactory = Callable[[], Agent | Awaitable[Agent]]


@runtime_checkable
class ChangingAgent(Protocol):
    """An agent whose tools or reachability change while it runs; it tells whoever listens."""

    def subscribe(self, listener: Callable[[], None]) -> None: ...

    def available(self) -> bool: ...


@runtime_checkable
class ExplainingAgent(Protocol):
    """An agent that can say in a line why it is not available, without being asked over a wire."""

    def problem(self) -> str | None: ...


@runtime_checkable
class TellingAgent(Protocol):
    """An agent that can say what a call would do, before a person is asked about it."""

    async def tell(self, tool: str, params: Mapping[str, Any]) -> str | None:
        """As things stand now, in plain words: "forgets all 3 memories". None where the call says it all."""
        ...


@runtime_checkable
class DecliningAgent(Protocol):
    """An agent with a Steward behind it, whose proposals are decided here."""

    async def decline(self, tool: str, params: Mapping[str, Any]) -> None:
        """Tell it the no in the current call's decision. Raises `StewardError` where it cannot be told."""
        ...


@runtime_checkable
class RenewingAgent(Protocol):
    """An agent whose tools are files that change under it; it looks again when it is told to."""

    def renew(self, tool: str) -> None:
        """Make the definition of this tool what is there now, and tell whoever listens. Must not raise."""
        ...


class PromptAgent(Protocol):
    """An agent of which nothing goes on once its call is cancelled, so that a deadline needs no more."""

    @property
    def ends_when_cancelled(self) -> bool: ...


def ends_when_cancelled(agent: Agent) -> bool:
    return getattr(agent, "ends_when_cancelled", False) is True
