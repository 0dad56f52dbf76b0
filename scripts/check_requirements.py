"""Ties tests/requirements.toml to the tests, in both directions.

Fails when a test names an id that does not exist, when a finished id has no test, or when the list of
open ids grew against the last commit.
"""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests" / "requirements.toml"


def parse(text: str) -> tuple[set[str], set[str]]:
    """All ids, and those still open."""
    tables = tomllib.loads(text)
    still_open = set(tables.pop("open", {}).get("ids", []))
    return {f"{prefix}-{key}" for prefix, rows in tables.items() for key in rows}, still_open


def named_ids(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "req":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, argument.lineno


def last_committed() -> set[str] | None:
    shown = subprocess.run(
        ["git", "show", "HEAD:tests/requirements.toml"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return parse(shown.stdout)[1] if shown.returncode == 0 else None


def main() -> int:
    known, still_open = parse(LIST.read_text())
    problems: list[str] = []
    tested: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for identifier, line in named_ids(path):
            tested.add(identifier)
            if identifier not in known:
                problems.append(f"{path.relative_to(ROOT)}:{line}: no requirement is called {identifier}")
    problems += [f"{identifier}: no test names it" for identifier in sorted(known - still_open - tested)]
    problems += [f"{identifier}: listed as open, but unknown" for identifier in sorted(still_open - known)]
    before = last_committed()
    if before is not None:
        problems += [
            f"{identifier}: the list of open ids only shrinks" for identifier in sorted(still_open - before)
        ]
    for problem in problems:
        print(problem)
    print(f"requirements: {len(known)} known, {len(tested & known)} named by tests, {len(still_open)} open")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
