"""`make new-decision NAME=...`."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.new_decision import new_decision

ROOT = Path(__file__).parents[2]


def test_a_decision_takes_the_next_number(tmp_path: Path) -> None:
    (tmp_path / "0041-retries.md").write_text("")
    assert new_decision("one reader of dates", tmp_path).name == "0042-one-reader-of-dates.md"


def test_a_decision_begins_with_its_number_and_title(tmp_path: Path) -> None:
    page = new_decision("one reader  of dates", tmp_path).read_text(encoding="utf-8")
    assert page.startswith("# 0001 One reader of dates\n\n**Decision.** ")


@pytest.mark.parametrize("name", ["", "reader", "…"])
def test_a_decision_needs_a_name_that_says_something(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two words or more"):
        new_decision(name, tmp_path)


def test_make_hands_the_name_over() -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "new-decision", "NAME=one reader"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert 'scripts/new_decision.py "$NAME"' in planned


def test_without_a_name_it_says_how() -> None:
    ran = subprocess.run(
        [sys.executable, "scripts/new_decision.py", ""], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, "make new-decision NAME=" in ran.stderr) == (1, True)
