"""The researcher's stories and edge cases, end to end: with the planner, and with a model over the wire."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import within
from tests.support.otlp_collector import ReceivedSpan, running_collector
from tests.support.scripted_model import QUOTA, CallTools, Hang, Say, ScriptedModel
from tests.support.talking import TalkSetup, open_house, tools, wire
from tests.support.waiting import until
from tests.support.websites import Web

from steward.agents.researcher.researcher import setup_mcp_tools
from steward.conversations.model import AnswerStatus
from steward.knowledge.memory import Scope


def answer(text: str, reasoning: str = "", **more: Any) -> CallTools:
    """The model's structured answer, with whatever it makes up about itself."""
    return CallTools(("final_result", {"answer": text, "reasoning": reasoning, **more}))


def searching(web: Web, query: str, *paths: str) -> list[CallTools]:
    return [
        CallTools(("search_memory", {"query": query})),
        CallTools(("web_search", {"query": query})),
        CallTools(*(("fetch_page", {"url": web.url(path)}) for path in paths)),
    ]


async def remember(house: TalkSetup, content: str, **metadata: Any) -> None:
    await house.platform.library.memory(Scope(user="local")).store_document(content, metadata)


# --- a question is answered (story 1) ---


@pytest.mark.req("RES-US1-IT")
@pytest.mark.req("RES-US1.1", "RES-SC-002", "RES-FR-033")
async def test_a_fact_is_searched_read_and_cited(house: TalkSetup, web: Web) -> None:
    async with within(5):
        found = await house.ask("What is the capital of France?")
    assert (found.status, found.answer.split("\n")[0], found.confidence > 0.8) == (
        AnswerStatus.DONE,
        "Paris.",
        True,
    )
    assert "web_search" in tools(found)
    assert "Searched the web" in found.reasoning
    assert {source.date for source in found.sources} == {"2026-03-04", "2026-05-20", "2025-11-02"}
    assert house.progress[-1] == "3 sources"
    assert any(line.startswith("searching the web for") for line in house.progress)
    assert len(web.read) == 3


@pytest.mark.req("RES-US1.1", "RES-FR-003", "RES-FR-034", "RES-SC-002")
async def test_a_models_answer_carries_the_records_calls_sources_and_confidence(
    wired: TalkSetup, web: Web, model: ScriptedModel
) -> None:
    model.answer(
        *searching(web, "capital France", "/atlas/france", "/cities/paris"),
        answer("Paris", "Two sources agree.", confidence=0.01, tool_calls=[{"tool": "made_up"}]),
    )
    found = await wired.ask("What is the capital of France?")
    assert (found.answer, found.confidence > 0.8) == ("Paris", True)
    assert tools(found) == ["search_memory", "web_search", "fetch_page", "fetch_page", "store_memory"]
    assert found.reasoning.startswith("Two sources agree. Searched memory")


@pytest.mark.req("RES-FR-002")
async def test_the_model_is_told_its_capabilities_and_responsibilities(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(answer("Nothing."))
    await wired.ask("What is the capital of France?")
    told = json.dumps(model.requests[0]["messages"])
    offered = {each["function"]["name"] for each in model.requests[0]["tools"]}
    for word in ("web search", "filesystem read", "time context", "memory", "tool gaps", "approval"):
        assert word in told
    assert {
        "web_search",
        "fetch_page",
        "read_file",
        "get_current_time",
        "search_memory",
        "store_memory",
    } <= offered


@pytest.mark.req("RES-US1.2")
async def test_the_time_is_asked_of_the_clock(house: TalkSetup) -> None:
    found = await house.ask("What time is it in UTC?")
    [call] = found.tool_calls
    assert (call.tool, call.arguments.get("timezone", "UTC")) == ("get_current_time", "UTC")
    assert datetime.now(UTC).strftime("%Y-%m-%d") in found.answer


@pytest.mark.req("RES-US1.2")
async def test_a_model_asks_the_clock_as_well(wired: TalkSetup, model: ScriptedModel) -> None:
    model.answer(
        CallTools(("get_current_time", {"timezone": "UTC"})),
        lambda request: answer(
            f"It is {json.loads(request['messages'][-1]['content'])['data']['timestamp']}."
        ),
    )
    found = await wired.ask("What time is it in UTC?")
    assert (tools(found), datetime.now(UTC).strftime("%Y-%m-%d") in found.answer) == (
        ["get_current_time"],
        True,
    )
    assert found.confidence > 0.5


async def test_the_weather_today_is_no_question_for_the_clock(house: TalkSetup, web: Web) -> None:
    found = await house.ask("What is the weather in Seoul today?")
    assert ("get_current_time" in tools(found), "sunny" in found.answer) == (False, True)


async def test_it_means_what_was_asked_about_before(house: TalkSetup, web: Web) -> None:
    first = await house.ask("Who founded the Borealis Institute?")
    found = await house.ask("Where is it?", conversation=first.conversation)
    asked = [call.arguments["query"] for call in found.tool_calls if call.tool == "search_memory"]
    assert (asked, "Bergen" in found.answer) == (["Where is Borealis Institute?"], True)


@pytest.mark.req("RES-US1.3")
async def test_what_was_told_before_is_found_in_memory(house: TalkSetup, web: Web) -> None:
    await remember(house, "Project deadline: March 15, 2025")
    found = await house.ask("When is the project deadline?")
    assert ("March 15, 2025" in found.answer, tools(found), web.searched) == (True, ["search_memory"], [])
    assert "Searched memory" in found.reasoning


@pytest.mark.req("RES-US4-IT")
async def test_a_stored_document_is_found_and_used(house: TalkSetup, web: Web) -> None:
    await remember(house, "Project X uses Python 3.11 and FastAPI", project="X")
    found = await house.ask("What tech stack does Project X use?")
    assert ("FastAPI" in found.answer, "search_memory" in tools(found), web.searched) == (True, True, [])


@pytest.mark.req("RES-US1.3", "RES-FR-024", "RES-FR-026")
async def test_a_model_searches_memory_through_its_run_context(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    await remember(wired, "Project deadline: March 15, 2025")
    model.answer(
        CallTools(("search_memory", {"query": "project deadline"})), answer("The deadline is March 15, 2025.")
    )
    found = await wired.ask("When is the project deadline?")
    told = json.loads(model.requests[-1]["messages"][-1]["content"])
    [call] = found.tool_calls
    assert (told[0]["content"], "timestamp" in told[0]["metadata"]) == (
        "Project deadline: March 15, 2025",
        True,
    )
    assert (call.tool, call.arguments) == ("search_memory", {"query": "project deadline", "top_k": 5})
    assert ("Searched memory" in found.reasoning, found.confidence > 0.5) == (True, True)


# --- gaps (story 2) ---


@pytest.mark.req("RES-US2-IT", "RES-ART-II.G")
@pytest.mark.req("RES-US2.1", "RES-US2.2", "RES-SC-003")
async def test_what_no_tool_can_do_is_said_before_anything_is_tried(house: TalkSetup) -> None:
    async with within(3):
        found = await house.ask("Retrieve my stock portfolio performance for Q3 2024")
    assert (found.status, found.missing_tools, tools(found)) == (
        AnswerStatus.GAP,
        ("financial_data_api",),
        [],
    )
    assert found.confidence == 0.0


@pytest.mark.req("RES-US2.2", "RES-SC-003")
async def test_a_model_gets_no_chance_to_make_up_what_no_tool_can_do(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    needs = {"capabilities": [{"name": "financial_data_api", "description": "Read investment accounts"}]}
    model.answer(Say(json.dumps(needs)), answer("Your portfolio rose by 14 percent."))
    found = await wired.ask("Retrieve my stock portfolio performance for Q3 2024")
    assert (found.status, found.missing_tools, len(model.requests)) == (
        AnswerStatus.GAP,
        ("financial_data_api",),
        1,  # what is needed was asked, and nothing else
    )


@pytest.mark.req("RES-US2.3")
async def test_deleting_production_data_is_a_gap(house: TalkSetup) -> None:
    found = await house.ask("Delete all customer records from the production database")
    assert (found.status, len(found.missing_tools), tools(found)) == (AnswerStatus.GAP, 1, [])


@pytest.mark.req("RES-US2.1")
@pytest.mark.parametrize(
    ("request_", "gap"),
    [
        ("Sharpen the kitchen knives", True),
        ("Tune the piano in the hall", True),
        ("Feed the fish in the aquarium", True),
        ("Hire a plumber for Thursday", True),
        ("Engrave the ring with our names", True),
        ("Water the garden for ten minutes", True),
        ("Fax the signed contract to the notary", True),
        ("Charge the customer's credit card 40 euros", True),
        ("Unlock the front door", True),
        ("Call my mother and wish her a happy birthday", True),
        ("How tall is the Brennan Tower?", False),
        ("What do my papers say about tides?", False),
        ("Find out who founded the Borealis Institute", False),
        ("Read notes.md and tell me what is in it", False),
        ("What is the time difference between Oslo and Tokyo?", False),
    ],
)
async def test_requests_that_no_lexicon_was_written_for(house: TalkSetup, request_: str, gap: bool) -> None:
    found = await house.ask(request_)
    assert (found.status is AnswerStatus.GAP) is gap, found


# --- memory (story 4) ---


@pytest.mark.req("RES-US4.1", "RES-FR-025", "RES-SC-010")
async def test_what_was_found_is_kept_with_topic_time_and_sources(house: TalkSetup, web: Web) -> None:
    async with within(10):
        found = await house.ask("Research the latest Python async best practices")
    assert tools(found)[0] == "search_memory"
    [stored] = [call for call in found.tool_calls if call.tool == "store_memory"]
    metadata = stored.arguments["metadata"]
    assert (metadata["topic"], metadata["sources"][0]["location"]) == (
        "python_async_best_practices",
        web.url("/python/async"),
    )
    assert datetime.now(UTC) - datetime.fromisoformat(metadata["timestamp"]) < timedelta(minutes=10)
    kept = await house.platform.library.memory(Scope(user="local")).history(
        stored.data
    )  # the id, nothing else
    assert [memory.content for memory in kept] == [stored.arguments["content"]]


@pytest.mark.req("RES-US4.1", "RES-FR-025")
@pytest.mark.parametrize("by_model", [True, False])
async def test_a_models_findings_are_kept_whether_it_thinks_of_it_or_not(
    wired: TalkSetup, web: Web, model: ScriptedModel, by_model: bool
) -> None:
    said = "Use a TaskGroup, set timeouts, never block the event loop."
    keeping = [CallTools(("store_memory", {"content": said, "metadata": {"topic": "python_async"}}))]
    model.answer(
        *searching(web, "Python async best practices", "/python/async"),
        *(keeping if by_model else []),
        answer(said),
    )
    found = await wired.ask("Research Python async best practices")
    [stored] = [call for call in found.tool_calls if call.tool == "store_memory"]
    topic = "python_async" if by_model else "python_async_best_practices"
    assert (stored.arguments["metadata"]["topic"], stored.arguments["metadata"]["sources"][0]["date"]) == (
        topic,
        "2026-08-11",
    )


@pytest.mark.req("RES-US4.2", "RES-US4.3", "RES-EDGE-03")
async def test_the_same_again_is_answered_from_memory_with_its_date(house: TalkSetup, web: Web) -> None:
    await house.ask("Research the latest Python async best practices")
    searched = list(web.searched)
    found = await house.ask("What are best practices for Python async code?")
    today = datetime.now(UTC).date().isoformat()
    assert (tools(found), web.searched) == (["search_memory"], searched)
    assert f"Based on prior research stored on {today}" in found.reasoning
    assert "TaskGroup" in found.answer


@pytest.mark.req("RES-EDGE-03", "RES-US4.2", "RES-US4.3")
async def test_a_model_that_would_search_again_is_sent_to_memory(
    wired: TalkSetup, web: Web, model: ScriptedModel
) -> None:
    await remember(
        wired,
        "Paris is the capital of France.",
        topic="capital_france",
        question="What is the capital of France?",
        sources=[{"title": "Atlas", "location": web.url("/atlas/france"), "date": "2026-03-04"}],
        confidence=0.88,
    )
    model.answer(
        CallTools(("web_search", {"query": "capital France"})),
        CallTools(("search_memory", {"query": "capital of France"})),
        CallTools(("web_search", {"query": "capital France"})),
        answer("Paris is the capital of France."),
    )
    found = await wired.ask("What is the capital of France?")
    refused = [call.error_code for call in found.tool_calls if call.tool == "web_search"]
    assert (refused, web.searched) == (["MEMORY_FIRST", "KNOWN_ALREADY"], [])
    assert ("Based on prior research stored on" in found.reasoning, found.confidence) == (True, 0.7)


async def test_an_address_that_no_tool_returned_is_not_named(
    wired: TalkSetup, web: Web, model: ScriptedModel
) -> None:
    model.answer(
        *searching(web, "capital France", "/atlas/france"),
        answer(f"Paris [1]\n\n[1] {web.url('/atlas/france')}\n[2] https://invented.example/paris"),
    )
    found = await wired.ask("What is the capital of France?")
    assert (web.url("/atlas/france") in found.answer, "invented.example" in found.answer) == (True, False)


# --- what goes wrong ---


@pytest.mark.req("RES-EDGE-06", "RES-SC-009")
async def test_a_search_that_never_answers_ends_without_confidence_and_with_its_reason(
    tmp_path: Path, database_url: str, web: Web
) -> None:
    web.broken = "silent"
    async with open_house(tmp_path, database_url, web, WEBSEARCH_TIMEOUT=0.5) as house:
        found = await house.ask("What is the capital of France?")
    assert (found.confidence, "did not answer within 0.5 seconds" in found.reasoning) == (0.0, True)


@pytest.mark.req("RES-EDGE-02")
async def test_a_search_that_answers_with_garbage_is_explained(house: TalkSetup, web: Web) -> None:
    web.broken = "garbage"
    found = await house.ask("What is the capital of France?")
    assert (found.confidence, "did not answer with search results" in found.reasoning) == (0.0, True)


@pytest.mark.req("RES-EDGE-02", "RES-EDGE-06")
async def test_a_model_whose_search_failed_cannot_be_sure_of_itself(
    wired: TalkSetup, web: Web, model: ScriptedModel
) -> None:
    web.broken = "garbage"
    model.answer(*searching(web, "capital France")[:2], answer("Paris, of course.", confidence=1.0))
    found = await wired.ask("What is the capital of France?")
    assert (found.confidence, "web_search failed" in found.reasoning) == (0.0, True)


async def test_a_spent_quota_is_told_in_plain_words(wired: TalkSetup, model: ScriptedModel) -> None:
    model.answer(QUOTA)
    found = await wired.ask("What is the capital of France?")
    assert (found.status, "quota" in found.answer.lower(), found.confidence) == (
        AnswerStatus.FAILED,
        True,
        0.0,
    )


async def test_a_model_that_hangs_ends_the_turn_in_words(
    tmp_path: Path, database_url: str, web: Web, model: ScriptedModel
) -> None:
    model.answer(Hang())
    async with open_house(
        tmp_path,
        database_url,
        web,
        **wire(model),
        STEWARD_RUN_SECONDS=1,
    ) as house:
        found = await house.ask("What is the capital of France?")
    assert (found.status, found.confidence) == (AnswerStatus.FAILED, 0.0)


@pytest.mark.req("RES-SC-001", "RES-FR-005")
async def test_the_researcher_and_its_three_servers_are_ready_in_time(
    tmp_path: Path, database_url: str, web: Web, model: ScriptedModel
) -> None:
    async with within(10), open_house(tmp_path, database_url, web, **wire(model)) as house:
        connected = await setup_mcp_tools(house.platform.orchestrator)
        listed = {tool.spec.name for tool in house.platform.orchestrator.registry if tool.available}
    assert (set(connected), {"web_search", "read_file", "get_current_time"} <= listed) == (
        {"web", "files", "time"},
        True,
    )


@pytest.mark.req("RES-EDGE-01", "RES-FR-005")
async def test_without_any_server_the_researcher_does_not_start_and_names_each_cause(
    house: TalkSetup,
) -> None:
    lifecycle = house.platform.orchestrator.lifecycle
    before = await house.ask("What is the capital of France?")

    async def broken() -> Any:
        raise RuntimeError("npx command not found")

    for name in ("web", "files", "time"):
        await lifecycle.unregister(name)
        lifecycle.register(name, broken)
    found = await house.ask("What is the capital of Norway?")
    elsewhere = await house.ask("Show my tasks", agent="assistant")
    assert (before.status, found.status, elsewhere.status) == (
        AnswerStatus.DONE,
        AnswerStatus.FAILED,
        AnswerStatus.DONE,
    )
    assert all(f"{name}:" in found.answer for name in ("web", "files", "time"))
    assert "npx command not found" in found.answer


# --- spans (story 5) ---


def ancestors(span: ReceivedSpan, spans: Sequence[ReceivedSpan]) -> list[str]:
    """The names of the spans around one, from the nearest on; every parent must have arrived."""
    by_id = {each.span_id: each for each in spans}
    names: list[str] = []
    while span.parent_id:
        span = by_id[span.parent_id]
        names.append(span.name)
    return names


@pytest.mark.req("RES-US5-IT", "RES-ART-II.D")
@pytest.mark.req("RES-FR-031", "RES-SC-008")
async def test_the_spans_of_a_run_reach_a_collector(tmp_path: Path, database_url: str, web: Web) -> None:
    with running_collector() as collector:
        async with open_house(
            tmp_path, database_url, web, OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint
        ) as house:
            found = await house.ask("What is the capital of France?")
            await until(lambda: b"agent_run" in collector.everything(), seconds=2)  # as the spec says
            spans = collector.all_spans()
    [run] = [span for span in spans if span.name == "agent_run"]
    calls = [span for span in spans if span.name.startswith("mcp_tool_call:")]
    [search] = [span for span in calls if span.attributes["tool_name"] == "web_search"]
    assert {span.service for span in spans} == {"paias-agent-layer"}
    assert {span.trace_id for span in spans} == {run.trace_id}
    assert sorted(span.attributes["tool_name"] for span in calls) == sorted(tools(found))
    assert all(span.name == f"mcp_tool_call:{span.attributes['tool_name']}" for span in calls)
    assert (run.parent_id, ["agent_run" in ancestors(span, spans) for span in calls]) == (
        "",
        [True] * len(calls),
    )
    assert run.attributes["task_description"] == "What is the capital of France?"
    assert (run.attributes["confidence_score"], run.attributes["tool_calls_count"]) == (
        found.confidence,
        len(found.tool_calls),
    )
    assert "result_type" in run.attributes
    assert search.attributes["tool_name"] == "web_search"
    assert ("capital France" in search.attributes["parameters"], search.attributes["result_count"]) == (
        True,
        3,
    )
    assert (search.failed, run.failed) == (False, False)
