"""Finished spans in local files, so that a trace can be shown where no collector runs.

Owns `traces-YYYY-MM-DD.jsonl` (the last seven days that have any, each bounded) and finding a trace in them.
Knows nothing of OpenTelemetry: a span arrives as a plain record.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import orjson

from steward.orchestrator.ports import Clock
from steward.telemetry.append import SYSTEM_CLOCK, DailyAppender, DailyFiles, lines

RETENTION_DAYS = 7
DAY_BYTES = 64 << 20
MOST_SPANS = 2000

USER = "user"  # the attribute that says whose a span is, and those below it with it

_NAME = "traces"


class SpanSink:
    """Used by one background thread; reading is safe from anywhere, also from other processes."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock = SYSTEM_CLOCK,
        retention_days: int = RETENTION_DAYS,
        day_bytes: int = DAY_BYTES,
    ) -> None:
        self._files = DailyFiles(folder, _NAME)
        self._appender = DailyAppender(self._files, keep_days=retention_days)
        self._clock = clock
        self._day_bytes = day_bytes
        self._problem: str | None = None

    def write(self, spans: Sequence[Mapping[str, Any]]) -> bool:
        """Append the spans, already masked. False when some were dropped: the day is full, or the disk."""
        today = self._clock.now().astimezone(UTC).date()
        try:
            for span in spans:
                line = orjson.dumps(span)
                if self._appender.file(today).size() + len(line) > self._day_bytes:
                    self._problem = "today's trace file is full; spans are dropped until tomorrow"
                    return False
                self._appender.append(line, day=today)
        except OSError as error:
            self._problem = error.strerror or str(error)
            return False
        self._problem = None
        return True

    def problem(self) -> str | None:
        return f"Traces are not kept in {self._files.folder}: {self._problem}." if self._problem else None

    def read_trace(self, trace_id: str) -> list[dict[str, Any]]:
        return read_trace(self._files.folder, trace_id)

    def close(self) -> None:
        self._appender.close()


def read_trace(folder: Path, trace_id: str) -> list[dict[str, Any]]:
    """The spans of a trace, oldest first, by its trace id or by an id of a call in it: its own or its
    correlation id.
    """
    files = DailyFiles(folder, _NAME)
    found = _having(files, "trace_id", {trace_id})
    for name in ("correlation_id", "call_id"):
        if not found:
            named = _having(files, name, {trace_id})
            found = _having(files, "trace_id", {span["trace_id"] for span in named}) if named else []
    return sorted(found, key=lambda span: span["start_ns"])


def spans_of(spans: Sequence[Mapping[str, Any]], user: str) -> list[dict[str, Any]]:
    """Those that were done for this user. What nobody is named for is nobody's here."""
    known = {span["span_id"]: span for span in spans}
    return [dict(span) for span in spans if _owner(span, known) == user]


def _owner(span: Mapping[str, Any] | None, known: Mapping[str, Mapping[str, Any]]) -> str | None:
    """A span's own, or that of what it was part of."""
    seen: set[str] = set()
    while span is not None and span["span_id"] not in seen:
        owner = span["attributes"].get(USER)
        if owner is not None:
            return str(owner)
        seen.add(span["span_id"])
        span = known.get(str(span.get("parent_id")))
    return None


def _having(files: DailyFiles, name: str, wanted: set[str]) -> list[dict[str, Any]]:
    needles = [orjson.dumps(value) for value in wanted]
    found: list[dict[str, Any]] = []
    for day in reversed(files.days()):
        before = len(found)
        for line in lines(files.path(day), order="newest"):
            if not any(needle in line.content for needle in needles):
                continue
            span = line.parsed()
            if span and (span.get(name) in wanted or span["attributes"].get(name) in wanted):
                found.append(span)
                if len(found) == MOST_SPANS:
                    return found
        if found and len(found) == before:
            break  # a trace is a matter of moments: it does not pause for a day
    return found
