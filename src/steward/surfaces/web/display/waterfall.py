"""A run as a waterfall: when each step began, how long it took, what it was part of, what went in and out.

Pure: spans of `GET /v1/traces/{id}` and lines of the record in, rows out. A call that another instance
made has a line and no span here. Everything in both is somebody else's text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steward.surfaces.api.shapes import ExecutionShape

Span = Mapping[str, Any]
CALL = "mcp_tool_call:"


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
    line: ExecutionShape | None = None


def steps(spans: Sequence[Span], lines: Sequence[ExecutionShape]) -> list[Span]:
    """The spans, and one for each call that has only a line."""
    traced = {span["attributes"].get("call_id") for span in spans}
    told = {line.call_id: line for line in reversed(lines) if line.call_id not in traced}
    return [*spans, *(_told(line) for line in told.values())]


def _told(line: ExecutionShape) -> Span:
    return {
        "span_id": line.call_id,
        "parent_id": None,
        "name": f"{CALL}{line.tool}",
        "start_ns": line.at.timestamp() * 1e9,
        "at": line.at.isoformat(),
        "duration_ms": line.duration_ms or 0.0,
        "status": "error" if line.status == "failed" else "ok",
        "attributes": {"call_id": line.call_id},
    }


def rows(spans: Sequence[Span], lines: Sequence[ExecutionShape] = ()) -> list[Row]:
    """Each span under its parent, oldest first; one whose parent is not there stands at the top."""
    if not spans:
        return []
    said = {line.call_id: line for line in reversed(lines)}
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
                line=said.get(span["attributes"].get("call_id")),
            )
        )
        waiting += [(child, depth + 1) for child in reversed(children.get(span["span_id"], []))]
    return found


def total_ms(spans: Sequence[Span]) -> float:
    begin = min(span["start_ns"] for span in spans)
    return max((span["start_ns"] - begin) / 1e6 + span["duration_ms"] for span in spans)


def title(name: str) -> str:
    return name.removeprefix(CALL)


def _kind(name: str) -> str:
    if name.startswith(CALL):
        return "tool"
    return "run" if name.startswith(("agent_run", "invoke_agent")) else "model"
