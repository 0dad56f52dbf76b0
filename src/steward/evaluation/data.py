"""Reads evaluation data: one JSON object a line, with the file and line of whatever is wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from steward.contract.errors import InputError


def read_rows(path: Path) -> tuple[Mapping[str, Any], ...]:
    """The rows of a JSON Lines file; blank lines are skipped."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}).", fix="Give a file with one JSON object a line."
        ) from error
    rows: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: a JSON object is expected.")
        rows.append(cast("Mapping[str, Any]", row))
    if not rows:
        raise InputError(f"{path}: has no rows.")
    return tuple(rows)
