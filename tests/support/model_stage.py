"""A stage for turns on a language model: real wire to a scripted one, real database, tools that remember."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.support.deciders import deciding
from tests.support.door import Door, tool
from tests.support.scripted_model import ScriptedModel, scripted_model

from steward.agents.chat import Chat
from steward.agents.profile import Conduct, Guard, Profile
from steward.agents.turn.context import TurnContext
from steward.contract.call import Caller, CallerKind
from steward.contract.errors import ToolError
from steward.contract.tool import Effect, RiskLevel
from steward.conversations.model import Answer, CallStatus, Speaker, TurnEvent
from steward.models.catalog import Catalog, ModelConfig
from steward.models.resilient import Patience
from steward.models.runs import RunLimits
from steward.models.spans import model_spans
from steward.providers.human_input import request_human_input_tool
from steward.storage.conversations import PostgresConversationStore
from steward.storage.database.postgres import Database
from steward.storage.questions import PostgresQuestionStore
from steward.storage.tasks import PostgresUserStore
from steward.tasks.model import User
from steward.telemetry.traces import NoTracing, Traces
from steward.telemetry.tracing import Tracing

ANA = Speaker(user="ana", caller=Caller(CallerKind.PERSON, "ana"), decider=deciding("ana"))
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


async def _no_wait(_: float) -> None:
    return None


@dataclass
class Stage:
    """Tools that remember what they did, a model that says what it is told, and somebody who talks."""

    model: ScriptedModel
    store: PostgresConversationStore
    questions: PostgresQuestionStore
    tracer: Traces = field(default_factory=NoTracing)
    rules: tuple[Guard, ...] = ()
    conduct: Conduct | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    noted: list[str] = field(default_factory=list)
    burned: list[str] = field(default_factory=list)
    events: list[TurnEvent] = field(default_factory=list)
    here: str | None = None

    async def open(self) -> "Stage":
        async def note(title: str) -> dict[str, str]:
            """Note it."""
            self.noted.append(title)
            return {"noted": title}

        def fail(title: str) -> None:
            """Fails."""
            raise ToolError("The shelf is empty.", code="SHELF_EMPTY")

        def burn(title: str) -> dict[str, str]:
            """Burn it for good."""
            self.burned.append(title)
            return {"burned": title}

        self.door = await Door(tracer=self.tracer).with_tools(  # pyright: ignore[reportArgumentType]
            tool(note, input_schema=TITLE, effect=Effect.WRITES_STORE),
            tool(fail, input_schema=TITLE),
            tool(burn, input_schema=TITLE, risk=RiskLevel.IRREVERSIBLE, effect=Effect.WRITES_STORE),
            request_human_input_tool(self.questions),
        )
        return self

    def profile(self) -> Profile:
        return Profile(
            name="keeper",
            description="Keeps things.",
            instructions="Keep things.",
            rules=self.rules,
            conduct=self.conduct,
        )

    def chat(self, profile: Profile | None = None) -> Chat:
        """A new one every time: nothing is kept in it."""
        config = ModelConfig(choice="openai:m", openai_base_url=self.model.address)
        patience = Patience(sleep=_no_wait)
        catalog = Catalog(config, planner=lambda: pytest.fail("no planner here"), patience=patience)
        spans = model_spans(self.tracer.provider) if isinstance(self.tracer, Tracing) else None
        house = TurnContext(
            orchestrator=self.door.orchestrator,
            store=self.store,
            model=catalog.model,
            tracer=self.tracer,
            limits=self.limits,
            questions=self.questions,
            spans=spans,
        )
        profile = profile or self.profile()
        return Chat(house, [profile, replace(profile, name="other")])

    async def say(self, text: str, *script: Any, speaker: Speaker = ANA, chat: Chat | None = None) -> Answer:
        self.model.script[:] = script

        async def listen(event: TurnEvent) -> None:
            self.events.append(event)

        answer = await (chat or self.chat()).turn(
            text, speaker=speaker, agent="keeper", conversation=self.here, listener=listen
        )
        self.here = answer.conversation
        return answer

    def shown(self) -> list[dict[str, Any]]:
        """The messages of the latest request to the model."""
        return self.model.requests[-1]["messages"]


@asynccontextmanager
async def staged(database: Database, **more: Any) -> AsyncIterator[Stage]:
    await PostgresUserStore(database).add(User(id="ana", name="Ana", time_zone="UTC"))
    async with scripted_model() as model:
        yield await Stage(
            model, PostgresConversationStore(database), PostgresQuestionStore(database), **more
        ).open()


def statuses(answer: Answer) -> list[tuple[str, CallStatus]]:
    return [(call.tool, call.status) for call in answer.tool_calls]
