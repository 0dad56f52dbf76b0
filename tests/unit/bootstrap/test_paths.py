from pathlib import Path

import pytest

from steward.bootstrap.paths import real_path, single_path_rule
from steward.contract.places import Places
from steward.policy.rules import Rules


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "id_rsa").write_text("key")
    (folder / "holiday.txt").symlink_to(folder / "id_rsa")
    return folder


def test_a_relative_path_is_judged_where_it_will_be_read(data: Path) -> None:
    """The allowed folder is not the current one."""
    assert real_path(Places.of([data]))("holiday.txt") == str(data / "id_rsa")


def test_a_second_name_of_a_closed_file_reads_as_its_folder(data: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "token").write_text("secret")
    (data / "notes.txt").hardlink_to(home / "token")
    assert real_path(Places.of([data], closed=[home]))("notes.txt") == str(home)


def test_a_link_to_a_key_is_withheld_as_the_key_is(data: Path) -> None:
    withheld = single_path_rule(Places.of([data]), Rules)
    assert (withheld(data / "holiday.txt"), withheld(data / "id_rsa")) == ("a private key", "a private key")


def test_a_plain_file_is_not_withheld(data: Path) -> None:
    assert single_path_rule(Places.of([data]), Rules)(data / "notes.md") is None


def test_what_the_workspace_protects_is_withheld(data: Path) -> None:
    withheld = single_path_rule(Places.of([data]), lambda: Rules(protected=("**/data/diary.md",)))
    assert withheld(data / "diary.md") == "a path that this workspace protects"
