"""Limits, stopping and counting of one run."""

import asyncio
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ToolReturnPart
from tests.support.scripted_model import CallTools, Hang, Say, ScriptedModel, scripted_model

from steward.models.catalog import Catalog, ModelConfig
from steward.models.runs import Answered, Broken, RunCost, RunLimits, Stop, reading_along, run_agent


def model_of(server: ScriptedModel, name: str = "m") -> Any:
    config = ModelConfig(choice=f"openai:{name}", openai_base_url=server.address)
    return Catalog(config, planner=lambda: pytest.fail("no planner here")).model()


async def test_a_run_counts_steps_tools_and_tokens() -> None:
    agent = Agent(output_type=str)
    agent.tool_plain(lambda: "pong", name="ping")
    async with scripted_model(CallTools(("ping", {})), Say("done")) as server:
        outcome = await run_agent(agent, "go", deps=None, model=model_of(server))
    assert isinstance(outcome, Answered)
    assert outcome.cost == RunCost(steps=2, tool_calls=1, input_tokens=22, output_tokens=14, cost_usd=None)


async def test_a_run_on_a_model_with_a_known_price_says_its_cost() -> None:
    async with scripted_model(Say("done", input_tokens=1_000_000, output_tokens=0)) as server:
        config = ModelConfig(choice="openai:gpt-4o", openai_base_url=server.address)
        model = Catalog(config, planner=lambda: pytest.fail("no planner here")).model()
        outcome = await run_agent(Agent(output_type=str), "go", deps=None, model=model)
    assert isinstance(outcome, Answered)
    assert outcome.cost.cost_usd == Decimal("2.5")


async def test_an_answer_is_read_while_it_is_written_and_words_before_a_call_are_none() -> None:
    agent, drafts = Agent(output_type=str), list[str]()
    agent.tool_plain(lambda: "pong", name="ping")
    async with scripted_model(CallTools(("ping", {})), Say("done and told")) as server:
        outcome = await run_agent(
            agent,
            "go",
            deps=None,
            model=model_of(server),
            on_event=reading_along(drafts.append, model_of(server)),
        )
    assert isinstance(outcome, Answered)
    assert (outcome.output, drafts[-1]) == ("done and told", "done and told")
    assert "" in drafts  # the call took the place of what was written
    assert all(later.startswith(earlier) or not later for earlier, later in pairwise(drafts))


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (RunLimits(steps=3), "steps"),
        (RunLimits(tool_calls=2), "steps"),
        (RunLimits(tokens=40), "tokens"),
        (RunLimits(cost_usd=Decimal("0.000001")), "cost"),
    ],
)
async def test_a_run_that_loops_ends_at_its_limit(limits: RunLimits, limit: str) -> None:
    agent = Agent(output_type=str)
    agent.tool_plain(lambda: "again", name="loop")
    async with scripted_model(CallTools(("loop", {}))) as server:
        outcome = await run_agent(agent, "go", deps=None, model=model_of(server, "gpt-4o"), limits=limits)
    assert isinstance(outcome, Broken)
    assert (outcome.error.code, outcome.error.details) == ("RUN_LIMIT_REACHED", {"limit": limit})


async def test_a_cost_limit_on_a_model_without_a_price_warns_nobody() -> None:
    async with scripted_model(Say("done")) as server:
        limits = RunLimits(cost_usd=Decimal(1))
        outcome = await run_agent(
            Agent(output_type=str), "go", deps=None, model=model_of(server), limits=limits
        )
    assert isinstance(outcome, Answered)


async def test_a_run_ends_when_its_time_is_over() -> None:
    async with scripted_model(Hang()) as server:
        limits = RunLimits(seconds=0.2)
        outcome = await run_agent(
            Agent(output_type=str), "go", deps=None, model=model_of(server), limits=limits
        )
    assert isinstance(outcome, Broken)
    assert outcome.error.code == "RUN_TIMEOUT"


async def test_a_stopped_run_ends_at_once_and_keeps_what_was_done() -> None:
    agent = Agent(output_type=str)
    agent.tool_plain(lambda: "written", name="write")
    stop = Stop()
    async with scripted_model(CallTools(("write", {})), Hang()) as server:
        run = asyncio.create_task(run_agent(agent, "go", deps=None, model=model_of(server), stop=stop))
        await server.hanging.wait()
        stop()
        stop()
        outcome = await run
    assert isinstance(outcome, Broken)
    returned = [
        part for message in outcome.messages for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    assert (outcome.error.code, outcome.cost.tool_calls, [part.content for part in returned]) == (
        "CANCELLED",
        1,
        ["written"],
    )


async def test_a_run_that_was_stopped_before_it_began_asks_nobody() -> None:
    stop = Stop()
    stop()
    async with scripted_model(Say("hello")) as server:
        outcome = await run_agent(Agent(output_type=str), "go", deps=None, model=model_of(server), stop=stop)
    assert (isinstance(outcome, Broken), server.requests) == (True, [])


async def test_cancelling_the_task_from_outside_still_cancels() -> None:
    async with scripted_model(Hang()) as server:
        run = asyncio.create_task(run_agent(Agent(output_type=str), "go", deps=None, model=model_of(server)))
        await server.hanging.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run


async def test_a_run_continues_a_history() -> None:
    async with scripted_model(Say("first"), Say("second")) as server:
        agent = Agent(output_type=str)
        model = model_of(server)
        first = await run_agent(agent, "one", deps=None, model=model)
        second = await run_agent(agent, "two", deps=None, model=model, history=first.messages)
    assert isinstance(second, Answered)
    assert (second.output, len(second.messages), len(second.new_messages)) == ("second", 4, 2)
