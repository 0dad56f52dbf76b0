"""W3C trace context: which trace a piece of work belongs to, as a request says it and as servers are told.

Owns the form of `traceparent` and what runs under which. Spans are telemetry's.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from steward.contract import linear_re as re

TRACEPARENT = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class TraceContext:
    trace_id: str
    span_id: str

    def header(self) -> str:
        """Always marked as recorded, because all of our spans are."""
        return f"00-{self.trace_id}-{self.span_id}-01"


current_trace: ContextVar[TraceContext | None] = ContextVar("current_trace", default=None)
"""The span that what runs now belongs to: one of ours, or the one of whoever asked."""


def trace_of(said: object) -> TraceContext | None:
    """What a `traceparent` names; None for what is none, as the standard wants."""
    found = _FORM.fullmatch(said) if isinstance(said, str) else None
    if found is None or found.group(1) == "ff":
        return None
    trace_id, span_id = found.group(2), found.group(3)
    return TraceContext(trace_id, span_id) if trace_id.strip("0") and span_id.strip("0") else None


@contextmanager
def arrived_with(trace: TraceContext | None) -> Generator[None]:
    """Around a request: what it carried is known, and what an earlier one carried is forgotten."""
    token = current_trace.set(trace)
    try:
        yield
    finally:
        current_trace.reset(token)


def passed_on(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Parameters of an MCP request with the trace that they belong to in `_meta`."""
    trace = current_trace.get()
    if trace is None:
        return params
    return {**params, "_meta": {**(params.get("_meta") or {}), TRACEPARENT: trace.header()}}
