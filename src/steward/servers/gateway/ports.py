"""What the gateway needs beside the door: what servers offer beside tools, and who may enter."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from steward.contract.deciding import Role
from steward.servers.gateway.views import Target


class OfferedContents(Protocol):
    """Resources and prompts of all servers, in the protocol's own shapes.

    Raises `NotFoundError` for what no server has.
    """

    async def resources(self) -> Sequence[Mapping[str, Any]]: ...

    async def templates(self) -> Sequence[Mapping[str, Any]]: ...

    async def reading(self, uri: str) -> Target:
        """The call that reads it."""
        ...

    async def prompts(self) -> Sequence[Mapping[str, Any]]: ...

    async def prompting(self, name: str, arguments: Mapping[str, str]) -> Target:
        """The call that gets it, filled in."""
        ...

    async def completing(self, params: Mapping[str, Any]) -> Target:
        """The call that asks how an argument may go on."""
        ...

    async def watching(self, uri: str, *, watched: bool) -> Target:
        """The call that has its server tell of changes, which arrive through `subscribe`; or no more."""
        ...

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """`listener` gets the URI of every watched resource that changed."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """Whoever holds a key: its name is what logs and proposals show."""

    id: str
    user: str | None = (
        None  # for whom its calls act; None: for whomever a call names, this machine's person else
    )
    role: Role = Role.USE

    @property
    def may_use(self) -> bool:
        return self.role >= Role.USE


class Doorkeeper(Protocol):
    """Knows keys. `None` for a key it does not know, and for no key where one is needed."""

    async def admit(self, key: str | None, scope: MutableMapping[str, Any]) -> Member | None:
        """`scope` is the ASGI scope of the request that brought the key."""
        ...
