"""The suite `gaps`: does the detector notice that no tool can do what is asked?

Runs the detector that agents run, without a language model, on each row's own tools.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from steward.contract.errors import InputError
from steward.evaluation.data import read_rows
from steward.models.acts import acts_in
from steward.models.embedding import MiniLMEmbedder
from steward.models.reader import TextsApart, taught_reader
from steward.selection.fit import FitJudge
from steward.selection.gaps import GapFinder


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    description: str
    input_schema: Mapping[str, Any]


class _Tools:
    """A row's tools as a session lists them."""

    def __init__(self, tools: Sequence[_Tool]) -> None:
        self._tools = list(tools)

    async def list_tools(self, *, params: Any = None) -> list[_Tool]:  # noqa: ARG002 - one page
        return self._tools


def evaluate(path: Path) -> dict[str, Any]:
    """Balanced accuracy of the report, and how well the probability of a gap orders the rows."""
    rows = read_rows(path)
    told = asyncio.run(_assess(path, rows))
    gaps = [bool(row["gap"]) for row in rows]
    found = [probability for probability, gap in zip([p for p, _ in told], gaps, strict=True) if gap]
    others = [probability for probability, gap in zip([p for p, _ in told], gaps, strict=True) if not gap]
    if not found or not others:
        raise InputError(f"{path}: has no rows with a gap, or none without.", fix="Give both.")
    hits = [reported for (_, reported), gap in zip(told, gaps, strict=True) if gap]
    false = [reported for (_, reported), gap in zip(told, gaps, strict=True) if not gap]
    accuracy = (sum(hits) / len(hits) + 1 - sum(false) / len(false)) / 2
    return {
        "n": len(rows),
        "balanced_accuracy": round(accuracy, 4),
        "auc": round(area(found, others), 4),
        "found": round(sum(hits) / len(hits), 4),
        "false_alarms": round(sum(false) / len(false), 4),
    }


def area(above: Sequence[float], below: Sequence[float]) -> float:
    """The chance that one drawn from `above` is larger than one drawn from `below`; ties count half."""
    ordered = sorted([*((value, True) for value in above), *((value, False) for value in below)])
    total = 0.0
    at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        rank = (at + 1 + end) / 2
        total += rank * sum(mine for _, mine in ordered[at:end])
        at = end
    count = len(above)
    return (total - count * (count + 1) / 2) / (count * len(below))


async def _assess(path: Path, rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, bool]]:
    reader = MiniLMEmbedder()
    judge = FitJudge(TextsApart(), together=taught_reader())
    told: list[tuple[float, bool]] = []
    for number, row in enumerate(rows, 1):
        query, tools, gap = row.get("query"), row.get("tools"), row.get("gap")
        if not isinstance(query, str) or not isinstance(tools, list) or not isinstance(gap, bool):
            raise InputError(f"{path}, row {number}: needs a query, its tools and whether they leave a gap.")
        listed = [_tool(tool) for tool in cast("list[Mapping[str, Any]]", tools)]
        detector = GapFinder(_Tools(listed), reader=reader, judge=judge, acts=acts_in)
        assessment = await detector.assess(query)
        told.append((assessment.gap, assessment.report is not None))
    return told


def _tool(row: Mapping[str, Any]) -> _Tool:
    return _Tool(str(row["name"]), str(row.get("description") or ""), row.get("inputSchema") or {})
