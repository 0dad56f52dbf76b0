"""What leaves the machine in spans while a model talks: names and counts, never what was said."""

import pytest
from pydantic_ai import Agent
from tests.support.otlp_collector import Collector
from tests.support.scripted_model import QUOTA, CallTools, Say, scripted_model

from steward.models.catalog import Catalog, ModelConfig
from steward.models.resilient import Patience
from steward.models.runs import Answered, Broken, run_agent
from steward.models.spans import model_spans
from steward.telemetry.tracing import Tracing

SAID = (
    "CANARY-PROMPT",
    "CANARY-ANSWER",
    "CANARY-ARGUMENT",
    "CANARY-RESULT",
    "CANARY-INSTRUCTION",
    "CANARY-REFUSAL",
)


async def _no_wait(_: float) -> None:
    return None


async def test_prompts_answers_arguments_and_results_stay_out_of_spans(collector: Collector) -> None:
    tracing = Tracing(collector.endpoint, export_delay=0.05)
    agent = Agent(output_type=str, name="talker", instructions="CANARY-INSTRUCTION")
    agent.tool_plain(lambda word: f"CANARY-RESULT {word}", name="echo")
    async with scripted_model(
        CallTools(("echo", {"word": "CANARY-ARGUMENT"})), Say("CANARY-ANSWER")
    ) as server:
        config = ModelConfig(choice="openai:m", openai_base_url=server.address)
        model = Catalog(config, planner=lambda: pytest.fail("no planner here")).model()
        outcome = await run_agent(
            agent, "CANARY-PROMPT", deps=None, model=model, instrumentation=model_spans(tracing.provider)
        )
    assert isinstance(outcome, Answered)
    tracing.flush()
    spans = collector.spans(4)
    tracing.shutdown()
    wire = collector.everything().decode("utf-8", "replace")
    assert [word for word in SAID if word in wire] == []
    assert spans["chat m"].attributes["gen_ai.usage.input_tokens"] == 11


@pytest.mark.req("RES-EDGE-05")
async def test_an_exhausted_quota_is_seen_in_the_trace(collector: Collector) -> None:
    tracing = Tracing(collector.endpoint, export_delay=0.05)
    refusal = QUOTA.__class__(429, {**QUOTA.error, "message": "CANARY-REFUSAL quota"})
    async with scripted_model(refusal) as server:
        config = ModelConfig(choice="openai:m", openai_base_url=server.address)
        model = Catalog(
            config, planner=lambda: pytest.fail("no planner here"), patience=Patience(sleep=_no_wait)
        ).model()
        outcome = await run_agent(
            Agent(output_type=str),
            "hi",
            deps=None,
            model=model,
            instrumentation=model_spans(tracing.provider),
        )
    assert isinstance(outcome, Broken)
    tracing.flush()
    span = collector.spans(2)["chat m"]
    tracing.shutdown()
    wire = collector.everything()
    assert (span.failed, b"ModelQuotaExceeded" in span.raw, b"CANARY" in wire) == (True, True, False)
