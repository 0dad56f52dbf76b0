"""Whole calls for requests of people who have not seen the program or what it was taught with.

`tests/requests/calls.jsonl` was written without sight of either. Half of its rows were looked at since; each
kind keeps about what it reached (docs/decisions/0159).
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from steward.evaluation import calls

ROWS = Path(__file__).parent.parent / "requests" / "calls.jsonl"


def by_kind() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines()):
        found[row.pop("kind")].append(row)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("simple", 0.77, 0.18),
        ("multiple", 0.78, 0.16),
        ("parallel", 0.60, 0.38),
        ("parallel_multiple", 0.46, 0.40),
        ("live_simple", 0.70, 0.24),
        ("live_multiple", 0.58, 0.28),
        ("refused", 0.92, 0.06),
        ("live_refused", 0.92, 0.06),
    ],
)
def test_calls_for_requests_that_were_never_taught(
    tmp_path: Path, kind: str, right: float, wrong: float
) -> None:
    data = tmp_path / "calls.jsonl"
    data.write_text("\n".join(map(json.dumps, by_kind()[kind])))
    found = calls.evaluate(data)
    assert found["right"] >= right, found
    assert found["wrong"] <= wrong, found
