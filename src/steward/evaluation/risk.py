"""How well the risk estimate tells reading tools from changing ones.

Owns the suite `risk`. It asks the estimate that the policy uses, with what an unknown server would send:
name, description and input schema, without hints.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from steward.contract.errors import InputError
from steward.contract.tool import JsonObject
from steward.evaluation.data import read_rows
from steward.policy.estimate import EffectKind, estimate_tool


def evaluate(path: Path) -> dict[str, Any]:
    """Accuracy over the three labels, and the two numbers that decide whether the estimate may be used.

    `false_read_only` is the share of changing tools (write or destructive) that are called read_only;
    `read_only_recall` the share of read_only tools that are called so. Both are 0 without such tools.
    """
    pairs = [_judge(row, f"{path}, row {number}") for number, row in enumerate(read_rows(path), start=1)]
    guesses_for_changing = [guess for label, guess in pairs if label is not EffectKind.READ_ONLY]
    guesses_for_reading = [guess for label, guess in pairs if label is EffectKind.READ_ONLY]
    return {
        "n": len(pairs),
        "accuracy": _share([label is guess for label, guess in pairs]),
        "false_read_only": _share([guess is EffectKind.READ_ONLY for guess in guesses_for_changing]),
        "read_only_recall": _share([guess is EffectKind.READ_ONLY for guess in guesses_for_reading]),
    }


def _judge(row: Mapping[str, Any], where: str) -> tuple[EffectKind, EffectKind]:
    name, description, schema = row.get("name"), row.get("description") or "", row.get("inputSchema")
    if not (isinstance(name, str) and isinstance(description, str) and isinstance(schema, dict | None)):
        raise InputError(f"{where}: no tool definition.", fix="Give name, description and inputSchema.")
    try:
        label = EffectKind(str(row.get("label")))
    except ValueError:
        raise InputError(
            f"{where}: label {row.get('label')!r} is unknown.", fix=f"Use {', '.join(EffectKind)}."
        ) from None
    return label, estimate_tool(name, description, cast("JsonObject | None", schema)).kind


def _share(hits: list[bool]) -> float:
    return round(sum(hits) / len(hits), 4) if hits else 0.0
