"""The suites `dates` and `intents` measure the product's own code."""

import json
from pathlib import Path

import pytest

from steward.bootstrap.evaluating import task_meanings
from steward.contract.errors import InputError
from steward.evaluation import dates, intents
from steward.evaluation.data import read_rows

NOW = "2016-11-07T10:00:00"


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_dates_are_compared_at_the_grain_with_any_gold_value(tmp_path: Path) -> None:
    data = write(
        tmp_path / "dates.jsonl",
        [
            {"text": "call mom tomorrow", "now": NOW, "gold": ["2016-11-08T00:00:00"], "grain": "day"},
            {"text": "in 3 days", "now": NOW, "gold": ["2016-11-10T10:00:00"], "grain": "hour"},
            {
                "text": "friday",
                "now": NOW,
                "gold": ["2016-11-04T00:00:00", "2016-11-11T00:00:00"],
                "grain": "day",
            },
            {"text": "buy 2 apples", "now": NOW, "gold": [], "grain": "day"},
            {"text": "buy apples tomorrow", "now": NOW, "gold": [], "grain": "day"},
            {"text": "gibberish", "now": NOW, "gold": ["2016-11-04T00:00:00"], "grain": "day"},
            {"text": "easter", "now": NOW, "gold": ["1999-01-01T00:00:00"], "grain": "day", "holiday": True},
            {
                "text": "christmas",
                "now": NOW,
                "gold": ["2016-12-25T00:00:00"],
                "grain": "day",
                "holiday": True,
            },
        ],
    )
    assert dates.evaluate(data) == {"n": 8, "exact": 0.625, "exact_without_holidays": 0.6667}


def test_intents_count_a_question_asked_back_as_clarify(tmp_path: Path) -> None:
    data = write(
        tmp_path / "intents.jsonl",
        [
            {"text": "add milk to my list", "intent": "add"},
            {"text": "add", "intent": "add"},
            {"text": "groceries", "intent": "clarify"},
            {"text": "remove milk from my list", "intent": "mutating"},
            {"text": "show my tasks", "intent": "mutating"},
            {"text": "what's the weather", "intent": "other"},
        ],
    )
    assert intents.evaluate(data, task_meanings(intents.NOW)) == {
        "n": 6,
        "accuracy": 0.6667,
        "asked": 2,
        "per_class": {"add": 0.5, "clarify": 1.0, "mutating": 0.5, "other": 1.0},
    }


@pytest.mark.parametrize(
    "row", [{"text": "x"}, {"text": "x", "intent": "dance"}, {"intent": "add"}, {"text": 3, "intent": "add"}]
)
def test_a_bad_intent_row_is_named(tmp_path: Path, row: dict[str, object]) -> None:
    with pytest.raises(InputError) as error:
        intents.evaluate(write(tmp_path / "bad.jsonl", [row]), lambda _: None)
    assert "row 1" in error.value.message


@pytest.mark.parametrize(
    "row",
    [
        {"text": "x"},
        {"text": "x", "now": "soon", "gold": [], "grain": "day"},
        {"text": "x", "now": NOW, "gold": [], "grain": "eon"},
        {"text": "x", "now": NOW, "gold": [3], "grain": "day"},
    ],
)
def test_a_bad_date_row_is_named(tmp_path: Path, row: dict[str, object]) -> None:
    with pytest.raises(InputError) as error:
        dates.evaluate(write(tmp_path / "bad.jsonl", [row]))
    assert "row 1" in error.value.message


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{", b"[1]", b'{"text": "x"}\nnonsense'])
def test_a_file_that_is_not_json_lines_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_rows(path)
    assert str(path) in error.value.message


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_rows(tmp_path / "none.jsonl")
    assert "none.jsonl" in error.value.message
