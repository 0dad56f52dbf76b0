"""Which paths a round of changes in a watched folder is about."""

from pathlib import Path

import pytest

from steward.surfaces.cli.library.watching import MOST, changed_paths

ADDED, MODIFIED, DELETED = 1, 2, 3


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "deep" / "node_modules").mkdir(parents=True)
    for name in ("a.md", "b.md", "photo.jpg", ".hidden.md", "deep/c.md", "deep/node_modules/junk.md"):
        (tmp_path / name).write_text("text")
    return tmp_path


def test_only_what_changed_is_read_again(notes: Path) -> None:
    assert changed_paths(notes, [(MODIFIED, str(notes / "a.md"))]) == [notes / "a.md"]


def test_a_rename_is_one_that_went_and_one_that_came(notes: Path) -> None:
    changes = [(DELETED, str(notes / "old.md")), (ADDED, str(notes / "b.md"))]
    assert changed_paths(notes, changes) == [
        notes / "b.md",
        notes / "old.md",
    ]


def test_a_new_folder_is_read_with_everything_in_it_once(notes: Path) -> None:
    changes = [(ADDED, str(notes / "deep")), (ADDED, str(notes / "deep" / "c.md"))]
    assert changed_paths(notes, changes) == [notes / "deep" / "c.md"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MODIFIED, "photo.jpg"),
        (MODIFIED, ".hidden.md"),
        (MODIFIED, "deep/node_modules/junk.md"),
        (MODIFIED, "deep"),
        (DELETED, "deep/node_modules/gone.md"),
        (MODIFIED, "."),
    ],
)
def test_what_no_ingest_would_take_is_left_alone(notes: Path, kind: int, name: str) -> None:
    assert changed_paths(notes, [(kind, str(notes / name))]) == []


def test_an_editors_passing_file_is_left_alone(notes: Path) -> None:
    assert changed_paths(notes, [(ADDED, str(notes / "4913")), (DELETED, str(notes / "4913"))]) == []


def test_new_rules_concern_the_whole_folder(notes: Path) -> None:
    (notes / ".stewardignore").write_text("a.md\n")
    assert changed_paths(notes, [(ADDED, str(notes / ".stewardignore"))]) == [notes]


def test_very_many_changes_are_one_reading_of_the_folder(notes: Path) -> None:
    changes = [(DELETED, str(notes / f"{n}.md")) for n in range(MOST + 1)]
    assert changed_paths(notes, changes) == [notes]
    assert len(changed_paths(notes, changes[1:])) == MOST
