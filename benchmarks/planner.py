"""A step of the planner, warm: beside a step of Pydantic AI's own test model, with few and many tools.

Budget: under 50 ms a step.
"""

import asyncio
import importlib.util
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_ai import ToolDefinition
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.test import TestModel

from steward.models.planner.model import PlannerModel

ROUNDS = 200
BUDGET_MS = 50.0
VERBS = ("create", "list", "delete", "rename", "search")
NOUNS = ("invoice", "meeting", "recipe", "song", "ticket", "parcel", "photo", "route", "sensor", "plant")


def tools(count: int) -> list[ToolDefinition]:
    made: list[ToolDefinition] = []
    for number in range(count):
        verb, noun = VERBS[number % len(VERBS)], NOUNS[number // len(VERBS) % len(NOUNS)]
        group = f"{number // 50}" if number >= 50 else ""
        made.append(
            ToolDefinition(
                name=f"{verb}_{noun}{group}",
                description=f"{verb.capitalize()} a {noun} in cabinet {group or 'one'}.",
                parameters_json_schema={
                    "type": "object",
                    "properties": {"title": {"type": "string"}, "count": {"type": "integer"}},
                    "required": ["title"],
                },
            )
        )
    return made


async def median_ms(model: Model, offered: Sequence[ToolDefinition]) -> float:
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("please create a recipe called 'plum cake' with count 4")])
    ]
    parameters = ModelRequestParameters(function_tools=list(offered))
    await model.request(messages, None, parameters)
    times: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await model.request(messages, None, parameters)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def embedder() -> Callable[[], Any] | None:
    if importlib.util.find_spec("steward.models.embedding") is None:
        return None
    return importlib.import_module("steward.models.embedding").MiniLMEmbedder


async def main() -> int:
    make = embedder()
    rows: list[tuple[str, Model]] = [
        ("Pydantic AI's TestModel", TestModel()),
        ("planner, by words", PlannerModel()),
    ]
    if make is not None:
        rows.append(("planner, by meaning", PlannerModel(embedder=make())))
    slowest = 0.0
    for count in (10, 50, 500):
        for name, model in rows:
            took = await median_ms(model, tools(count))
            slowest = max(slowest, took)
            print(f"{count:4} tools  {name:26} {took:8.2f} ms a step")
    print(f"budget {BUDGET_MS} ms a step: {'kept' if slowest < BUDGET_MS else 'MISSED'} ({slowest:.1f} ms)")
    return 0 if slowest < BUDGET_MS else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
