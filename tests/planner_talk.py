"""A conversation with the planner through the one door."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from tests.door import Door

from steward.agents.session import Session
from steward.agents.toolset import Offer, OrchestratorToolset
from steward.models.planner.model import PlannerModel
from steward.models.runs import Answered, run_agent

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@dataclass
class Talk:
    door: Door
    model: PlannerModel = field(default_factory=lambda: PlannerModel(now=lambda: NOW))
    offer: Offer | None = None
    output_type: Any = field(default_factory=lambda: [str, DeferredToolRequests])
    history: Sequence[ModelMessage] = ()

    async def say(self, utterance: str) -> Any:
        """One turn, from the history as another process would read it."""
        stored = ModelMessagesTypeAdapter.dump_json(list(self.history))
        outcome = await run_agent(
            Agent(output_type=self.output_type, deps_type=Session),
            utterance,
            deps=Session(agent="assistant", user="ana", utterance=utterance),
            model=self.model,
            toolsets=[OrchestratorToolset(self.door.orchestrator, self.offer)],
            history=ModelMessagesTypeAdapter.validate_json(stored),
        )
        assert isinstance(outcome, Answered), outcome
        self.history = outcome.messages
        return outcome.output
