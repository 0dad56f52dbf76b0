"""The worker's program, spoken to over its protocol without a process in between."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.providers.worker import LENGTH, Script, serve


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    """Scripts become modules of this process here; none of them stays."""
    before = dict(sys.modules)
    yield
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
    serve(Script(folder, path, function), requests, written)
    return frames(written.getvalue())


def test_each_call_is_acknowledged_then_answered_with_the_files_in_use(tmp_path: Path) -> None:
    file = str(tmp_path / "script_under_test.py")
    source = "state = []\ndef run(n):\n    state.append(n)\n    return state"
    said = answers(tmp_path, source, {"n": 1}, {"n": 2})
    assert said == [{}, [file], {"data": [1]}, {}, [file], {"data": [1, 2]}]


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
    serve(Script(tmp_path, path, None), io.BytesIO(LENGTH.pack(2) + b"{}"), written)
    assert frames(written.getvalue())[-1]["error"]["message"] == "notes.txt is not a Python file"
