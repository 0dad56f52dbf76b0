"""Which files a Python tool is made of, and when they are no longer the same."""

import os
from pathlib import Path

import pytest

from steward.providers.scripts.script_files import look_at


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os", {"tool.py"}),
        ("import helper", {"tool.py", "helper.py", "deeper.py"}),
        ("def run():\n    from helper import x", {"tool.py", "helper.py", "deeper.py"}),
        ("from package import inner", {"tool.py", "package/inner.py", "package/beside.py"}),
        ("import package.inner as p", {"tool.py", "package/inner.py", "package/beside.py"}),
        ("from .... import x", {"tool.py"}),
        ("not python at all (", {"tool.py"}),
    ],
)
def test_a_tool_is_its_script_and_what_that_imports_from_the_folder(
    tmp_path: Path, source: str, found: set[str]
) -> None:
    written(tmp_path, tool=source, helper="import deeper", deeper="", unrelated="")
    written(tmp_path, package__inner="from . import beside", package__beside="")
    assert set(look_at(tmp_path, "tool.py").digests) == found


@pytest.mark.parametrize(
    "source", ["import importlib", "from importlib import import_module", "__import__(name)", "exec(text)"]
)
def test_where_imports_cannot_be_seen_the_whole_folder_counts(tmp_path: Path, source: str) -> None:
    written(tmp_path, tool=source, unrelated="", package__inner="")
    assert set(look_at(tmp_path, "tool.py").digests) == {"tool.py", "unrelated.py", "package/inner.py"}


def test_a_script_that_is_not_there_has_no_digest(tmp_path: Path) -> None:
    assert look_at(tmp_path, "tool.py").packed == ()


def test_nothing_changed_is_seen_without_reading(tmp_path: Path) -> None:
    assert look_at(written(tmp_path, tool="import helper", helper=""), "tool.py").unchanged()


@pytest.mark.parametrize("name", ["tool", "helper", "os"])
def test_a_file_that_changes_or_comes_is_noticed(tmp_path: Path, name: str) -> None:
    looked = look_at(written(tmp_path, tool="import helper, os", helper=""), "tool.py")
    written(tmp_path, **{name: "x = 1"})
    assert not looked.unchanged()


def test_a_time_that_was_set_back_does_not_hide_a_change(tmp_path: Path) -> None:
    path = written(tmp_path, tool="x = 1") / "tool.py"
    looked, before = look_at(tmp_path, "tool.py"), path.stat()
    path.write_text("x = 2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not looked.unchanged()
