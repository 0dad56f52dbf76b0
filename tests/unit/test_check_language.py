"""The check that a person's words are read in one room."""

from pathlib import Path

import pytest
from scripts.check_language import ROOMS, problems


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for room in ROOMS:
        (tmp_path / room).mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "import re",
        "from re import compile",
        "from steward.contract import linear_re as re",
        "from steward.contract.linear_re import compile",
    ],
)
def test_a_new_file_that_reads_with_patterns_is_told(house: Path, line: str) -> None:
    (house / "agents" / "new.py").write_text(f"{line}\n")
    assert [each for each in problems(house) if each.startswith("agents/new.py: reads text")]


def test_a_file_without_patterns_is_free(house: Path) -> None:
    (house / "agents" / "new.py").write_text("import json\n")
    assert not [each for each in problems(house) if each.startswith("agents/new.py")]


def test_a_listed_file_that_needs_no_pattern_any_more_is_told(house: Path) -> None:
    assert any(each.startswith("tasks/filters.py: needs no pattern") for each in problems(house))


def test_the_house_itself_keeps_the_rule() -> None:
    assert list(problems()) == []
