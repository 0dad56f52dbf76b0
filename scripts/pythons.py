"""Prints each other Python that is on this machine and that Steward runs on: its version and its program.

The wheel is tried with each of them. Nothing is installed for it.
"""

import os
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
NEWEST = 20  # the minor version to stop looking at
ASK = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"


def candidates(minor: int) -> list[str]:
    """By its usual name, and where pyenv keeps what its own name would not start."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}"), reverse=True)
    return [f"python3.{minor}", *map(str, kept)]


def asked(program: str) -> str | None:
    try:
        ran = subprocess.run([program, "-c", ASK], capture_output=True, text=True, timeout=20, check=False)
    except OSError:
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None


def main() -> None:
    for minor in range(OLDEST[1], NEWEST):
        if minor == sys.version_info.minor:
            continue
        found = next(filter(None, map(asked, candidates(minor))), None)
        if found is not None:
            print(found)


if __name__ == "__main__":
    main()
