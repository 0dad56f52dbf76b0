"""What the orchestrator needs from outside: a place for proposals, a record of calls, spans, news."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from steward.contract.call import ToolCall, ToolResult
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Proposal, Receipt
from steward.policy.rules import Rule


@dataclass(frozen=True, slots=True)
class Page:
    """A slice of a list; `next` is the cursor of the following slice, None at the end."""

    items: Sequence[Proposal]
    next: str | None = None


class ProposalStore(Protocol):
    """Keeps proposals. Each method is one atomic step, safe between processes."""

    async def add(self, proposal: Proposal) -> None: ...

    async def get(self, proposal_id: str) -> Proposal | None: ...

    async def list(
        self,
        *,
        states: Sequence[str] = (),
        user: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        """Newest first; `states` by `state_name`, empty for all; `user`: only theirs; `after`: a `next`."""
        ...

    async def claim(self, proposal_id: str, receipt: Receipt) -> bool:
        """Waiting and not expired becomes Running with this receipt. True for exactly one caller, ever."""
        ...

    async def finish(self, proposal_id: str, result: Mapping[str, Any], *, at: datetime) -> None:
        """Running (or OutcomeUnknown, when the claimant turns out to live) becomes Finished."""
        ...

    async def reject(self, proposal_id: str, *, by: str, at: datetime, why: str | None) -> bool:
        """Waiting becomes Rejected. False when it was not waiting."""
        ...


class Notifier(Protocol):
    """Tells a person that something waits. Called off the call's path; may fail without consequence."""

    async def notify(self, proposal: Proposal) -> None: ...


class RuleKeeper(Protocol):
    """Keeps the workspace's rules. Each method is one atomic step, safe between processes."""

    async def add(self, rule: Rule, *, note: str) -> bool:
        """False where it stands already. `note` says who made it."""
        ...

    async def remove(self, rule_id: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What is about to run: the line of the record that is there before anything happened."""

    at: datetime
    tool: str
    agent: str
    call: ToolCall
    risk: RiskLevel | None
    user: str | None = None  # for whom: the session's user, or the one that the call names
    receipt: Receipt | None = None  # a person's yes, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What became of a call: the line of the record that is there once it ended."""

    at: datetime
    tool: str
    agent: str | None
    call: ToolCall
    result: ToolResult
    risk: RiskLevel | None
    only_read: bool = False
    user: str | None = None
    receipt: Receipt | None = None
    begun: bool = False  # its intent stands in the record, with what went in


class ExecutionLog(Protocol):
    async def begin(self, intent: Intent) -> None:
        """Write that this is about to run, before it does; on the disk where it cannot be undone.

        Raises UnavailableError (RECORD_FAILED) where that cannot be written: then nothing runs.
        """
        ...

    def append(self, execution: Execution) -> None:
        """One append, nothing slower. A log that cannot be written keeps the line and tries again.

        What may have changed something is written before this returns; what only read may be written in
        the loop's next turn, so that its answer need not wait.
        """
        ...

    def accepting(self) -> bool:
        """False once nothing more can be kept: the door closes rather than run unrecorded."""
        ...


class CallSpan(Protocol):
    def finish(self, result: ToolResult, *, risk: RiskLevel | None = None) -> None:
        """`risk` is what the call was rated; None when it never came so far."""
        ...


class Tracer(Protocol):
    def tool_call(self, call: ToolCall) -> AbstractContextManager[CallSpan]:
        """A span `mcp_tool_call:{tool}` around the whole way of one call."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...
