"""How tools have fared: counts, failures and times, from lines of the execution log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fared:
    tool: str
    calls: int
    failed: int
    median_ms: float
    slowest_ms: float

    @property
    def failed_share(self) -> float:
        return self.failed / self.calls


def fared(executions: Iterable[Mapping[str, Any]]) -> list[Fared]:
    """By tool, the most used first. Calls that wait for a yes have not run and do not count."""
    times: dict[str, list[float]] = {}
    failures: dict[str, int] = {}
    for line in executions:
        if line["status"] == "pending_approval":
            continue
        tool = line["tool"]
        times.setdefault(tool, []).append(line["duration_ms"])
        failures[tool] = failures.get(tool, 0) + (line["status"] == "failed")
    found = [
        Fared(
            tool=tool,
            calls=len(taken),
            failed=failures[tool],
            median_ms=median(taken),
            slowest_ms=max(taken),
        )
        for tool, taken in times.items()
    ]
    return sorted(found, key=lambda item: (-item.calls, item.tool))
