"""Time zones behind a time: "EST", "Pacific time", "UTC+2", "+05:30"."""

from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from steward.language.dates.reader import Reader
from steward.language.dates.words import REGIONS, ZONES


def zone_at(r: Reader, i: int) -> tuple[tzinfo, int] | None:
    start = r.skip(i, ("(",))
    word = r.word(start)
    found: tzinfo | None = None
    end = start + 1
    if word in REGIONS and (len(word) == 2 or r.word(end) == "time"):
        found, end = ZoneInfo(REGIONS[word]), r.skip(end, ("time",))
        if len(word) == 2 and not r.tokens[start].raw.isupper():
            return None
    elif word in ZONES and (word != "z" or r.glued(start)):
        found = timezone(timedelta(minutes=ZONES[word])) if ZONES[word] else UTC
        if word in ("utc", "gmt"):
            found, end = _offset(r, end) or (found, end)
    elif word in ("+", "-") and r.glued(start) and r.glued(start + 1) and len(r.word(start + 1)) in (2, 4):
        offset = _offset(r, start)
        found, end = offset or (None, end)
    if found is None:
        return None
    return found, r.skip(end, (")",)) if start > i else end


def _offset(r: Reader, i: int) -> tuple[tzinfo, int] | None:
    """+2, -0530, +05:30."""
    if r.word(i) not in ("+", "-") or not r.glued(i):
        return None
    value = r.digits(i + 1)
    if value is None:
        return None
    hours, minutes, end = (value // 100, value % 100, i + 2) if value > 24 else (value, 0, i + 2)
    low = r.digits(end + 1, most=2)
    if r.word(end) == ":" and low is not None:
        minutes, end = low, end + 2
    if hours > 14 or minutes > 59:
        return None
    span = timedelta(hours=hours, minutes=minutes)
    return timezone(-span if r.word(i) == "-" else span), end
