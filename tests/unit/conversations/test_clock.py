"""The clock of whoever speaks."""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from steward.conversations.clock import in_zone, now_for_speaker

EAST, WEST = ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")


async def test_turns_that_run_side_by_side_each_have_their_own_zone() -> None:
    async def hour(zone: ZoneInfo) -> datetime:
        with in_zone(zone):
            await asyncio.sleep(0)
            return await asyncio.to_thread(now_for_speaker)  # as the planner works

    east, west = await asyncio.gather(hour(EAST), hour(WEST))
    assert (east.utcoffset(), west.utcoffset()) == (timedelta(hours=14), timedelta(hours=-11))


def test_outside_of_a_turn_the_machines_zone_counts() -> None:
    with in_zone(EAST):
        pass
    machine = datetime.now(UTC).astimezone()
    assert now_for_speaker().utcoffset() == machine.utcoffset()
