"""Begins a decision: the next free number, the name as title, the two questions that each one answers."""

import re
import sys
from pathlib import Path

DECISIONS = Path(__file__).parent.parent / "docs" / "decisions"
FORM = """# {number:04} {title}

**Decision.** What is done now, in one or two sentences.

**Why.** What was tried, what was measured, and what speaks against it.

**Not taken.** The other ways, and why not.
"""


def new_decision(name: str, folder: Path = DECISIONS) -> Path:
    """Raises ValueError where the name does not say what is decided."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    if len(words) < 2:
        raise ValueError(
            "Name the decision in two words or more: make new-decision NAME='one reader of dates'"
        )
    number = max((int(path.name[:4]) for path in folder.glob("[0-9]*.md")), default=0) + 1
    path = folder / f"{number:04}-{'-'.join(words)}.md"
    title = " ".join(name.split())
    path.write_text(FORM.format(number=number, title=title[0].upper() + title[1:]), encoding="utf-8")
    return path


if __name__ == "__main__":
    try:
        print(new_decision(" ".join(sys.argv[1:])))
    except ValueError as problem:
        sys.exit(str(problem))
