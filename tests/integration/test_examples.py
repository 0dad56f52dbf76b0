"""Each example is a program that checks itself.

Those of other orchestrators run where their packages are: tests/peers/test_orchestrators.py.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ORCHESTRATORS = {"langgraph", "crewai", "autogen"}
FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(each for each in FOLDER.glob("*.py") if each.stem not in ORCHESTRATORS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs_and_finds_itself_right(example: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
