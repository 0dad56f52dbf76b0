"""How tools have fared: counts, failures and times, from lines of the execution log."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from steward.surfaces.api.shapes import ExecutionShape


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


def fared(executions: Iterable[ExecutionShape]) -> list[Fared]:
    """By tool, the most used first. Only calls that ended count."""
    times: dict[str, list[float]] = {}
    failures: dict[str, int] = {}
    for line in executions:
        if line.status not in ("done", "failed"):
            continue
        tool = line.tool
        times.setdefault(tool, []).append(line.duration_ms or 0.0)
        failures[tool] = failures.get(tool, 0) + (line.status == "failed")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBar:
    """One call in a small chart: where it stands, how high it is, and how it ended."""

    x: int
    height: float
    failed: bool
    words: str


def bars(executions: Iterable[ExecutionShape], *, high: float = 36) -> list[TimeBar]:
    """The latest calls, oldest first, the slowest as high as the chart."""
    lines = list(executions)[::-1]
    longest = max(((line.duration_ms or 0.0) for line in lines), default=0) or 1
    return [
        TimeBar(
            x=number * 7,
            height=max(2.0, high * (line.duration_ms or 0.0) / longest),
            failed=line.status == "failed",
            words=f"{line.duration_ms or 0:.0f} ms, {line.status}",
        )
        for number, line in enumerate(lines)
    ]
