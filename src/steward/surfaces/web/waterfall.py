"""A run's spans as a waterfall: when each began, how long it took, what it was part of.

Pure: spans of `GET /v1/traces/{id}` in, markup out. Everything in a span is somebody else's text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steward.surfaces.web.look import Bar, chart, milliseconds

Span = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    kind: str  # run, model or tool
    depth: int
    left: float  # percent of the whole
    width: float
    duration_ms: float
    failed: bool
    span: Span


def rows(spans: Sequence[Span]) -> list[Row]:
    """Each span under its parent, oldest first; one whose parent is not there stands at the top."""
    if not spans:
        return []
    begin = min(span["start_ns"] for span in spans)
    whole = max(total_ms(spans) * 1e6, 1)
    known = {span["span_id"] for span in spans}
    children: dict[str | None, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span["start_ns"]):
        parent = span["parent_id"] if span["parent_id"] in known else None
        children.setdefault(parent, []).append(span)
    found: list[Row] = []
    waiting = [(span, 0) for span in reversed(children.get(None, []))]
    while waiting:
        span, depth = waiting.pop()
        left = 100 * (span["start_ns"] - begin) / whole
        found.append(
            Row(
                name=title(span["name"]),
                kind=_kind(span["name"]),
                depth=depth,
                left=left,
                width=min(100 - left, 100 * span["duration_ms"] * 1e6 / whole),
                duration_ms=span["duration_ms"],
                failed=span["status"] == "error",
                span=span,
            )
        )
        waiting += [(child, depth + 1) for child in reversed(children.get(span["span_id"], []))]
    return found


def total_ms(spans: Sequence[Span]) -> float:
    begin = min(span["start_ns"] for span in spans)
    return max((span["start_ns"] - begin) / 1e6 + span["duration_ms"] for span in spans)


def title(name: str) -> str:
    return name.removeprefix("mcp_tool_call:")


def _kind(name: str) -> str:
    if name.startswith("mcp_tool_call:"):
        return "tool"
    return "run" if name.startswith(("agent_run", "invoke_agent")) else "model"


def markup(found: Sequence[Row]) -> str:
    return chart(
        "Spans of this run",
        (
            Bar(
                row.name,
                row.left,
                row.width,
                milliseconds(row.duration_ms),
                kind="failed" if row.failed else row.kind,
                depth=row.depth,
            )
            for row in found
        ),
    )
