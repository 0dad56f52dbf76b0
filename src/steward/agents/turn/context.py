"""What every turn works with: the door, the store, the model, and a profile made ready to run.

Holds nothing of a conversation. Made once, in bootstrap.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import Model

from steward.agents.profile import Profile
from steward.agents.session import AgentSession
from steward.agents.turn.toolset import OrchestratorToolset
from steward.contract.questions import QuestionStore
from steward.conversations.ports import ConversationStore
from steward.models.runs import RunLimits
from steward.orchestrator.orchestrator import Orchestrator
from steward.tasks.notices import NoticeStore
from steward.telemetry.traces import Traces


class GapBook(Protocol):
    """Where it is written down that something could not be done for want of a tool."""

    async def record(self, user: str, missing: Sequence[str], *, task: str, agent: str | None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """What every turn works with."""

    orchestrator: Orchestrator
    store: ConversationStore
    model: Callable[[], Model]
    tracer: Traces
    limits: RunLimits = field(default_factory=RunLimits)
    questions: QuestionStore | None = None
    spans: AbstractCapability[Any] | None = None
    gaps: GapBook | None = None
    notices: NoticeStore | None = None  # where calls of the user that a kill interrupted wait to be told


@dataclass(frozen=True, slots=True)
class ReadyAgent:
    """A profile made ready to run; holds nothing of a conversation."""

    profile: Profile
    agent: Agent[AgentSession, Any]
    toolset: OrchestratorToolset
