"""Each rule of `scripts/check_rooms.py` finds what it forbids, and nothing in this project."""

from pathlib import Path

import pytest
from scripts import check_rooms

PAGE = "# Page\n\nAfter this page you can read.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("src/steward/room", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("README.md", "CONTRIBUTING.md", "docs/glossary.md", "docs/page.md"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    return tmp_path


def test_a_tidy_project_has_no_problem(project: Path) -> None:
    assert list(check_rooms.problems(project)) == []


def test_a_crowded_level_is_found(project: Path) -> None:
    for number in range(26):
        (project / f"src/steward/room/module{number}.py").write_text("")
    assert [found.partition(":")[0] for found in check_rooms.problems(project)] == ["room"]


def test_a_class_name_that_stands_twice_is_found(project: Path) -> None:
    for name in ("one", "two"):
        (project / f"src/steward/room/{name}.py").write_text("class Same: ...\n")
    assert [found.partition(":")[0] for found in check_rooms.problems(project)] == ["Same"]


def test_a_glossary_that_grows_is_found(project: Path) -> None:
    rows = "".join(f"| **word{number}** | meaning |\n" for number in range(16))
    (project / "docs/glossary.md").write_text(PAGE + rows, encoding="utf-8")
    assert ["16 words" in found for found in check_rooms.problems(project)] == [True]


@pytest.mark.parametrize(
    "line", ["Whoever asks is told.", "For somebody else.", "What is said here is kept."]
)
def test_a_word_that_readers_stumble_over_is_found(line: str, project: Path) -> None:
    (project / "docs/page.md").write_text(PAGE + line, encoding="utf-8")
    assert [found.split(" ")[0] for found in check_rooms.problems(project)] == ["page.md:4:"]


def test_a_page_that_begins_otherwise_is_found(project: Path) -> None:
    (project / "docs/page.md").write_text("# Page\n\nThis page is about pages.\n", encoding="utf-8")
    assert ["After this page" in found for found in check_rooms.problems(project)] == [True]
