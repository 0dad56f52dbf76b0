"""Tool search over a running platform: as tools come and go, and as they are used."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import until

from steward.bootstrap.gaps import gap_detector
from steward.bootstrap.platform import Platform, open_platform
from steward.contract.agent import AgentManifest, Health
from steward.contract.call import Caller, CallerKind, Done, ToolCall, ToolResult
from steward.contract.errors import AgentError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.settings import Settings


class Garden:
    """An agent with one tool."""

    async def initialize(self) -> None: ...

    async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
        return Done(data="watered")

    async def shutdown(self) -> None: ...

    def manifest(self) -> AgentManifest:
        water = ToolSpec(
            name="sprinkle",
            description="Water the orchids.",
            origin=Origin.BUILTIN,
            effect=Effect.READS,
            risk=RiskLevel.REVERSIBLE,
        )
        return AgentManifest(id="garden", name="Garden", tools=(water,))

    async def health(self) -> Health:
        return Health(healthy=True)


class Broken(Garden):
    async def initialize(self) -> None:
        raise AgentError("There is no water.")


@asynccontextmanager
async def platform(home: Path, database_url: str) -> AsyncIterator[Platform]:
    settings = Settings(STEWARD_HOME=home, DATABASE_URL=database_url, _env_file=None)  # type: ignore[call-arg]
    async with open_platform(settings) as opened:
        yield opened


def first(opened: Platform, query: str) -> str:
    specs = [tool.spec for tool in opened.orchestrator.registry if tool.available]
    return opened.ranker.rank(query, specs, limit=1)[0].tool.name


async def serve(opened: Platform, said: str, *, tool: str = "sprinkle", user: str = "local") -> None:
    call = ToolCall(
        tool=tool,
        arguments={},
        caller=Caller(CallerKind.AGENT, "assistant"),
        user=user,
        utterance=said,
        correlation_id=said,
    )
    assert isinstance(await opened.orchestrator.execute(call), Done)


@pytest.mark.req("SKL-FR-004", "SKL-US3.1", "SKL-US3.2")
async def test_a_new_tool_is_found_by_its_meaning_and_not_after_it_has_gone(
    home: Path, database_url: str
) -> None:
    async with platform(home, database_url) as opened:
        request = "give the flowers something to drink"
        assert first(opened, request) != "sprinkle"
        opened.orchestrator.register_agent_factory("garden", Garden)
        await opened.orchestrator.lifecycle.start("garden")
        assert first(opened, request) == "sprinkle"
        await opened.orchestrator.lifecycle.stop("garden")
        assert first(opened, request) != "sprinkle"


async def test_a_later_start_takes_vectors_from_the_database(home: Path, database_url: str) -> None:
    async with platform(home, database_url) as opened:
        assert first(opened, "what time is it") == "get_current_time"
    async with platform(home, database_url) as opened:
        await until(lambda: len(opened.search.index) > 0 and not opened.search.index.missing())


async def test_what_served_a_request_is_learned_and_kept(home: Path, database_url: str) -> None:
    said = "do the usual for aunt Zelda"
    async with platform(home, database_url) as opened:
        opened.orchestrator.register_agent_factory("garden", Garden)
        await opened.orchestrator.lifecycle.start("garden")
        assert first(opened, said) != "sprinkle"
        for tool in ("get_current_time", "sprinkle"):  # the last call of a turn is what served it
            await serve(opened, said, tool=tool)
        await opened.search.learn()
        assert first(opened, said) == "sprinkle"
    async with platform(home, database_url) as opened:
        opened.orchestrator.register_agent_factory("garden", Garden)
        await opened.orchestrator.lifecycle.start("garden")
        await until(lambda: first(opened, said) == "sprinkle")


async def test_what_an_erased_user_taught_is_forgotten_at_once_and_what_others_taught_is_not(
    home: Path, database_url: str
) -> None:
    hers, shared, waiting = "the usual for aunt Zelda", "a round for uncle Omar", "the rest for cousin Pia"
    async with platform(home, database_url) as opened:
        opened.orchestrator.register_agent_factory("garden", Garden)
        await opened.orchestrator.lifecycle.start("garden")
        await opened.search.warm()
        await opened.tasks.users.add("ana")
        untaught = first(opened, "What is the weather like in Lisbon?")
        for said in (hers, shared):
            await serve(opened, said, user="ana")
        await serve(opened, shared)
        await opened.search.learn()
        assert (first(opened, hers), first(opened, shared)) == ("sprinkle", "sprinkle")
        await serve(opened, waiting, user="ana")
        await opened.erase_user("ana")
        await opened.search.learn()
        assert (first(opened, shared), "sprinkle" in (first(opened, hers), first(opened, waiting))) == (
            "sprinkle",
            False,
        )
        assert first(opened, "What is the weather like in Lisbon?") == untaught


async def test_a_search_says_that_an_agent_is_missing(home: Path, database_url: str) -> None:
    async with platform(home, database_url) as opened:
        assert opened.search.incomplete() == []
        opened.orchestrator.register_agent_factory("garden", Broken)
        with pytest.raises(AgentError):
            await opened.orchestrator.lifecycle.start("garden")
        missing = ["'garden' is not reachable; its tools may be missing."]
        report = await gap_detector(opened).detect_missing_tools("Turn on the coffee machine")
        assert report is not None
        assert (opened.search.incomplete(), report.absences) == (missing, missing)
        assert missing[0] in report.explain()


async def test_a_tool_is_found_by_the_requests_that_it_gives_as_examples(
    home: Path, database_url: str
) -> None:
    async with platform(home, database_url) as opened:
        await opened.search.warm()
        await until(lambda: not opened.search.index.missing(), seconds=60)
        assert first(opened, "What is the weather like in Lisbon?") == "web_search"
        assert first(opened, "What did I tell you about my bicycle?") == "search_memory"


async def test_research_teaches_nothing_since_it_ends_with_keeping_whatever_was_asked(
    home: Path, database_url: str
) -> None:
    said = "Who designed the lighthouse of Port Vesper?"
    async with platform(home, database_url) as opened:
        before = first(opened, said)
        call = ToolCall(
            tool="store_memory",
            arguments={"content": "Ada Holm designed it."},
            caller=Caller(CallerKind.AGENT, "researcher"),
            user="local",
            utterance=said,
        )
        assert isinstance(await opened.orchestrator.execute(call), Done)
        await opened.search.learn()
        assert first(opened, said) == before


async def test_a_warm_search_knows_the_meaning_of_every_tool(home: Path, database_url: str) -> None:
    async with platform(home, database_url) as opened:
        await opened.search.warm()
        await until(lambda: not opened.search.index.missing(), seconds=60)
