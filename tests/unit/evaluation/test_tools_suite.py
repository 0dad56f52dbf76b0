"""The suite `tools`: its numbers and its errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from steward.contract.errors import InputError
from steward.evaluation.tools import evaluate

TOOLS = [
    {"name": "mail.send", "description": "Send an e-mail message", "inputSchema": {"to": {"type": "str"}}},
    {"name": "weather", "description": "Weather of a city", "inputSchema": {}},
    {"name": "weather", "description": "Weather of the past", "inputSchema": None},
]


def folder(path: Path, **files: list[Any]) -> Path:
    for name, rows in files.items():
        (path / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_the_numbers_count_what_they_say(tmp_path: Path) -> None:
    queries = [
        {"query": "send a message by e-mail", "tools": ["mail.send"]},
        {"query": "weather of a city", "tools": ["mail.send"]},
        {"query": "hooray for granny", "tools": ["weather"]},
    ]
    examples = [{"query": "hooray for granny and grandpa", "tools": ["weather", "unknown"]}]
    numbers = evaluate(folder(tmp_path, tools=TOOLS, queries=queries, examples=examples))
    assert numbers.pop("p50_ms") > 0
    assert numbers == {"n": 3, "hit@1": 0.6667, "hit@5": 1.0}


def test_without_queries_only_the_time_is_measured(tmp_path: Path) -> None:
    assert sorted(evaluate(folder(tmp_path, tools=TOOLS))) == ["n", "p50_ms"]


def test_what_cannot_be_measured_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        evaluate(tmp_path / "nowhere")
    with pytest.raises(InputError, match="row 1"):
        evaluate(folder(tmp_path, tools=TOOLS, queries=[{"query": "x"}]))
