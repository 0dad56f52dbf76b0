"""Research without a language model: the planner, the procedure and stand-in sources behind a real door."""

from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any

import pytest
from pydantic_ai import DeferredToolRequests
from tests.support.door import Door, tool
from tests.support.library import reranker
from tests.support.planner_talk import NOW, Talk

from steward.agents.researcher.findings import Freshness
from steward.agents.researcher.inquiry import NEAREST, Judgement
from steward.agents.researcher.procedure import RESEARCH, ResearchProcedure
from steward.agents.researcher.relevance import Relevance
from steward.agents.researcher.response import AgentResponse
from steward.agents.turn.toolset import ToolOffer
from steward.contract.errors import ToolError, UnavailableError
from steward.models.planner.model import PlannerModel

FRANCE = "Paris is the capital of France."
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
URL = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
CONTENT = {
    "type": "object",
    "properties": {"content": {"type": "string"}, "metadata": {"type": "object"}},
    "required": ["content"],
}
WEB = {
    "https://atlas.example/france": (
        "France",
        "France lies in Western Europe. Paris is the capital of France.",
    ),
    "https://cities.example/paris": ("Paris", "Paris, the capital of France, lies on the Seine."),
    "https://wine.example/": ("Wine", "French wine is grown in Bordeaux and Burgundy."),
    "https://institutes.example/b": (
        "Borealis Institute",
        "The Borealis Institute was founded in 1987 by Ingrid Solheim. It employs 240 people.",
    ),
    "https://towers.example/brennan": (
        "Brennan Tower",
        "At 312 metres, the Brennan Tower is the tallest building in Port Vesper.",
    ),
}


class World:
    """Memory, knowledge and the web as a test wants them. What was asked for is noted."""

    def __init__(self) -> None:
        self.memories: list[dict[str, Any]] = []
        self.documents: list[dict[str, Any]] = []
        self.stored: list[tuple[str, dict[str, Any]]] = []
        self.searched: list[str] = []
        self.read: list[str] = []
        self.web: Callable[[str], Any] = self._found

    def _found(self, query: str) -> Any:
        words = set(query.lower().split())
        ranked = sorted(
            WEB, key=lambda url: -len(words & set(f"{WEB[url][0]} {WEB[url][1]}".lower().split()))
        )
        return [{"title": WEB[url][0], "url": url, "snippet": WEB[url][1][:60]} for url in ranked[:3]]

    def tools(self) -> list[Any]:
        def search_memory(query: str) -> Any:
            """Find what was learned before."""
            return {"items": self.memories}

        def query_knowledge_base(query: str, top_k: int = 5) -> Any:
            """Search the knowledge base."""
            return {"results": self.documents}

        def web_search(query: str, max_results: int = 10) -> Any:
            """Search the web."""
            self.searched.append(query)
            return self.web(query)

        def fetch_page(url: str) -> Any:
            """Read a web page."""
            self.read.append(url)
            title, text = WEB[url]
            return {"url": url, "title": title, "text": text, "date": "2026-03-04"}

        def store_memory(content: str, metadata: dict[str, Any] | None = None) -> Any:
            """Keep what was learned."""
            self.stored.append((content, metadata or {}))
            return {"id": "m1"}

        def get_current_time(timezone: str = "UTC") -> Any:
            """The current date and time in a time zone."""
            return {"timestamp": "2026-11-15T12:00:00+00:00", "timezone": timezone}

        searches = [
            tool(each, input_schema={**QUERY, "properties": {**QUERY["properties"], **more}})
            for each, more in (
                (search_memory, {}),
                (query_knowledge_base, {"top_k": {"type": "integer"}}),
                (web_search, {"max_results": {"type": "integer"}}),
            )
        ]
        zone = {"type": "object", "properties": {"timezone": {"type": "string"}}}
        return [
            *searches,
            tool(fetch_page, input_schema=URL),
            tool(store_memory, input_schema=CONTENT),
            tool(get_current_time, input_schema=zone, examples=("What time is it in Tokyo?",)),
        ]

    async def ask(self, question: str, *, days: float = 7.0) -> AgentResponse:
        door = await Door().with_tools(*self.tools())
        procedure = ResearchProcedure(Judgement(Relevance(reranker()), Freshness(days)))
        model = PlannerModel(procedures={RESEARCH: procedure}, now=lambda: NOW)
        talk = Talk(
            door,
            model=model,
            offer=ToolOffer(procedures=(RESEARCH,)),
            output_type=[AgentResponse, DeferredToolRequests],
        )
        answer = await talk.say(question)
        self.calls = [each.call.tool for each in door.log.executions]
        return answer


def memory(content: str, *, age: timedelta = timedelta(0), **metadata: Any) -> dict[str, Any]:
    when = (NOW - age).astimezone(UTC).isoformat()
    return {"id": "m0", "content": content, "score": 0.8, "metadata": {"timestamp": when, **metadata}}


async def test_a_question_goes_to_memory_then_knowledge_then_the_web_and_pages_are_read() -> None:
    world = World()
    answer = await world.ask("What is the capital of France?")
    assert world.calls == [
        "search_memory",
        "query_knowledge_base",
        "web_search",
        *["fetch_page"] * len(world.read),
        "store_memory",
    ]
    assert "Paris is the capital of France." in answer.answer
    assert "[1] France, https://atlas.example/france, 2026-03-04" in answer.answer
    assert answer.confidence > 0.5


async def test_what_was_found_is_kept_with_its_topic() -> None:
    world = World()
    await world.ask("What is the capital of France?")
    (content, metadata), *more = world.stored
    assert ("Paris" in content, "“" in content, metadata, more) == (
        True,
        False,
        {"topic": "capital_france"},
        [],
    )


async def test_a_fresh_finding_answers_again_without_a_search() -> None:
    world = World()
    sources = [{"title": "Atlas", "location": "https://atlas.example/france"}]
    world.memories = [memory(FRANCE, age=timedelta(days=2), topic="capital_france", sources=sources)]
    answer = await world.ask("What is the capital of France?")
    assert (world.calls, world.stored) == (["search_memory"], [])
    assert "Based on prior research stored on 2026-11-13: “Paris is the capital of France.”" in answer.answer


@pytest.mark.parametrize(
    "question",
    ["What is the capital of France?", "Search the web again: what is the capital of France?"],
)
async def test_what_is_stale_or_wanted_anew_is_searched_for(question: str) -> None:
    world = World()
    old = timedelta(days=30) if question.startswith("What") else timedelta(0)
    world.memories = [memory("Paris is the capital of France.", age=old, topic="capital_france")]
    await world.ask(question)
    assert "web_search" in world.calls


async def test_what_is_asked_about_today_is_not_answered_from_yesterday() -> None:
    world = World()
    world.memories = [memory("Rain in Port Vesper.", age=timedelta(days=1), topic="weather_port_vesper")]
    await world.ask("What is the weather in Port Vesper today?")
    assert "web_search" in world.calls


async def test_what_a_person_told_does_not_grow_old() -> None:
    world = World()
    world.memories = [memory("Project deadline: March 15, 2025", age=timedelta(days=600))]
    answer = await world.ask("When is the project deadline?")
    assert (world.calls, "March 15, 2025" in answer.answer) == (["search_memory"], True)


async def test_a_memory_about_something_else_is_no_answer() -> None:
    world = World()
    world.memories = [memory("The Eiffel Tower is 330 metres tall.", topic="eiffel_tower")]
    answer = await world.ask("How tall is the Brennan Tower?")
    assert ("web_search" in world.calls, "312 metres" in answer.answer, "330" in answer.answer) == (
        True,
        True,
        False,
    )


async def test_the_library_is_cited_with_the_place_in_the_document() -> None:
    world = World()
    world.documents = [
        {
            "content": "The Brennan Tower is 312 metres tall.",
            "relevance_score": 0.9,
            "source_document": "towers.md",
            "header_path": "Towers > Brennan",
            "metadata": {"document_title": "Towers", "page": 4},
        }
    ]
    answer = await world.ask("How tall is the Brennan Tower?")
    assert world.calls == ["search_memory", "query_knowledge_base"]
    assert "[1] Towers, towers.md, Towers > Brennan, page 4" in answer.answer


def handbook(relevance: float) -> dict[str, Any]:
    return {
        "content": "It works without a network: no address is asked.\n\nOdds and ends go here.",
        "source_document": "docs/handbook.md",
        "header_path": "Orchard > Offline",
        "relevance_score": relevance,
        "metadata": {"document_title": "Handbook"},
    }


async def test_a_passage_that_the_library_rates_relevant_answers_though_its_sentence_names_nothing() -> None:
    world = World()
    world.documents = [handbook(0.6)]
    answer = await world.ask("Does Orchard work without a network?")
    assert answer.answer == (
        "“It works without a network: no address is asked.” [1]\n\n"
        "[1] Handbook, docs/handbook.md, Orchard > Offline"
    )
    assert world.searched == []


async def test_where_nothing_answers_the_nearest_passage_is_shown_as_no_more_than_that() -> None:
    world = World()
    world.documents = [handbook(0.2)]
    world.web = lambda _: []
    answer = await world.ask("Does Orchard work without a network?")
    assert answer.answer.startswith(f"{NEAREST}\n\n“It works without a network")
    assert world.searched != []
    world.documents = [handbook(0.05)]
    assert "Handbook" not in (await world.ask("Does Orchard work without a network?")).answer


async def test_how_a_thing_is_done_is_looked_for_and_not_done() -> None:
    world = World()
    await world.ask("How do I get the current time in a time zone?")
    assert world.searched != []


async def test_several_questions_are_searched_side_by_side_and_merged() -> None:
    world = World()
    answer = await world.ask("What is the capital of France and how tall is the Brennan Tower?")
    assert sorted(world.searched) == ["capital France", "tall Brennan Tower"]
    assert ("Paris" in answer.answer, "312 metres" in answer.answer) == (True, True)


async def test_a_part_that_nothing_answers_is_said_to_be_open() -> None:
    world = World()
    answer = await world.ask("What is the capital of France and who invented the Zorblatt engine?")
    assert "who invented the Zorblatt engine?\nI found nothing that answers this." in answer.answer


@pytest.mark.parametrize(
    "error",
    [
        UnavailableError("Web search cannot reach duckduckgo.", fix="Check the network connection."),
        ToolError("duckduckgo did not answer within 30 seconds.", code="TOOL_EXECUTION_TIMEOUT"),
    ],
)
async def test_a_search_that_fails_ends_with_its_reason_and_no_confidence(error: Exception) -> None:
    world = World()

    def fail(_: str) -> Any:
        raise error

    world.web = fail
    answer = await world.ask("What is the capital of France?")
    assert (answer.confidence, str(error) in answer.answer, world.stored) == (0.0, True, [])


@pytest.mark.parametrize("data", ["<html>", {"hits": 3}, ["x", "y"], 7, None])
async def test_a_search_that_answers_with_nonsense_is_no_evidence(data: Any) -> None:
    world = World()
    world.web = lambda _: data
    answer = await world.ask("What is the capital of France?")
    assert (answer.confidence, "in a form that cannot be read" in answer.answer) == (0.0, True)


async def test_the_time_is_not_researched() -> None:
    world = World()
    answer = await world.ask("What time is it in UTC?")
    assert (world.calls, "2026-11-15T12:00:00" in answer.answer) == (["get_current_time"], True)


async def test_something_to_remember_is_stored_and_not_searched_for() -> None:
    world = World()
    await world.ask("Store this in memory: Project X uses Python 3.11")
    assert world.calls == ["store_memory"]


async def test_nothing_found_anywhere_is_said() -> None:
    world = World()
    world.web = lambda _: []
    answer = await world.ask("Who invented the Zorblatt engine?")
    assert ("found nothing" in answer.answer, answer.confidence) == (True, 0.0)
