"""JSON files that people edit too."""

from pathlib import Path

import pytest

from steward.contract.errors import ConfigError, UnavailableError
from steward.providers.jsonfile import locked, parse_json, read_json, replace_file

TEXT = """{
  "a": [1, {"b": "x, ] } \\" "},
    [ ] , {

      "c": null } ],
  "d": {}
}
"""


def test_the_line_of_any_value_is_known() -> None:
    document = parse_json(Path("f.json"), TEXT)
    places = [(), ("a",), ("a", 1, "b"), ("a", 2), ("a", 3), ("a", 3, "c"), ("d",)]
    assert [document.line(place) for place in places] == [1, 2, 2, 3, 3, 5, 6]


def test_a_path_that_leads_nowhere_points_to_its_deepest_part() -> None:
    document = parse_json(Path("f.json"), TEXT)
    assert [document.line(place) for place in [("d", "x"), ("a", 9), ("a", 0, "x")]] == [6, 2, 2]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{\n"a": 1,\n}', "line 3"),
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a":\n"\xff"}', "line 2"),
        (b"[" * 100_000, "nested"),
        (b" " * (16 * 2**20 + 1), "bytes"),
    ],
)
def test_what_is_not_json_is_refused_with_file_and_place(tmp_path: Path, raw: bytes, said: str) -> None:
    file = tmp_path / "f.json"
    file.write_bytes(raw)
    with pytest.raises(ConfigError) as caught:
        read_json(file, fix_missing="Restore it.")
    assert caught.value.code == "CONFIG_INVALID"
    assert str(file) in caught.value.message
    assert said in caught.value.message
    assert caught.value.fix


def test_a_missing_file_is_told_from_an_unreadable_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as missing:
        read_json(tmp_path / "f.json", fix_missing="Restore it.")
    with pytest.raises(ConfigError) as unreadable:
        read_json(tmp_path, fix_missing="Restore it.")
    assert (missing.value.code, unreadable.value.code) == ("CONFIG_MISSING", "CONFIG_INVALID")


def test_replacing_keeps_the_mode_and_leaves_no_other_file(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    replace_file(file, b"1")
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    replace_file(file, b"2")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"2", 0o640)
    assert list(tmp_path.iterdir()) == [file]


def test_a_replacement_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    (target / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        replace_file(target, b"1")
    assert list(tmp_path.iterdir()) == [target]


def test_a_lock_held_by_another_is_waited_for_and_then_named(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    with locked(file), pytest.raises(UnavailableError) as caught, locked(file, seconds=0.05):
        pass
    assert caught.value.retryable
    with locked(file, seconds=0.05):
        pass
