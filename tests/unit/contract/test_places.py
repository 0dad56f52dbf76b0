from pathlib import Path

import pytest

from steward.contract import places
from steward.contract.places import Places


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "home" / "uploads").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    for name in ("home/token", "home/uploads/report.txt", "docs/notes.md"):
        (tmp_path / name).write_text(name)
    places._own_files.cache_clear()
    return tmp_path


@pytest.fixture
def rooms(disk: Path) -> Places:
    return Places.of([disk], closed=[disk / "home"], opened=[disk / "home" / "uploads"])


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("docs/notes.md", True),
        ("docs", True),
        ("home", False),
        ("home/token", False),
        ("home/uploads/report.txt", True),
        ("docs/../home/token", False),
        ("missing.txt", True),
    ],
)
def test_a_folder_is_held_without_what_is_closed_in_it(rooms: Places, name: str, held: bool) -> None:
    assert rooms.holds(rooms.real(name)) is held


def test_what_lies_outside_is_not_held(rooms: Places, disk: Path) -> None:
    assert rooms.holds(disk.parent) is False


def test_a_link_into_a_closed_folder_leads_nowhere(rooms: Places, disk: Path) -> None:
    (disk / "way").symlink_to(disk / "home")
    assert rooms.holds(rooms.real("way/token")) is False


def test_a_hard_link_to_a_closed_file_is_closed(rooms: Places, disk: Path) -> None:
    (disk / "docs" / "copy.txt").hardlink_to(disk / "home" / "token")
    assert rooms.closes(disk / "docs" / "copy.txt") is True


def test_a_hard_link_between_open_files_is_open(rooms: Places, disk: Path) -> None:
    (disk / "docs" / "copy.md").hardlink_to(disk / "docs" / "notes.md")
    assert rooms.holds(disk / "docs" / "copy.md") is True


def test_a_hard_link_is_closed_where_the_closed_folder_is_too_large_to_look_through(
    rooms: Places, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (disk / "docs" / "copy.md").hardlink_to(disk / "docs" / "notes.md")
    monkeypatch.setattr(places, "MOST_OWN_FILES", 1)
    assert rooms.closes(disk / "docs" / "copy.md") is True


def test_a_folder_is_known_by_what_it_is_where_its_name_differs(
    rooms: Places, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that ignores case."""
    monkeypatch.setattr(Path, "samefile", lambda one, other: str(one).lower() == str(other).lower())
    assert rooms.closes(Path(str(disk / "HOME" / "token"))) is True


def test_without_folders_a_relative_path_is_relative_to_here() -> None:
    assert Places().base == Path.cwd()


def test_the_account_s_home_can_be_named_by_its_sign(monkeypatch: pytest.MonkeyPatch, disk: Path) -> None:
    monkeypatch.setenv("HOME", str(disk))
    assert Places().real("~/docs") == disk / "docs"
