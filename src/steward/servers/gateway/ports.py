"""What the gateway needs from the house: the door, what servers offer beside tools, and who may enter.

The orchestrator is the door. Owns no behaviour.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from steward.contract.call import Caller, Channel, ToolCall, ToolResult
from steward.contract.tool import ToolSpec


class Door(Protocol):
    """Every call goes through it, and every decision of a person on a call that waits."""

    async def execute(self, call: ToolCall) -> ToolResult: ...

    def specs(self) -> Sequence[ToolSpec]:
        """Every tool that can be called now."""
        ...

    def find(self, name: str) -> ToolSpec | None:
        """By name or alias."""
        ...

    async def approve(
        self, proposal_id: str, *, approver: Caller, via: str, channel: Channel | None = None
    ) -> ToolResult: ...

    async def reject(self, proposal_id: str, *, by: Caller, why: str | None = None) -> None: ...

    def subscribe(self, listener: Callable[[], None]) -> None:
        """`listener` runs whenever the tools change."""
        ...


class Library(Protocol):
    """Resources and prompts of all servers, in the protocol's own shapes.

    Raises `NotFoundError` for what no server has.
    """

    async def resources(self) -> Sequence[Mapping[str, Any]]: ...

    async def templates(self) -> Sequence[Mapping[str, Any]]: ...

    async def read(self, uri: str) -> Mapping[str, Any]: ...

    async def prompts(self) -> Sequence[Mapping[str, Any]]: ...

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any]: ...

    async def complete(self, params: Mapping[str, Any]) -> Mapping[str, Any]: ...

    async def watch(self, uri: str) -> None:
        """Ask the server that owns it to tell of changes; they arrive through `subscribe`."""
        ...

    async def unwatch(self, uri: str) -> None: ...

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """`listener` gets the URI of every watched resource that changed."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """Whoever holds a key: its name is what logs and proposals show."""

    id: str
    may_use: bool = True


class Doorkeeper(Protocol):
    """Knows keys. `None` for a key it does not know, and for no key where one is needed."""

    async def admit(self, key: str | None) -> Member | None: ...


class OpenDoor:
    """No keys: everyone who reaches this machine's own address is its user."""

    async def admit(self, key: str | None) -> Member | None:
        del key
        return Member("local")
