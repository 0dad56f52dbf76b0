"""A platform to talk to: a real database, the real engine, and a small web of our own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.deciders import deciding
from tests.support.scripted_model import ScriptedModel
from tests.support.websites import Web

from steward.bootstrap import Platform, open_platform
from steward.contract.call import Caller, CallerKind
from steward.conversations.model import Answer, Progress, Speaker, TurnEvent
from steward.settings import load_settings

ANA = Speaker(user="local", caller=Caller(CallerKind.PERSON, "local"), decider=deciding("local"))


@dataclass
class TalkSetup:
    platform: Platform
    events: list[TurnEvent] = field(default_factory=list)

    async def ask(self, text: str, agent: str = "researcher", conversation: str | None = None) -> Answer:
        self.events = []

        async def hear(event: TurnEvent) -> None:
            self.events.append(event)

        chat = await self.platform.agents.chat()
        return await chat.turn(text, speaker=ANA, agent=agent, conversation=conversation, listener=hear)

    @property
    def progress(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Progress)]


def tools(answer: Answer) -> list[str]:
    return [call.tool for call in answer.tool_calls]


def wire(model: ScriptedModel) -> dict[str, str]:
    """Settings that make the scripted model answer, over its real wire."""
    return {"STEWARD_MODEL": "openai:scripted", "OPENAI_BASE_URL": model.address, "OPENAI_API_KEY": "k"}


@asynccontextmanager
async def open_house(
    folder: Path, database_url: str, web: Web | None = None, **more: Any
) -> AsyncIterator[TalkSetup]:
    settings = load_settings(
        **{
            "STEWARD_HOME": folder / "home",
            "DATABASE_URL": database_url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
            "STEWARD_ALLOWED_ROOTS": str(folder),
            "WEBSEARCH_ENGINE": web.search if web else "http://127.0.0.1:1/search",
            "WEBSEARCH_TIMEOUT": 20,
            "STEWARD_FETCH_HOSTS": web.hosts if web else "",
            **more,
        }
    )
    async with open_platform(settings) as platform:
        yield TalkSetup(platform)
