"""The one door: every tool call in the product is `Orchestrator.execute`.

Owns the order of the stages and nothing else: names are the registry's, lives the lifecycle's,
decisions of people the approvals'.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from steward.contract.agent import Agent, AgentFactory
from steward.contract.call import ToolCall, ToolResult
from steward.contract.errors import ConfigError
from steward.contract.tool import RiskLevel, ToolSpec
from steward.orchestrator.approvals import Approvals
from steward.orchestrator.call_in_progress import CallInProgress, Stage
from steward.orchestrator.lasting_answers import LastingAnswers
from steward.orchestrator.lifecycle import Lifecycle, LifecycleLimits
from steward.orchestrator.metrics import Metrics
from steward.orchestrator.ports import Clock, ExecutionLog, Notifier, ProposalStore, RuleKeeper, Tracer
from steward.orchestrator.proposals import Receipt
from steward.orchestrator.registry import Registry
from steward.orchestrator.running import Limit, Run, ValidateOutput
from steward.orchestrator.stages import (
    ActFor,
    Approve,
    AssessRisk,
    PathResolver,
    Record,
    Resolve,
    ValidateInput,
)
from steward.policy.approval import Rules, assess


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Orchestrator:
    def __init__(
        self,
        *,
        proposals: ProposalStore,
        log: ExecutionLog,
        tracer: Tracer,
        rules: Callable[[], Rules],
        clock: Clock | None = None,
        limits: LifecycleLimits | None = None,
        notifier: Notifier | None = None,
        resolve_path: PathResolver | None = None,
        proposal_expiry: timedelta | None = None,
        keeper: RuleKeeper | None = None,
    ) -> None:
        clock = clock or SystemClock()
        limits = limits or LifecycleLimits()
        self._limits = limits
        self._rules = rules
        self.registry = Registry()
        self.metrics = Metrics()
        self.lifecycle = Lifecycle(self.registry, limits)
        self.approvals = Approvals(
            store=proposals,
            registry=self.registry,
            clock=clock,
            run=self._execute_approved,
            pause=limits.store_again,
            lasting=LastingAnswers(rules=rules, resolve=resolve_path, keeper=keeper),
        )
        stage: Stage = Run(
            log=log, clock=clock, default_timeout=limits.tool, metrics=self.metrics, grace=limits.grace
        )
        stage = ValidateOutput(stage)
        stage = Limit(stage, default_timeout=limits.tool)
        self._approve = Approve(
            stage,
            store=proposals,
            notifier=notifier,
            clock=clock,
            expiry=proposal_expiry,
            routing_limit=limits.routing,
        )
        stage = AssessRisk(self._approve, rules=rules, resolve_path=resolve_path)
        stage = ValidateInput(stage)
        stage = ActFor(stage)
        stage = Resolve(stage, registry=self.registry)
        self._door = Record(stage, log=log, tracer=tracer, metrics=self.metrics, clock=clock)

    async def execute(self, call: ToolCall) -> ToolResult:
        """Run one call, or say why not. Never raises for anything a tool or a caller did."""
        return await self._door(CallInProgress(call))

    def rating(self, spec: ToolSpec) -> RiskLevel:
        """What a call to this tool is rated before its arguments are known; the highest without rules."""
        try:
            return assess(spec, {}, self._rules()).level
        except ConfigError:
            return RiskLevel.IRREVERSIBLE

    def register_agent_factory(self, name: str, factory: AgentFactory, *, auto_start: bool = True) -> None:
        """The orchestrator makes the agent when it starts it, and makes a new one when it starts it again."""
        self.lifecycle.register(name, factory, auto_start=auto_start)

    def register_agent(self, agent: Agent) -> None:
        """For an agent that exists already; the same instance is started again after a stop."""
        self.lifecycle.register(agent.manifest().id, lambda: agent)

    async def settle(self) -> None:
        """Before the end: a command that lives for one call must still get its news and outcome out."""
        await asyncio.gather(
            self._approve.settle(self._limits.news), self.approvals.settle(self._limits.news)
        )

    def manifest(self, *, namespace: str | None = None) -> list[dict[str, Any]]:
        """Every tool that can be called now, as a model's context needs it."""
        return [
            tool.spec.manifest_entry() for tool in self.registry.select(namespace=namespace) if tool.available
        ]

    async def _execute_approved(self, call: ToolCall, receipt: Receipt) -> ToolResult:
        return await self._door(CallInProgress(call, receipt=receipt))
