"""The lines of a home's own files, as a test looks at them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Lines:
    items: list[dict[str, Any]]
    torn: int  # what is no JSON object


def read_lines(folder: Path, *, newest_first: bool = True, **wanted: str) -> Lines:
    items: list[dict[str, Any]] = []
    torn = 0
    for path in sorted(folder.glob("executions-*.jsonl")):
        for content in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(content) if content else None
            except ValueError:
                entry = content
            if isinstance(entry, dict):
                items.append(entry)
            elif content:
                torn += 1
    found = [item for item in items if all(item.get(name) == value for name, value in wanted.items())]
    return Lines(found[::-1] if newest_first else found, torn)
