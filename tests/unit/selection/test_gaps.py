from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from fastmcp import Client, FastMCP

from steward.bootstrap.gaps import ToolGapDetector
from steward.contract.ports import Capability
from steward.contract.tool import ToolSpec
from steward.models.embedding import MiniLMEmbedder
from steward.selection.gaps import GapFinder, ToolGapReport, looks_things_up, runs_code

PORTFOLIO = "Retrieve my stock portfolio performance for Q3 2024"


def research_server() -> FastMCP:
    """The tools that RES gives its researcher."""
    server: FastMCP = FastMCP("research")

    @server.tool
    def web_search(query: str, max_results: int = 10) -> list[dict[str, str]]:
        """Search the web and return results with title, url and snippet."""
        raise NotImplementedError

    @server.tool
    def read_file(path: str) -> str:
        """Read a text file."""
        raise NotImplementedError

    @server.tool
    def get_current_time(timezone: str = "UTC") -> dict[str, str]:
        """Get the current time in a timezone."""
        raise NotImplementedError

    @server.tool
    def search_memory(query: str) -> list[dict[str, str]]:
        """Search what was stored in memory before."""
        raise NotImplementedError

    @server.tool
    def store_memory(content: str) -> str:
        """Store something in memory."""
        raise NotImplementedError

    return server


async def detect(request: str, **options: Any) -> ToolGapReport | None:
    async with Client(research_server()) as client:
        return await ToolGapDetector(client, **options).detect_missing_tools(request)


@pytest.mark.req("RES-ENT-ToolGapReport")
@pytest.mark.req("RES-US2.1", "RES-FR-009", "RES-FR-010", "RES-FR-012", "RES-FR-013")
async def test_a_portfolio_request_without_a_finance_tool_is_a_gap() -> None:
    report = await detect(PORTFOLIO)
    assert report is not None
    assert report.missing_tools == ["financial_data_api"]
    assert report.attempted_task == PORTFOLIO
    assert sorted(report.existing_tools_checked) == [
        "get_current_time",
        "read_file",
        "search_memory",
        "store_memory",
        "web_search",
    ]


@pytest.mark.req("RES-US2.3")
async def test_deleting_production_records_is_a_gap() -> None:
    report = await detect("Delete all customer records from the production database")
    assert report is not None
    assert report.missing_tools == ["database_modification"]


@pytest.mark.req("RES-US2.2")
async def test_a_report_says_what_is_missing_what_was_checked_and_what_would_help() -> None:
    report = await detect("Post a message in the Slack channel")
    assert report is not None
    told = report.explain()
    assert "chat messaging" in told
    assert all(f"`{name}`" in told for name in report.existing_tools_checked)
    assert "slack" in told
    assert "did nothing" in told


async def test_a_report_without_a_known_server_still_says_how_an_ability_is_added() -> None:
    report = await detect("Print this letter on the office printer")
    assert report is not None
    told = report.explain()
    assert (report.suggestions, "mcp.json" in told, "tools.json" in told) == ([], True, True)


@pytest.mark.req("RES-FR-014")
@pytest.mark.parametrize(
    "request_",
    [
        "What is the capital of France?",
        "What time is it in UTC?",
        "When is the project deadline?",
        "Read the file notes.txt",
        "Search the web for news about solar power",
        "Hello there!",
        "Thanks a lot, that helped",
    ],
)
async def test_what_tools_can_do_and_what_asks_for_nothing_is_no_gap(request_: str) -> None:
    assert await detect(request_) is None


@pytest.mark.parametrize(
    ("request_", "missing"),
    [
        ("Water the plants in the greenhouse every morning", ["water_plants"]),
        ("Fax this letter to the embassy", ["fax_letter"]),
        ("Send an email to the team and book a flight to Oslo", ["email_sending", "travel_booking"]),
    ],
)
async def test_requests_that_no_lexicon_knows_get_a_name_of_their_own(
    request_: str, missing: list[str]
) -> None:
    report = await detect(request_)
    assert report is not None
    assert report.missing_tools == missing


async def test_a_number_in_an_order_belongs_to_the_name_of_what_is_missing() -> None:
    report = await detect("Engrave the 90th ring")
    assert report is not None
    assert report.missing_tools == ["engrave_90th_ring"]


class Extractor:
    def __init__(self, *capabilities: Capability) -> None:
        self._capabilities = capabilities
        self.asked: list[str] = []

    async def extract(self, task_description: str) -> tuple[Capability, ...]:
        self.asked.append(task_description)
        return self._capabilities


@pytest.mark.req("RES-FR-011")
async def test_a_models_capabilities_are_compared_with_the_tools() -> None:
    extractor = Extractor(
        Capability("Seismograph Control", "Calibrate a seismograph in a laboratory"),
        Capability("web_search", "Search the web"),
    )
    report = await detect("Get the seismograph ready", extractor=extractor)
    assert report is not None
    assert report.missing_tools == ["seismograph_control"]
    assert extractor.asked == ["Get the seismograph ready"]


async def test_small_talk_does_not_cost_a_model_call() -> None:
    extractor = Extractor(Capability("anything", "Anything"))
    assert await detect("Hello there!", extractor=extractor) is None
    assert extractor.asked == []


async def test_writing_needs_no_tool_where_a_model_writes() -> None:
    async with Client(research_server()) as client:
        writing = GapFinder(client, reader=MiniLMEmbedder(), writes=True)
        assert await writing.detect_missing_tools("Write a poem about autumn") is None
    report = await detect("Write a poem about autumn")
    assert report is not None
    assert report.missing_tools == ["text_generation"]


class Paged:
    """A session that lists one tool a page, as `mcp.ClientSession` does."""

    schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {"size": {"type": "string"}}}

    class Page:
        def __init__(self, tools: Sequence[ToolSpec], next_cursor: str | None) -> None:
            self.tools, self.next_cursor = tools, next_cursor

    async def list_tools(self, *, params: Any = None) -> Any:
        if params is None:
            return self.Page([ToolSpec(name="first", description="One", input_schema=self.schema)], "2")
        assert params.cursor == "2"
        return self.Page([ToolSpec(name="second", description="Two")], None)


@pytest.mark.req("RES-FR-010")
async def test_every_page_of_a_session_is_read() -> None:
    detector = ToolGapDetector(Paged())
    report = await detector.detect_missing_tools("Order a pizza")
    assert report is not None
    assert report.existing_tools_checked == ["first", "second"]
    assert [tool.description for tool in detector.tools] == ["One", "Two"]
    assert detector.tools[0].input_schema == Paged.schema


def test_a_search_over_anything_is_told_by_its_name() -> None:
    names = ("web_search", "brave__web_search", "query_knowledge_base", "search_files", "search_memory")
    told = [looks_things_up(ToolSpec(name=name, description="")) for name in names]
    assert told == [True, True, True, False, True]


def test_a_tool_that_runs_programs_is_told_by_its_name() -> None:
    names = ("code_execution", "run_python", "sandbox__execute_shell", "run_report", "read_code")
    told = [runs_code(ToolSpec(name=name, description="")) for name in names]
    assert told == [True, True, True, False, False]


@pytest.mark.req("RES-FR-014")
@pytest.mark.parametrize("request_", ["convert 5 miles to km", "Work out 17 percent of 2450"])
async def test_what_can_be_computed_is_no_gap_where_code_can_be_run(request_: str) -> None:
    server: FastMCP = FastMCP("code")

    @server.tool
    def code_execution(code: str) -> str:
        """Run a program and return what it prints."""
        return code

    async with Client(server) as client:
        assert await ToolGapDetector(client).detect_missing_tools(request_) is None
    assert await detect(request_) is not None


async def test_a_clause_that_names_no_ability_of_its_own_is_done_with_the_whole() -> None:
    server: FastMCP = FastMCP("lawyers")

    @server.tool
    def find_lawyer(city: str, speciality: str, max_fee: int) -> str:
        """Find a lawyer by city, speciality and the highest fee per hour."""
        raise NotImplementedError

    asked = "Find a lawyer for divorce cases in Chicago and charge at most 400 dollars per hour"
    async with Client(server) as client:
        assert await ToolGapDetector(client).detect_missing_tools(asked) is None


async def test_the_web_answers_what_was_published_and_nothing_else() -> None:
    server: FastMCP = FastMCP("web")

    @server.tool
    def web_search(query: str) -> list[str]:
        """Search the web and return results with title, url and snippet."""
        raise NotImplementedError

    async with Client(server) as client:
        detector = ToolGapDetector(client)
        assert await detector.detect_missing_tools("Which painters belong to the Baroque era?") is None
        assert await detector.detect_missing_tools("Which of my invoices are unpaid?") is not None
    assert await detect("Which of my invoices are unpaid?") is None  # memory may know


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("turn the heating off", "smart_home_control"),
        ("show my calendar for tomorrow", "calendar_access"),
        ("transfer 50 euros to Ana", "banking"),
        ("100 USD in EUR", "currency_conversion"),
    ],
)
async def test_what_is_missing_bears_the_name_of_its_kind(request_: str, name: str) -> None:
    async with Client(research_server()) as client:
        assert await ToolGapDetector(client).name_needs(request_) == [name]
