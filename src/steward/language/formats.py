"""How a slot wants dates and times written: as its schema, its description or an example there says.

Owns formats only; which date was said is the grammar's to know.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from steward.contract import linear_re as re
from steward.language.forms.patterns import rendering_of
from steward.language.lengths import length_of_time

_DATE = r"(?:yyyy|mm|dd)(?:[-/. ](?:yyyy|mm|dd)){1,2}|yyyymmdd"
_CLOCK = r"hh?:mm(?::ss)?"
_WRITTEN = re.compile(rf"(?P<date>{_DATE})(?P<joint>t|\s|,\s)?(?P<clock>{_CLOCK})?|(?P<alone>{_CLOCK})")
_STRFTIME = re.compile(r"%y-%m-%d|%h:%m")
_ISO = ("iso 8601", "iso8601", "iso date", "iso format", "iso-8601", "rfc 3339", "rfc3339")
_TIMED = ("datetime", "date-time", "date and time", "timestamp", "thh")
_SEASON = re.compile(r"(?:yyyy|\d{4})(?P<joint>[-/\u2013])(?:(?P<long>yyyy|\d{4})|yy\b|\d{2}\b)(?![-/\d])")
_SAID_SEASON = re.compile(r"(?P<first>\d{4})\s?[-/\u2013]\s?(?P<last>\d{4}|\d{2})")
_EXACT = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d{2}):(?P<s>\d{2})")
_DATES = {"yyyy": "%Y", "mm": "%m", "dd": "%d"}
_PIECES = re.compile(r"yyyy|mm|dd")


def wanted_format(schema: Mapping[str, Any]) -> str | None:
    """`time`, `date-time` or a pattern of strftime, as the schema, its pattern or its description says."""
    return rendering_of(schema, _told_format(schema))


def _told_format(schema: Mapping[str, Any]) -> str | None:
    stated = str(schema.get("format") or "").lower()
    if stated in ("date", "date-time", "time"):
        return "%Y-%m-%d" if stated == "date" else stated
    about = str(schema.get("description") or "").lower()
    timed = any(words in about for words in _TIMED)
    written = _WRITTEN.search(about)
    if written is not None and written["date"]:
        return _as_written(written["date"], written["joint"] or "", written["clock"] or "", timed=timed)
    named = _STRFTIME.search(about)
    if any(words in about for words in _ISO) or (named is not None and named[0].startswith("%y")):
        return "date-time" if written or timed else "%Y-%m-%d"
    if written is not None and written["alone"].endswith("ss"):
        return "%H:%M:%S"
    return "time" if written or named or "24-hour" in about or "24 hour" in about else None


def _as_written(day: str, joint: str, clock: str, *, timed: bool) -> str:
    pattern = _PIECES.sub(lambda found: _DATES[found[0]], day)
    if clock:
        return f"{pattern}{joint.upper()}{'%H:%M:%S' if clock.endswith('ss') else '%H:%M'}"
    return "date-time" if timed else pattern


def in_format(wanted: str, at: datetime) -> str:
    if wanted == "time":
        return at.strftime("%H:%M")
    return at.replace(microsecond=0).isoformat() if wanted == "date-time" else at.strftime(wanted)


def season_of(schema: Mapping[str, Any], words: str) -> str | None:
    """ "2010/11" as the description writes such years: "2010-2011"."""
    told = _SEASON.search(str(schema.get("description") or "").lower())
    said = _SAID_SEASON.fullmatch(words.strip())
    if told is None or said is None:
        return None
    last = said["last"] if len(said["last"]) == 4 else said["first"][:2] + said["last"]
    return f"{said['first']}{told['joint']}{last if told['long'] else last[2:]}"


def length_in(schema: Mapping[str, Any], words: str) -> str | None:
    """A length of time as hours, minutes and seconds, where the description writes them so."""
    written = _WRITTEN.search(str(schema.get("description") or "").lower())
    if written is None or not written["alone"]:
        return None
    seconds = _seconds(words.strip().lower())
    if seconds is None:
        return None
    hours, rest = divmod(seconds, 3600)
    short = f"{hours:02d}:{rest // 60:02d}"
    return f"{short}:{rest % 60:02d}" if written["alone"].endswith("ss") else short


def _seconds(words: str) -> int | None:
    exact = _EXACT.fullmatch(words)
    if exact is not None:
        return int(exact["h"]) * 3600 + int(exact["m"]) * 60 + int(exact["s"])
    length = length_of_time(words)
    return None if length is None else int(length)
