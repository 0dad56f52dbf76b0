"""What a failing model does to a run, over the real wire with the real client."""

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai import Agent, AgentStreamEvent, PartDeltaEvent, PartStartEvent
from pydantic_ai.models.test import TestModel
from tests.support.scripted_model import (
    BAD_KEY,
    QUOTA,
    RATE_LIMIT,
    SERVER_ERROR,
    BreakOff,
    Garbage,
    Hang,
    Refuse,
    Say,
    Scripted,
    ScriptedModel,
    scripted_model,
)

from steward.models.catalog import Catalog, ModelConfig
from steward.models.resilient import Patience
from steward.models.runs import Answered, Broken, run_agent


class Waits:
    """A sleep that takes no time and remembers how long it was meant to be."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def patience(self) -> Patience:
        return Patience(sleep=self, jitter=lambda: 0.0)


async def ask(
    server: ScriptedModel,
    *,
    waits: Waits | None = None,
    choice: str = "openai:m",
    stream: bool = False,
    **config: Any,
) -> tuple[Answered[str] | Broken, list[AgentStreamEvent]]:
    catalog = Catalog(
        ModelConfig(choice=choice, openai_base_url=server.address, **config),
        planner=lambda: TestModel(custom_output_text="from the planner"),
        patience=(waits or Waits()).patience(),
    )
    events: list[AgentStreamEvent] = []

    async def listen(event: AgentStreamEvent) -> None:
        events.append(event)

    outcome = await run_agent(
        Agent(output_type=str), "Hi", deps=None, model=catalog.model(), on_event=listen if stream else None
    )
    return outcome, events


@pytest.mark.req("RES-FR-004")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("failure", [SERVER_ERROR, RATE_LIMIT, Refuse(503)])
async def test_a_passing_failure_is_tried_twice_more_with_growing_waits(
    failure: Refuse, stream: bool
) -> None:
    waits = Waits()
    async with scripted_model(failure, failure, Say("there you are")) as server:
        outcome, _ = await ask(server, waits=waits, stream=stream)
    assert isinstance(outcome, Answered)
    assert (outcome.output, len(server.requests), waits.seconds) == ("there you are", 3, [0.5, 1.0])


@pytest.mark.req("RES-FR-004")
@pytest.mark.parametrize(
    ("script", "code", "tries"),
    [
        ([SERVER_ERROR], "MODEL_UNAVAILABLE", 3),
        ([RATE_LIMIT], "MODEL_RATE_LIMITED", 3),
        ([BAD_KEY], "MODEL_AUTHENTICATION", 1),
        ([Refuse(403)], "MODEL_AUTHENTICATION", 1),
        ([Refuse(404, {"message": "no such deployment"})], "MODEL_NOT_FOUND", 1),
        ([Refuse(400, {"message": "bad"})], "MODEL_REJECTED", 1),
        (
            [Refuse(400, {"message": "too long", "code": "context_length_exceeded"})],
            "MODEL_CONTEXT_EXCEEDED",
            1,
        ),
        ([Garbage()], "MODEL_ANSWER_INVALID", 3),
        ([Garbage(b'{"choices": []}')], "MODEL_ANSWER_INVALID", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_each_failure_has_its_code_and_its_number_of_tries(
    script: Sequence[Scripted], code: str, tries: int
) -> None:
    async with scripted_model(*script) as server:
        outcome, _ = await ask(server)
    assert isinstance(outcome, Broken)
    assert (outcome.error.code, len(server.requests)) == (code, tries)


@pytest.mark.req("RES-EDGE-05")
@pytest.mark.parametrize("stream", [False, True])
async def test_an_exhausted_quota_is_tried_twice_more_and_then_explained(stream: bool) -> None:
    async with scripted_model(QUOTA) as server:
        outcome, _ = await ask(server, stream=stream)
    assert isinstance(outcome, Broken)
    assert (outcome.error.code, len(server.requests), outcome.error.retryable) == (
        "MODEL_QUOTA_EXCEEDED",
        3,
        False,
    )
    assert "Wait until the quota renews, raise it" in outcome.error.explain()


@pytest.mark.req("RES-EDGE-05")
async def test_a_quota_that_only_the_words_of_the_refusal_tell_is_recognised() -> None:
    refusal = Refuse(
        429, {"message": "Requests have exceeded the token quota of your deployment", "code": "429"}
    )
    async with scripted_model(refusal) as server:
        outcome, _ = await ask(server)
    assert isinstance(outcome, Broken)
    assert outcome.error.code == "MODEL_QUOTA_EXCEEDED"


async def test_the_wait_a_provider_asks_for_is_kept() -> None:
    waits = Waits()
    async with scripted_model(Refuse(429, headers={"retry-after": "7"}), Say("now")) as server:
        await ask(server, waits=waits)
    assert waits.seconds == [7.0]


async def test_a_wait_longer_than_anybody_sits_through_is_said_instead_of_slept() -> None:
    waits = Waits()
    async with scripted_model(Refuse(429, headers={"retry-after": "900"})) as server:
        outcome, _ = await ask(server, waits=waits)
    assert isinstance(outcome, Broken)
    assert (waits.seconds, outcome.error.details["retry_after"]) == ([], 900.0)
    assert "900 seconds" in outcome.error.explain()


async def test_a_model_that_never_answers_runs_into_the_timeout() -> None:
    async with scripted_model(Hang()) as server:
        outcome, _ = await ask(server, request_seconds=0.05)
    assert isinstance(outcome, Broken)
    assert (outcome.error.code, len(server.requests)) == ("MODEL_TIMEOUT", 3)


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with scripted_model(Say("x")) as server:
        pass
    outcome, _ = await ask(server)
    assert isinstance(outcome, Broken)
    assert outcome.error.code == "MODEL_UNAVAILABLE"


async def test_the_providers_words_stay_out_of_what_a_person_reads() -> None:
    async with scripted_model(BAD_KEY) as server:
        outcome, _ = await ask(server)
    assert isinstance(outcome, Broken)
    assert "sk-secret" not in outcome.error.explain() + repr(outcome.error.__cause__)


async def test_words_arrive_as_they_are_said() -> None:
    async with scripted_model(Say("one two three")) as server:
        outcome, events = await ask(server, stream=True)
    assert isinstance(outcome, Answered)
    assert outcome.output == "one two three"
    assert len([event for event in events if isinstance(event, PartStartEvent | PartDeltaEvent)]) == 3


async def test_a_connection_cut_in_the_middle_of_an_answer_is_a_failure_not_an_answer() -> None:
    async with scripted_model(BreakOff("half an")) as server:
        outcome, _ = await ask(server, stream=True)
    assert isinstance(outcome, Broken)
    assert outcome.error.code == "MODEL_UNAVAILABLE"


@pytest.mark.req("ORC-FR-012")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("failure", [SERVER_ERROR, QUOTA, BAD_KEY, Garbage()])
async def test_a_chain_goes_on_to_its_next_model(failure: Scripted, stream: bool) -> None:
    async with scripted_model(failure) as server:
        outcome, _ = await ask(server, choice="openai:m,planner", stream=stream)
    assert isinstance(outcome, Answered)
    assert outcome.output == "from the planner"


async def test_a_chain_in_which_nobody_answers_leads_with_the_cause_of_the_first() -> None:
    async with scripted_model(QUOTA, QUOTA, QUOTA, SERVER_ERROR) as server:
        outcome, _ = await ask(server, choice="openai:m,openai:other")
    assert isinstance(outcome, Broken)
    assert (outcome.error.code, outcome.error.details) == (
        "MODEL_QUOTA_EXCEEDED",
        {"causes": ["MODEL_QUOTA_EXCEEDED", "MODEL_UNAVAILABLE"]},
    )
