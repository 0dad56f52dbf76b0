"""The time server: what time it is now, anywhere.

Owns `get_current_time`. The clock is injected; zones come from the IANA database.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastmcp import FastMCP
from pydantic import BaseModel, Field

from steward.contract.errors import InputError
from steward.servers.base import READS, new_server
from steward.tasks.users import zone_names

WHERE = "An IANA time zone, such as 'Europe/Berlin', or the city it is named after."


class TimeContextParams(BaseModel):
    timezone: str = Field(
        default="UTC",
        description="An IANA time zone, such as 'Europe/Berlin', or the city it is named after.",
    )


class TimeContextResult(BaseModel):
    timestamp: str = Field(description="ISO 8601, with the zone's offset.")
    timezone: str
    unix_epoch: int = Field(description="Seconds since 1970-01-01T00:00:00Z.")


def current_time(params: TimeContextParams, now: datetime) -> TimeContextResult:
    zone = _zone(params.timezone)
    there = now.astimezone(zone)
    return TimeContextResult(
        timestamp=there.isoformat(timespec="seconds"),
        timezone=zone.key,
        unix_epoch=int(there.timestamp()),
    )


@cache
def _zones_of_places() -> dict[str, str]:
    """Zones by the place they are named after ('tokyo'), where only one is."""
    zones: dict[str, list[str]] = {}
    for zone in zone_names():
        if not zone.startswith(("Etc/", "posix/", "right/", "SystemV/", "US/")):
            zones.setdefault(zone.rpartition("/")[2].lower(), []).append(zone)
    return {place: found[0] for place, found in zones.items() if len(found) == 1}


def _zone(name: str) -> ZoneInfo:
    # Checked against the list first: ZoneInfo opens files named by its key.
    if name not in zone_names():
        name = _zones_of_places().get(name.strip().lower().replace(" ", "_"), name)
    if name not in zone_names():
        close = get_close_matches(name[:80], zone_names(), n=3)
        hint = f"Did you mean {' or '.join(close)}?" if close else "Use an IANA name such as 'Europe/Berlin'."
        raise InputError(f"There is no time zone '{name[:64]}'.", fix=hint)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise InputError(f"The time zone '{name[:64]}' cannot be read.", fix="Use another zone.") from error


def build(*, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> FastMCP:
    server = new_server("steward-time", "Tells the current time in any IANA time zone.")

    @server.tool(annotations=READS)
    def get_current_time(
        timezone: Annotated[
            str,
            Field(description="An IANA time zone, such as 'Europe/Berlin', or the city it is named after."),
        ] = "UTC",
    ) -> TimeContextResult:
        """The current date and time in a time zone, with the Unix epoch.

        Use it instead of web_search for what time or day it is.
        """
        return current_time(TimeContextParams(timezone=timezone), clock())

    return server
