"""The worker's program, spoken to over its protocol without a process in between."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.providers.scripts.script_files import look_at
from steward.providers.scripts.worker import LENGTH, FolderFinder, Script, SourceFinder, Sources, serve


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    """Scripts become modules of this process here; none of them stays."""
    before, finders = dict(sys.modules), list(sys.meta_path)
    yield
    sys.meta_path[:] = finders
    for name in sys.modules.keys() - before.keys():
        del sys.modules[name]


def frames(data: bytes) -> list[Any]:
    found: list[Any] = []
    while data:
        (length,) = LENGTH.unpack(data[: LENGTH.size])
        found.append(json.loads(data[LENGTH.size : LENGTH.size + length]))
        data = data[LENGTH.size + length :]
    return found


def answers(folder: Path, source: str, *calls: dict[str, Any], function: str | None = None) -> list[Any]:
    path = folder / "script_under_test.py"
    path.write_text(source)
    packed = [json.dumps(call).encode() for call in calls]
    requests = io.BytesIO(b"".join(LENGTH.pack(len(call)) + call for call in packed))
    written = io.BytesIO()
    serve(Script(digested(folder), path, function), requests, written)
    return frames(written.getvalue())


def digested(folder: Path) -> Sources:
    return Sources(folder, dict(look_at(folder, "script_under_test.py").digests))


def test_each_call_is_acknowledged_then_answered(tmp_path: Path) -> None:
    source = "state = []\ndef run(n):\n    state.append(n)\n    return state"
    said = answers(tmp_path, source, {"n": 1}, {"n": 2})
    assert said == [{}, {"data": [1]}, {}, {"data": [1, 2]}]


def loading(folder: Path, source: str, *, change: dict[str, str]) -> Any:
    """The answer of a script whose folder was looked at, and then changed."""
    path = folder / "script_under_test.py"
    path.write_text(source)
    sources = digested(folder)
    for name, text in change.items():
        (folder / name).write_text(text)
    sys.meta_path[:0] = [SourceFinder(sources)]
    sys.meta_path.append(FolderFinder(sources))
    written = io.BytesIO()
    serve(Script(sources, path, None), io.BytesIO(LENGTH.pack(2) + b"{}"), written)
    return frames(written.getvalue())[-1]


PACKAGED = "import a_helper\nfrom a_package.inner import two\nfrom plain_folder import three\n"


def packaged(folder: Path) -> None:
    (folder / "a_helper.py").write_text("ONE = 1\n")
    (folder / "a_package").mkdir()
    (folder / "a_package/__init__.py").write_text("")
    (folder / "a_package/inner.py").write_text("from . import deep\ntwo = deep.TWO\n")
    (folder / "a_package/deep.py").write_text("TWO = 2\n")
    (folder / "plain_folder").mkdir()
    (folder / "plain_folder/three.py").write_text("THREE = 3\n")


def test_modules_and_packages_of_the_folder_are_imported(tmp_path: Path) -> None:
    packaged(tmp_path)
    source = f"{PACKAGED}def run(): return [a_helper.ONE, two, three.THREE]"
    assert loading(tmp_path, source, change={}) == {"data": [1, 2, 3]}


@pytest.mark.parametrize(
    "file", ["script_under_test.py", "a_helper.py", "a_package/deep.py", "plain_folder/three.py"]
)
def test_a_file_that_changed_after_the_look_is_not_loaded(tmp_path: Path, file: str) -> None:
    packaged(tmp_path)
    marker = tmp_path / "ran"
    said = loading(tmp_path, f"{PACKAGED}def run(): return 1", change={file: f"open({str(marker)!r}, 'w')"})
    assert (said["error"]["code"], marker.exists()) == ("TOOL_CHANGED", False)


def test_a_file_that_appeared_after_the_look_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)  # another test may have imported it
    said = loading(tmp_path, "import colorsys\ndef run(): return 1", change={"colorsys.py": "x = 1"})
    assert said["error"]["code"] == "TOOL_CHANGED"


@pytest.mark.parametrize(
    ("source", "function", "data"),
    [
        ("def main(arguments): return arguments", None, {"n": 1}),
        ("async def run(n): return n", None, 1),
        ("def other(n): return (n, {n})", "other", [1, [1]]),
        ("import datetime\ndef run(n): return datetime.date(2026, 1, n)", None, "2026-01-01"),
        ("import pathlib\ndef run(n): return pathlib.Path('a')", None, "a"),
        (
            "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\ndef run(n): return P(n)",
            None,
            {"x": 1},
        ),
        ("def run(n): return 2**63", None, 2**63),
    ],
)
def test_what_a_function_returns_comes_back_as_json(
    tmp_path: Path, source: str, function: str | None, data: Any
) -> None:
    assert answers(tmp_path, source, {"n": 1}, function=function)[-1] == {"data": data}


@pytest.mark.parametrize(
    ("source", "message", "line", "code"),
    [
        ("def run(n):\n    return {}['x']", "KeyError: 'x'", 2, None),
        ("def run(n):\n  return (", "SyntaxError", 2, None),
        ("def walk(): ...", "script_under_test.py has no function run or main", None, None),
        ("def run(n): return object()", "the result holds a object", None, None),
        ("def run(n): return 10**40", "beyond 64 bits", None, None),
        ("def run(n): return 'x' * 5_000_000", "more than the 4194304 allowed", None, None),
        ("def run(n): raise SystemExit(3)", "SystemExit: 3", 1, None),
        (
            "class E(Exception):\n    code = 'NO_TOWN'\ndef run(n): raise E('which?')",
            "E: which?",
            3,
            "NO_TOWN",
        ),
    ],
)
def test_what_a_function_raises_comes_back_with_its_line(
    tmp_path: Path, source: str, message: str, line: int | None, code: str | None
) -> None:
    error = answers(tmp_path, source, {"n": 1})[-1]["error"]
    assert message in error["message"]
    assert (error["line"], error["code"], error["retryable"]) == (line, code, False)
    assert "Traceback" in error["trace"] or "SyntaxError" in error["trace"]


def test_a_file_that_is_not_python_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    written = io.BytesIO()
    serve(Script(Sources(tmp_path, {}), path, None), io.BytesIO(LENGTH.pack(2) + b"{}"), written)
    assert frames(written.getvalue())[-1]["error"]["message"] == "notes.txt is not a Python file"
