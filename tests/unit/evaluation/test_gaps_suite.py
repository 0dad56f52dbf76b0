"""The suite `gaps`: its numbers and its errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from steward.contract.errors import InputError
from steward.evaluation.gaps import area, evaluate

MAIL = {
    "name": "mail.send",
    "description": "Send an e-mail to a recipient",
    "inputSchema": {"type": "object"},
}


def written(path: Path, *rows: Any) -> Path:
    file = path / "gaps.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    return file


def test_the_numbers_count_what_they_say(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"query": "Send an e-mail to the recipient", "tools": [MAIL], "gap": False},
        {"query": "Water the orchids on the balcony", "tools": [MAIL], "gap": True},
    )
    numbers = evaluate(file)
    assert numbers == {"n": 2, "balanced_accuracy": 1.0, "auc": 1.0, "found": 1.0, "false_alarms": 0.0}


def test_the_area_counts_ties_half() -> None:
    assert area([3.0, 2.0], [1.0, 2.0]) == pytest.approx(0.875)
    assert area([1.0], [2.0]) == 0.0


def test_rows_of_one_kind_cannot_be_balanced(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        evaluate(written(tmp_path, {"query": "hello", "tools": [], "gap": True}))


def test_a_row_without_what_it_needs_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1"):
        evaluate(written(tmp_path, {"query": "hello", "tools": []}))
