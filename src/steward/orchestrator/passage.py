"""One call on its way through the stages. Owns what they have found out so far, and nothing else."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from steward.contract.call import ToolCall, ToolResult
from steward.contract.errors import StewardError
from steward.orchestrator.proposals import Receipt
from steward.orchestrator.registry import RegisteredTool
from steward.policy.approval import Assessment


@dataclass(slots=True)
class Passage:
    call: ToolCall
    receipt: Receipt | None = None  # a person's yes; only approvals.py makes one
    tool: RegisteredTool | None = None
    assessment: Assessment | None = None
    started: float = field(default_factory=time.perf_counter)

    def resolved(self) -> RegisteredTool:
        if self.tool is None:
            raise StewardError("A stage ran before the tool was resolved.")
        return self.tool


Stage = Callable[[Passage], Awaitable[ToolResult]]
