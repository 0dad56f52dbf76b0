"""A conversation with the planner through the one door."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from tests.support.deciders import deciding
from tests.support.door import PERSON, Door

from steward.agents.session import AgentSession
from steward.agents.turn.toolset import OrchestratorToolset, ToolOffer
from steward.models.planner.model import PlannerModel
from steward.models.reader import TextsApart, taught_reader
from steward.models.runs import Answered, run_agent
from steward.selection.fit import FitJudge

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@cache
def _judge() -> FitJudge:
    """As the product judges."""
    return FitJudge(TextsApart(), together=taught_reader())


@dataclass
class Talk:
    door: Door
    model: PlannerModel = field(default_factory=lambda: PlannerModel(now=lambda: NOW, judge=_judge()))
    offer: ToolOffer | None = None
    output_type: Any = field(default_factory=lambda: [str, DeferredToolRequests])
    history: Sequence[ModelMessage] = ()

    async def say(self, utterance: str) -> Any:
        """One turn, from the history as another process would read it."""
        return await self._run(utterance)

    async def agree(self, waits: DeferredToolRequests) -> Any:
        """A person says yes to everything that waits, and the run goes on."""
        for said in waits.metadata.values():
            await self.door.orchestrator.approvals.approve(said["proposal_id"], by=deciding(PERSON.id))
        approved = {call.tool_call_id: ToolApproved() for call in waits.approvals}
        return await self._run(None, DeferredToolResults(approvals=approved, metadata=waits.metadata))

    async def _run(self, utterance: str | None, deferred: DeferredToolResults | None = None) -> Any:
        stored = ModelMessagesTypeAdapter.dump_json(list(self.history))
        outcome = await run_agent(
            Agent(output_type=self.output_type, deps_type=AgentSession),
            utterance,
            deps=AgentSession(agent="assistant", user="ana", utterance=utterance),
            model=self.model,
            toolsets=[OrchestratorToolset(self.door.orchestrator, self.offer)],
            history=ModelMessagesTypeAdapter.validate_json(stored),
            deferred=deferred,
        )
        assert isinstance(outcome, Answered), outcome
        self.history = outcome.messages
        return outcome.output
