"""The suite `calls`: does the planner make the calls that a request asks for, with the right arguments?"""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from steward.contract.errors import InputError
from steward.evaluation.data import read_rows
from steward.models.reader import TextsApart, taught_reader
from steward.selection.fit import FitJudge

_NOW = datetime(2026, 11, 16, 9, 0)  # noqa: DTZ001 - rows name their dates in full
_IGNORED = re.compile(r"[ ,./\-_*^]")
_MOST_STEPS = 12


def evaluate(path: Path) -> dict[str, Any]:
    """Shares of requests: right, asked back, refused, and wrong; and how long a request took."""
    # Imported here: Pydantic AI takes seconds to load.
    from steward.models.embedding import MiniLMEmbedder  # noqa: PLC0415
    from steward.models.planner.bench import Bench  # noqa: PLC0415

    judge = FitJudge(TextsApart(), together=taught_reader())
    bench = Bench(MiniLMEmbedder(), now=_NOW, judge=judge)
    counted: Counter[str] = Counter()
    spent: list[float] = []
    for number, row in enumerate(read_rows(path), 1):
        request, tools, truth = _parts(row, path, number)
        start = time.perf_counter()
        outcome = bench.outcome(request, tools, most=_MOST_STEPS)
        spent.append(1000 * (time.perf_counter() - start))
        counted[_verdict(outcome, truth)] += 1
    total = sum(counted.values())
    shares = {name: round(counted[name] / total, 4) for name in ("right", "asked", "refused", "wrong")}
    spent.sort()
    return {
        "n": total,
        **shares,
        "p50_ms": round(spent[len(spent) // 2], 2),
        "max_ms": round(spent[-1], 2),
    }


def _parts(
    row: Mapping[str, Any], path: Path, number: int
) -> tuple[str, Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    request, tools, calls = row.get("request"), row.get("tools"), row.get("calls")
    if not isinstance(request, str) or not isinstance(tools, list) or not isinstance(calls, list):
        raise InputError(
            f"{path}, row {number}: needs a request, tools and calls.",
            fix='Write {"request": "…", "tools": [{"name", "description", "inputSchema"}], "calls": […]}.',
        )
    return request, cast("list[Mapping[str, Any]]", tools), cast("list[Mapping[str, Any]]", calls)


def _verdict(
    outcome: str | Sequence[tuple[str, Mapping[str, Any]]], truth: Sequence[Mapping[str, Any]]
) -> str:
    if isinstance(outcome, str):
        return "right" if outcome == "refused" and not truth else outcome
    return "right" if truth and all_agree(outcome, truth) else "wrong"


def all_agree(calls: Sequence[tuple[str, Mapping[str, Any]]], truth: Sequence[Mapping[str, Any]]) -> bool:
    """Every wanted call was made and no other, in any order."""
    left = list(calls)
    for wanted in truth:
        hit = next(
            (call for call in left if call[0] == wanted["name"] and agree(call[1], wanted["arguments"])), None
        )
        if hit is None:
            return False
        left.remove(hit)
    return not left


def agree(given: Mapping[str, Any], accepted: Mapping[str, Any]) -> bool:
    """Each argument has an accepted value; "" among those: it may be left out."""
    for name, values in accepted.items():
        choices = cast("list[Any]", values) if isinstance(values, list) else [values]
        if name not in given:
            if "" not in choices:
                return False
        elif not any(_same(given[name], each) for each in choices):
            return False
    return all(name in accepted for name in given)


def _same(value: Any, accepted: Any) -> bool:
    if isinstance(accepted, Mapping) and isinstance(value, Mapping):
        return agree(cast("Mapping[str, Any]", value), cast("Mapping[str, Any]", accepted))
    if isinstance(accepted, list) and isinstance(value, list):
        pairs = list(zip(cast("list[Any]", value), cast("list[Any]", accepted), strict=False))
        return len(cast("list[Any]", value)) == len(cast("list[Any]", accepted)) and all(
            _same(one, other) or (isinstance(other, list) and any(_same(one, each) for each in other))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            for one, other in pairs
        )
    if isinstance(accepted, bool) or isinstance(value, bool):
        return value is accepted
    if isinstance(accepted, int | float) and isinstance(value, int | float):
        return abs(value - accepted) < 1e-9
    if isinstance(accepted, str) and isinstance(value, str):
        return _bare(value) == _bare(accepted)
    return value == accepted


def _bare(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')
