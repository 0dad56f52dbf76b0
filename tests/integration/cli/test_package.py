"""What the package itself says: which one it is, how to complete it, and its manual."""

import subprocess
import sys
from importlib.metadata import metadata, version

from scripts.manpage import PAGE, page


def said(*arguments: str) -> str:
    command = [sys.executable, "-m", "steward", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def test_it_says_which_version_it_is() -> None:
    assert said("--version") == f"steward {version('steward-agents')}\n"


def test_the_manual_lists_the_commands_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "Run 'make reference'."


def test_the_text_for_a_package_index_links_to_nothing_that_is_not_there() -> None:
    assert "](" not in str(metadata("steward-agents").get_payload())
