"""The suite `dates`: does the date grammar read what the data says it should?"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from steward.contract.errors import InputError
from steward.evaluation.data import read_rows
from steward.language.dates.calendar import Grain, floor
from steward.language.dates.find import find_dates


def evaluate(path: Path) -> dict[str, Any]:
    """Share of rows whose first date equals a gold value at the row's grain; no date where gold is empty."""
    rows = read_rows(path)
    right = [(is_right(row, f"{path}, row {n}"), bool(row.get("holiday"))) for n, row in enumerate(rows, 1)]
    plain = [hit for hit, holiday in right if not holiday]
    return {
        "n": len(right),
        "exact": _share([hit for hit, _ in right]),
        "exact_without_holidays": _share(plain),
    }


def _share(hits: list[bool]) -> float:
    return round(sum(hits) / len(hits), 4) if hits else 0.0


def is_right(row: Mapping[str, Any], where: str) -> bool:
    try:
        now = datetime.fromisoformat(row["now"])
        gold = [datetime.fromisoformat(value) for value in row["gold"]]
        grain = Grain(row["grain"])
        text = str(row["text"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: needs text, now, gold and grain ({error}).") from error
    found = find_dates(text, now)
    if not gold or not found:
        return not gold and not found
    value = floor(found[0].value, grain)
    return any(value == floor(one, grain) for one in gold)
