"""The suite `risk`: its numbers and its errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from steward.contract.errors import ErrorCode, InputError
from steward.evaluation.risk import evaluate

HAND_WRITTEN = Path(__file__).parent / "risk_tools.jsonl"


def written(path: Path, *rows: Any) -> Path:
    file = path / "tools.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    return file


def test_the_numbers_count_what_they_say(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"name": "get_a", "description": "Get a.", "label": "read_only"},
        {"name": "purge_b", "description": "Purge b.", "label": "read_only"},
        {"name": "create_c", "description": "Create c.", "label": "write", "inputSchema": {"type": "object"}},
        {"name": "get_d", "description": None, "label": "destructive"},
    )
    assert evaluate(file) == {"n": 4, "accuracy": 0.5, "false_read_only": 0.5, "read_only_recall": 0.5}


def test_shares_of_nothing_are_zero(tmp_path: Path) -> None:
    file = written(tmp_path, {"name": "get_a", "description": "", "label": "read_only"})
    assert evaluate(file) == {"n": 1, "accuracy": 1.0, "false_read_only": 0.0, "read_only_recall": 1.0}


def test_tools_in_the_style_of_well_known_servers_are_told_apart() -> None:
    numbers = evaluate(HAND_WRITTEN)
    assert numbers["n"] >= 100
    assert numbers["false_read_only"] <= 0.01
    assert numbers["read_only_recall"] >= 0.9
    assert numbers["accuracy"] >= 0.9


@pytest.mark.parametrize(
    "row",
    [
        {"name": "a", "description": "", "label": "harmless"},
        {"name": "a", "description": ""},
        {"description": "", "label": "write"},
        {"name": "a", "description": 3, "label": "write"},
        {"name": "a", "description": "", "label": "write", "inputSchema": []},
    ],
)
def test_a_row_that_is_no_labelled_tool_is_refused(tmp_path: Path, row: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(written(tmp_path, row))
    assert caught.value.code == ErrorCode.INVALID_INPUT
    assert "row 1" in caught.value.message
