from datetime import UTC, datetime

import pytest
from fastmcp import Client

from steward.servers import time

NOW = datetime(2026, 11, 15, 12, 30, 15, tzinfo=UTC)


async def ask(**arguments: str):
    async with Client(time.build(clock=lambda: NOW)) as client:
        return await client.call_tool_mcp("get_current_time", arguments)


@pytest.mark.req("RES-FR-008", "RES-FR-033")
async def test_the_time_is_utc_unless_a_zone_is_named():
    answer = await ask()
    assert answer.structured_content == {
        "timestamp": "2026-11-15T12:30:15+00:00",
        "timezone": "UTC",
        "unix_epoch": 1794745815,
    }


@pytest.mark.req("RES-FR-008")
async def test_the_same_instant_reads_differently_in_another_zone():
    answer = await ask(timezone="Asia/Kolkata")
    assert answer.structured_content == {
        "timestamp": "2026-11-15T18:00:15+05:30",
        "timezone": "Asia/Kolkata",
        "unix_epoch": 1794745815,
    }


@pytest.mark.req("RES-US1.2")
@pytest.mark.parametrize(("place", "zone"), [("Tokyo", "Asia/Tokyo"), ("new york", "America/New_York")])
async def test_a_city_stands_for_the_zone_that_is_named_after_it(place: str, zone: str):
    answer = await ask(timezone=place)
    assert answer.structured_content is not None
    assert answer.structured_content["timezone"] == zone


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "europe/berlin ", "Europe/Belrin"])
async def test_an_unknown_zone_is_refused_with_a_code(zone: str):
    answer = await ask(timezone=zone)
    assert answer.is_error
    assert answer.structured_content is not None
    assert answer.structured_content["code"] == "INVALID_INPUT"


async def test_a_misspelt_zone_gets_a_suggestion():
    answer = await ask(timezone="Europe/Belrin")
    assert "Europe/Berlin" in answer.content[0].text


async def test_without_an_injected_clock_it_is_now():
    async with Client(time.build()) as client:
        answer = await client.call_tool_mcp("get_current_time", {})
    assert answer.structured_content is not None
    assert abs(answer.structured_content["unix_epoch"] - datetime.now(UTC).timestamp()) < 60
