"""Gap detection over the tools that the product ships."""

import json
from pathlib import Path

import pytest

from steward.bootstrap.gaps import gap_detector
from steward.bootstrap.platform import open_platform
from steward.settings import Settings

OUTSIDE = Path(__file__).parent.parent / "requests" / "outside.jsonl"
POSSIBLE = (
    "Add milk to my tasks",
    "Delete the task about the dentist",
    "What time is it in UTC?",
    "Read the file notes.txt",
    "Remember that my sister is called Eva",
    "What do my papers say about swarms?",
    "Who won the world cup in 2018?",
    "Index the folder papers into the knowledge base",
    "Hello there!",
)
IMPOSSIBLE = {
    "Retrieve my stock portfolio performance for Q3 2024": ["financial_data_api"],
    "Delete all customer records from the production database": ["database_modification"],
    "Turn on the coffee machine": ["smart_home_control"],
    "Transfer 200 euros to my landlord": ["banking"],
    "Book a table for four tonight": ["restaurant_reservation"],
    "Fax this letter to the embassy": ["fax_letter"],
}


@pytest.mark.req("RES-US2.1", "RES-US2.3", "RES-FR-014", "RES-SC-003")
async def test_the_products_own_tools_are_told_from_what_they_cannot_do(
    home: Path, database_url: str
) -> None:
    settings = Settings(STEWARD_HOME=home, DATABASE_URL=database_url, _env_file=None)  # type: ignore[call-arg]
    async with open_platform(settings) as platform:
        detector = gap_detector(platform)
        reports = {request: await detector.detect_missing_tools(request) for request in POSSIBLE}
        assert {request for request, report in reports.items() if report is not None} == set()
        for request, missing in IMPOSSIBLE.items():
            report = await detector.detect_missing_tools(request)
            assert report is not None, request
            assert report.missing_tools == missing


@pytest.mark.timeout(300)
async def test_commands_that_none_of_the_own_tools_serves_are_mostly_refused(
    home: Path, database_url: str
) -> None:
    """When they were written, .88 of 60 were refused, and none of 40 that the tools do serve."""
    rows = [json.loads(line) for line in OUTSIDE.read_text(encoding="utf-8").splitlines()]
    settings = Settings(STEWARD_HOME=home, DATABASE_URL=database_url, _env_file=None)  # type: ignore[call-arg]
    async with open_platform(settings) as platform:
        detector = gap_detector(platform)
        refused = {
            row["request"] for row in rows if await detector.detect_missing_tools(row["request"]) is not None
        }
    served = {row["request"] for row in rows if row["served"]}
    outside = {row["request"] for row in rows if not row["served"]}
    assert len(refused & outside) / len(outside) >= 0.83, outside - refused
    assert len(refused & served) / len(served) <= 0.03, refused & served


async def test_tools_that_an_agent_is_not_offered_do_not_count(home: Path, database_url: str) -> None:
    settings = Settings(STEWARD_HOME=home, DATABASE_URL=database_url, _env_file=None)  # type: ignore[call-arg]
    async with open_platform(settings) as platform:
        detector = gap_detector(platform, includes=lambda tool: tool.spec.name == "web_search")
        report = await detector.detect_missing_tools("Delete the task about the dentist")
        assert report is not None
        assert report.existing_tools_checked == ["web_search"]
