"""A moment in the past as people type it: a date, a time, or how long ago."""

from datetime import UTC, datetime, timedelta

from steward.contract import linear_re as re
from steward.contract.errors import InputError

AGO = re.compile(r"(\d{1,6})\s*([mhdw])")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, *, now: datetime | None = None) -> datetime:
    now = now or datetime.now(UTC)
    if ago := AGO.fullmatch(text.strip().lower()):
        try:
            return now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(
            f"'{text}' is not a moment.", fix="Use a date such as 2026-11-01, or 90m, 24h, 7d, 2w."
        ) from None
    return moment if moment.tzinfo else moment.astimezone()
