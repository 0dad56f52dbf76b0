"""The suite `intents`: does the task assistant know which of its tools an utterance wants?"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from steward.contract.errors import InputError
from steward.evaluation.data import read_rows

_MUTATING = frozenset({"add", "complete", "delete", "update"})
_CLARIFY, _OTHER = "clarify", "other"
_GOLD = frozenset({*_MUTATING, "list", _OTHER, _CLARIFY, "mutating"})
NOW = datetime(2026, 11, 16, 9, 0)  # noqa: DTZ001 intents do not depend on when


def evaluate(path: Path, meant: Callable[[str], str | None]) -> dict[str, Any]:
    """Share of utterances whose intent is right; a question asked back is `clarify`."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    asked = 0
    for number, row in enumerate(read_rows(path), 1):
        text, gold = row.get("text"), row.get("intent")
        if not isinstance(text, str) or not isinstance(gold, str) or gold not in _GOLD:
            raise InputError(
                f"{path}, row {number}: needs a text and an intent.",
                fix=f"Use one of: {', '.join(sorted(_GOLD))}.",
            )
        said = _intent(meant(text))
        asked += said == _CLARIFY
        total[gold] += 1
        right[gold] += said == gold or (gold == "mutating" and said in _MUTATING)
    n = sum(total.values())
    return {
        "n": n,
        "accuracy": round(sum(right.values()) / n, 4),
        "asked": asked,
        "per_class": {gold: round(right[gold] / total[gold], 4) for gold in sorted(total)},
    }


def _intent(tool: str | None) -> str:
    """`add_task` is the intent `add`."""
    if tool is None:
        return _OTHER
    return _CLARIFY if tool == "asked" else tool.partition("_")[0]
