"""One call on its way through the stages. Owns what they have found out so far, and nothing else."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from steward.contract.call import ToolCall, ToolResult
from steward.contract.errors import StewardError
from steward.contract.tool import Effect, Origin
from steward.orchestrator.proposals import Receipt
from steward.orchestrator.registry import RegisteredTool
from steward.policy.approval import Assessment


@dataclass(slots=True)
class CallInProgress:
    call: ToolCall
    receipt: Receipt | None = None  # a person's yes; only approvals.py makes one
    tool: RegisteredTool | None = None
    assessment: Assessment | None = None
    started: float = field(default_factory=time.perf_counter)
    begun: bool = False  # its intent is on record: from here on it may have happened

    def resolved(self) -> RegisteredTool:
        if self.tool is None:
            raise StewardError("A stage ran before the tool was resolved.")
        return self.tool

    @property
    def only_reads(self) -> bool:
        """A declared read of a built-in tool. What others say of their tools is no reason to trust them."""
        return (
            self.assessment is not None
            and self.assessment.effect is Effect.READS
            and self.resolved().spec.origin is Origin.BUILTIN
        )

    @property
    def owner(self) -> str | None:
        """For whom it is: the session's user, or where it has none the one that the call names."""
        if self.call.user is not None or self.tool is None:
            return self.call.user
        argument = self.tool.spec.user_argument
        named = None if argument is None else self.call.arguments.get(argument)
        return named if isinstance(named, str) else None


Stage = Callable[[CallInProgress], Awaitable[ToolResult]]
