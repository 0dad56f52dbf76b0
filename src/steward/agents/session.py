"""On whose behalf an agent runs: what every call of a run has in common. Holds no state between runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from steward.agents.turn.journal import Journal
from steward.agents.turn.ledger import Ledger, Shown
from steward.contract.call import Caller, CallerKind, Channel, Failed, new_id
from steward.contract.runs import RunRecord
from steward.contract.tool import ToolSpec
from steward.conversations.model import CallRecord


class Watch(Protocol):
    """Looks at each call of a run on both sides of the door."""

    def admit(self, spec: ToolSpec, arguments: Mapping[str, Any], session: "AgentSession") -> Failed | None:
        """None lets the call go on; a failure is what the model reads instead of a result."""
        ...

    async def started(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> None: ...

    async def ended(self, record: CallRecord) -> None: ...

    async def shown(self, shown: Shown) -> None:
        """Only some of the tools were shown to the model."""
        ...


class NoWatch(Watch):
    """Lets everything pass and tells nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """The dependencies of a run. The user comes from the surface that took the turn, never from a model."""

    agent: str
    errand: str | None = None  # what set it off where no person did, such as a schedule
    user: str | None = None
    utterance: str | None = None  # what the person said this turn
    conversation: str | None = None
    correlation_id: str = field(default_factory=new_id)
    channel: Channel | None = field(default=None, compare=False, repr=False)
    ledger: Ledger = field(default_factory=Ledger, compare=False, repr=False)
    run: RunRecord = field(default_factory=RunRecord, compare=False, repr=False)
    watch: Watch = field(default_factory=NoWatch, compare=False, repr=False)
    journal: Journal | None = field(default=None, compare=False, repr=False)  # None: nothing is kept of it

    @property
    def caller(self) -> Caller:
        """Who asks, by name."""
        name = self.agent if self.errand is None else f"{self.agent} ({self.errand})"
        return Caller(CallerKind.AGENT, name)
