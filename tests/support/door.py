"""A door for tests: an orchestrator on the shipped stand-ins, and functions to put behind it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from steward.contract.call import Caller, CallerKind, ToolCall, ToolResult
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.orchestrator.lifecycle import LifecycleLimits
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.ports import Notifier
from steward.policy.rules import Rules
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.testing import MemoryExecutionLog, MemoryProposalStore, MemoryRuleKeeper, MemoryTracer

PERSON = Caller(CallerKind.PERSON, "ana")
MODEL = Caller(CallerKind.AGENT, "assistant")


@dataclass
class Door:
    limits: LifecycleLimits = field(default_factory=LifecycleLimits)
    rules: Rules = field(default_factory=Rules)
    notifier: Notifier | None = None
    expiry: timedelta | None = None
    store: MemoryProposalStore = field(default_factory=MemoryProposalStore)
    log: MemoryExecutionLog = field(default_factory=MemoryExecutionLog)
    tracer: MemoryTracer = field(default_factory=MemoryTracer)
    keeper: MemoryRuleKeeper | None = None  # then the rules are those that it keeps

    def __post_init__(self) -> None:
        self.orchestrator = Orchestrator(
            proposals=self.store,
            log=self.log,
            tracer=self.tracer,
            rules=lambda: self.rules if self.keeper is None else self.keeper.rules,
            keeper=self.keeper,
            limits=self.limits,
            notifier=self.notifier,
            proposal_expiry=self.expiry,
        )

    async def with_tools(self, *tools: FunctionTool, agent: str = "functions", **manifest: Any) -> "Door":
        self.orchestrator.register_agent(LegacyToolAgent(agent, tools, **manifest))
        await self.orchestrator.lifecycle.start_all()
        return self

    async def call(self, tool: str, caller: Caller = MODEL, **arguments: Any) -> ToolResult:
        return await self.orchestrator.execute(ToolCall(tool=tool, arguments=arguments, caller=caller))


def tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    risk: RiskLevel | None = RiskLevel.REVERSIBLE,
    origin: Origin = Origin.BUILTIN,
    effect: Effect = Effect.READS,
    **spec: Any,
) -> FunctionTool:
    """A function behind the door; harmless unless the test says otherwise."""
    definition = ToolSpec(
        name=name or function.__name__,
        description=function.__doc__ or "A function.",
        risk=risk,
        origin=origin,
        effect=effect,
        **spec,
    )
    return FunctionTool(definition, function)
