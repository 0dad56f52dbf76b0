"""A whole Steward to talk about tasks with: real database, real engine, the planner or a scripted model."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.deciders import deciding
from tests.support.scripted_model import CallTools, Request, Scripted, ScriptedModel, scripted_model

from steward.bootstrap import Platform, open_platform
from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.conversations.model import Answer, Speaker
from steward.settings import load_settings


@dataclass
class TaskSetup:
    platform: Platform
    model: ScriptedModel | None = None  # None: the planner answers
    people: int = 0

    async def person(self, *titles: str, **details: dict[str, Any]) -> "Person":
        """Somebody new, with these tasks; `details` are further arguments by title."""
        self.people += 1
        name = f"person{self.people}"
        await self.platform.tasks.users.add(name, name=name)
        person = Person(self, name)
        for title in titles:
            await person.do("add_task", title=title, **details.get(title, {}))
        return person


@dataclass
class Person:
    house: TaskSetup
    name: str
    conversation: str | None = None
    answers: list[Answer] = field(default_factory=list)

    async def say(self, text: str, *script: Scripted) -> Answer:
        """One turn; `script` is what the scripted model answers in it."""
        if self.house.model is not None:
            self.house.model.script = list(script)
        chat = await self.house.platform.agents.chat()
        speaker = Speaker(
            user=self.name, caller=Caller(CallerKind.PERSON, self.name), decider=deciding(self.name)
        )
        answer = await chat.turn(text, speaker=speaker, agent="tasks", conversation=self.conversation)
        self.conversation = answer.conversation
        self.answers.append(answer)
        return answer

    async def do(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A call of the person's own, outside of any conversation."""
        call = ToolCall(
            tool=tool, arguments=arguments, caller=Caller(CallerKind.PERSON, self.name), user=self.name
        )
        result = await self.house.platform.orchestrator.execute(call)
        assert isinstance(result, Done), result
        return result.data

    async def tasks(self) -> dict[str, dict[str, Any]]:
        """What is on the list by now, by title."""
        found = await self.do("list_tasks", limit=100)
        return {task["title"]: task for task in found["tasks"]}

    def ran(self) -> list[str]:
        """The tools that really ran for this person's agent, by the execution record."""
        return [
            call.tool for answer in self.answers for call in answer.tool_calls if call.status.value == "done"
        ]


@asynccontextmanager
async def task_house(home: Path, database_url: str, *, scripted: bool = False) -> AsyncIterator[TaskSetup]:
    common = {"STEWARD_HOME": home, "DATABASE_URL": database_url, "OTEL_EXPORTER_OTLP_ENDPOINT": "none"}
    if not scripted:
        async with open_platform(load_settings(**common, STEWARD_MODEL="planner")) as platform:
            yield TaskSetup(platform)
        return
    async with scripted_model() as server:
        settings = load_settings(
            **common,
            STEWARD_MODEL="openai:scripted",
            OPENAI_BASE_URL=server.address,
            OPENAI_API_KEY="none",
        )
        async with open_platform(settings) as platform:
            yield TaskSetup(platform, server)


# --- what a scripted model does with what it was told ---


def call(tool: str, **arguments: Any) -> CallTools:
    return CallTools((tool, arguments))


def look(**filters: Any) -> CallTools:
    return call("list_tasks", **filters)


def touch(tool: str, *titles: str, **more: Any) -> Scripted:
    """Calls the tool on these tasks, by the ids that earlier answers gave them."""

    def answer(request: Request) -> CallTools:
        known = ids_by_title(request)
        return CallTools(*((tool, {"task_id": known.get(title, "task_unknown"), **more}) for title in titles))

    return answer


def ids_by_title(request: Request) -> dict[str, str]:
    return {task["title"]: task["id"] for task in _tasks_in(request)}


def _tasks_in(request: Request) -> Iterator[dict[str, Any]]:
    for message in request["messages"]:
        if message["role"] == "tool":
            yield from _walk(json.loads(message["content"]))


def _walk(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        if "id" in data and "title" in data:
            yield data
        for value in data.values():
            yield from _walk(value)
    elif isinstance(data, list):
        for item in data:
            yield from _walk(item)
