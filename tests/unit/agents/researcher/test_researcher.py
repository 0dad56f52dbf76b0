"""The researcher's agent, its memory tools and its rules, without a platform."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from tests.support.door import Door, tool
from tests.support.library import memory
from tests.support.planner_talk import NOW

from steward.agents.profile import Draft
from steward.agents.researcher.account import account, confidence, support
from steward.agents.researcher.evidence import ToolOutcome
from steward.agents.researcher.research_guards import FromTheRecord
from steward.agents.researcher.research_session import ResearchSession
from steward.agents.researcher.researcher import initialize_researcher, setup_mcp_tools
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.narration import narrate
from steward.contract.errors import AgentError, ConfigError, ToolError
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus, CallRecord, CallStatus
from steward.storage.database.postgres import Database

FRANCE = "Paris is the capital of France."


def context(deps: Any) -> RunContext[Any]:
    return RunContext(deps=deps, model=TestModel(), usage=RunUsage())


async def call(deps: Any, name: str, **arguments: Any) -> Any:
    """A tool of the agent, called as Pydantic AI calls it."""
    [toolset] = [each for each in initialize_researcher().toolsets if name in getattr(each, "tools", {})]
    return await toolset.tools[name].function_schema.call(arguments, context(deps))  # type: ignore[attr-defined]


@pytest.mark.req("RES-ENT-MemoryManager")
@pytest.mark.req("RES-FR-024", "RES-FR-025", "RES-FR-026")
async def test_the_memory_tools_work_on_the_run_contexts_memory_manager(database: Database) -> None:
    manager = memory(database)
    stored = await call(
        manager, "store_memory", content="Project X uses Python 3.11", metadata={"project": "X"}
    )
    found = await call(manager, "search_memory", query="What tech stack does Project X use?")
    assert (found[0]["id"], found[0]["content"], found[0]["metadata"]["project"]) == (
        stored,
        "Project X uses Python 3.11",
        "X",
    )


@pytest.mark.req("RES-ART-memory")
async def test_any_store_with_a_memorys_two_methods_is_a_memory() -> None:
    class Notebook:
        def __init__(self) -> None:
            self.pages: list[tuple[str, Any]] = []

        async def semantic_search(self, query: str, top_k: int = 5) -> Any:
            return [{"content": content, "metadata": about} for content, about in self.pages][:top_k]

        async def store_document(self, content: str, metadata: Any = None) -> str:
            self.pages.append((content, metadata))
            return f"page {len(self.pages)}"

    notebook = Notebook()
    stored = await call(notebook, "store_memory", content=FRANCE, metadata={"topic": "france"})
    found = await call(notebook, "search_memory", query="capital of France")
    assert (stored, found) == ("page 1", [{"content": FRANCE, "metadata": {"topic": "france"}}])


async def test_a_memory_that_fails_is_told_and_ends_nothing() -> None:
    class Broken:
        async def semantic_search(self, query: str, top_k: int = 5) -> Any:
            raise ToolError("The memory is full.")

        async def store_document(self, content: str, metadata: Any = None) -> Any:
            raise ToolError("The memory is full.")

    [searched] = await call(Broken(), "search_memory", query="x")
    stored = await call(Broken(), "store_memory", content="x", metadata={})
    assert (searched["error"], stored) == ("The memory is full.", "Nothing was stored: The memory is full.")


# --- the session as a memory ---


async def test_remembering_goes_through_the_door_and_is_on_the_record() -> None:
    kept: list[Any] = []

    def store_memory(content: str, metadata: dict[str, Any]) -> str:
        """Keep."""
        kept.append((content, metadata))
        return "m1"

    def search_memory(query: str, top_k: int) -> dict[str, Any]:
        """Search."""
        return {"items": [{"content": FRANCE}]}

    door = await Door().with_tools(tool(store_memory), tool(search_memory))
    plain = AgentSession(agent="researcher", user="ana", utterance="What is the capital of France?")
    session = ResearchSession.of(plain, door.orchestrator)
    found = await session.semantic_search("France")
    identifier = await session.store_document(FRANCE, {"topic": "mine", "sources": ["made up"]})
    assert (found, identifier, [each.call.tool for each in door.log.executions]) == (
        [{"content": FRANCE}],
        "m1",
        ["search_memory", "store_memory"],
    )
    assert [record.tool for record in session.ledger.calls] == ["search_memory", "store_memory"]
    assert (kept[0][1]["topic"], "sources" in kept[0][1]) == ("mine", False)


async def test_without_a_memory_it_says_so() -> None:
    session = ResearchSession.of(AgentSession(agent="researcher"), Door().orchestrator)
    with pytest.raises(ToolError):
        await session.semantic_search("x")
    with pytest.raises(ConfigError):
        await ResearchSession(agent="researcher").semantic_search("x")


async def test_a_memory_that_refuses_is_an_error_with_its_code() -> None:
    def search_memory(query: str, top_k: int) -> Any:
        """Search."""
        raise ToolError("Too long.", code="INVALID_INPUT")

    door = await Door().with_tools(tool(search_memory))
    with pytest.raises(ToolError) as caught:
        await ResearchSession.of(AgentSession(agent="researcher"), door.orchestrator).semantic_search("x")
    assert caught.value.code == "INVALID_INPUT"


# --- its servers ---


@pytest.mark.req("RES-FR-005", "RES-EDGE-01")
async def test_a_server_that_does_not_connect_leaves_the_others_at_work() -> None:
    def now() -> str:
        """The time."""
        return "now"

    async def broken() -> Any:
        raise RuntimeError("npx command not found")

    door = await Door().with_tools(tool(now), agent="time")
    door.orchestrator.register_agent_factory("web", broken)
    assert await setup_mcp_tools(door.orchestrator, ("web", "time")) == ("time",)
    with pytest.raises(AgentError) as caught:
        await setup_mcp_tools(door.orchestrator, ("web",))
    assert (caught.value.code, "npx command not found" in caught.value.message) == ("AGENT_INIT_FAILED", True)


# --- the rule ---


def record(name: str, data: Any = None, status: CallStatus = CallStatus.DONE, **arguments: Any) -> CallRecord:
    error = None if status is CallStatus.DONE else "It failed."
    return CallRecord(tool=name, arguments=arguments, status=status, data=data, error=error)


def page(url: str, text: str = FRANCE) -> CallRecord:
    return record("fetch_page", {"url": url, "title": "Page", "text": text, "date": "2026-01-02"}, url=url)


def remembered(age: timedelta, **metadata: Any) -> CallRecord:
    when = (NOW - age).isoformat()
    row = {"id": "m", "content": FRANCE, "score": 0.9, "metadata": {"timestamp": when, **metadata}}
    return record("search_memory", {"items": [row]}, query="q")


RULE = FromTheRecord(now=lambda: NOW)
SESSION = AgentSession(agent="researcher", utterance="What is the capital of France?")


@pytest.mark.parametrize(
    ("name", "calls", "code"),
    [
        ("web_search", [], "MEMORY_FIRST"),
        ("query_knowledge_base", [], "MEMORY_FIRST"),
        ("get_current_time", [], None),
        ("web_search", [record("search_memory", {"items": []})], None),
        ("web_search", [remembered(timedelta(0), topic="t")], "KNOWN_ALREADY"),
        ("web_search", [remembered(timedelta(days=40), topic="t")], None),
        ("web_search", [remembered(timedelta(days=40))], "KNOWN_ALREADY"),
        ("fetch_page", [remembered(timedelta(0))], None),
    ],
)
def test_memory_comes_first_and_what_is_fresh_is_not_searched_again(
    name: str, calls: list[CallRecord], code: str | None
) -> None:
    spec = ToolSpec(name=name, description="")
    refusal = RULE.admit(spec, {}, ledger=Ledger(calls=calls), session=SESSION)
    assert (refusal and refusal.code) == code


def test_the_persons_own_page_is_read_at_once() -> None:
    session = AgentSession(agent="researcher", utterance="Read https://a.example/x")
    spec = ToolSpec(name="fetch_page", description="")
    assert RULE.admit(spec, {"url": "https://a.example/x"}, ledger=Ledger(), session=session) is None


def reviewed(text: str, *calls: CallRecord, status: AnswerStatus = AnswerStatus.DONE) -> Draft:
    draft = Draft(text=text, status=status, confidence=0.99)
    return RULE.review(draft, ledger=Ledger(calls=list(calls)), session=SESSION)


@pytest.mark.req("RES-EDGE-02", "RES-EDGE-06")
def test_confidence_rests_on_evidence_alone() -> None:
    one, two = page("https://a.example/1"), page("https://b.example/2")
    other = page("https://c.example/3", "The capital of France was Versailles for a while.")
    failed = record("web_search", status=CallStatus.FAILED, query="q")
    sure = [
        reviewed("Paris", *calls).confidence
        for calls in ([], [failed], [one], [one, two], [one, two, other], [one, two, failed])
    ]
    nothing, only_failed, single, double, disputed, troubled = sure
    assert (nothing, only_failed) == (0.0, 0.0)
    assert 0.5 < single < double
    assert double > disputed > 0.5
    assert double > troubled > 0.5


def test_a_passage_that_fits_badly_makes_less_sure() -> None:
    def sure(relevance: float) -> float:
        row = {"content": FRANCE, "source_document": "atlas.md", "relevance_score": relevance}
        return reviewed("Paris", record("query_knowledge_base", {"results": [row]}, query="q")).confidence

    assert 0 < sure(0.2) < sure(0.9)


def test_the_same_site_twice_is_one_source() -> None:
    once = reviewed("Paris", page("https://a.example/1"))
    twice = reviewed("Paris", page("https://a.example/1"), page("https://www.a.example/2"))
    assert once.confidence == twice.confidence


@pytest.mark.req("RES-US1.1", "RES-SC-002")
def test_a_source_whose_quote_does_not_hold_the_answer_is_no_support() -> None:
    asked, lyon = "What is the capital of France?", "Lyon is a large city of France, with a capital kitchen."
    heard = [
        ToolOutcome(tool="fetch_page", arguments={}, data={"url": "https://a.example/1", "text": FRANCE}),
        ToolOutcome(tool="fetch_page", arguments={}, data={"url": "https://b.example/2", "text": lyon}),
    ]
    found = support(asked, f"“{FRANCE}” [1]\n“{lyon}” [2]", heard)
    assert [each.source.location for each in found] == ["https://a.example/1"]


def test_what_an_answer_quotes_is_among_its_sources_and_makes_it_no_surer() -> None:
    off_subject = "The kettle holds two litres and whistles."
    row = {"content": off_subject, "source_document": "kitchen.md", "relevance_score": 0.4}
    draft = reviewed(f"“{off_subject}” [1]", record("query_knowledge_base", {"results": [row]}, query="q"))
    assert [each.location for each in draft.sources] == ["kitchen.md"]
    assert draft.confidence == 0.0


def test_an_answer_that_failed_or_waits_claims_no_confidence() -> None:
    failed = reviewed("It went wrong.", page("https://a.example/1"), status=AnswerStatus.FAILED)
    waits = reviewed("Sure?", status=AnswerStatus.PENDING_APPROVAL)
    assert (failed.confidence, waits.reasoning) == (0.0, "")


def test_the_account_tells_what_happened_and_what_failed() -> None:
    heard = [
        ToolOutcome(tool="search_memory", arguments={"query": "q"}, data={"items": []}),
        ToolOutcome(tool="web_search", arguments={"query": "q"}, failure="It is offline."),
        ToolOutcome(tool="notes__search", arguments={}, data="a note"),
    ]
    assert account(heard, []) == (
        "Searched memory for “q”: no memories. Used notes__search. "
        "Nothing that was found supports an answer. web_search failed: It is offline."
    )
    assert confidence("q", "a note", heard) > 0


def test_a_call_is_narrated_where_its_name_says_too_little() -> None:
    assert narrate("web_search", {"query": "tea"}) == "searching the web for tea …"
    assert narrate("store_memory", {}) == "keeping what was found …"
    assert narrate("add_task", {}) is None
