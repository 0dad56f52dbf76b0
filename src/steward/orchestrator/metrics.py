"""Counts and latencies per agent and tool, in this process.

Owns the numbers. Does not own how they are exported (telemetry).
"""

import time
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from steward.contract.call import Done, Failed, PendingApproval, ToolResult

# Seconds, doubling from a tenth of a millisecond: fine where calls are fast, coarse where nobody cares.
BUCKETS = tuple(0.0001 * 2**power for power in range(20))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMetrics:
    agent: str
    tool: str
    calls: int
    failures: Mapping[str, int]
    pending: int
    seconds_sum: float
    buckets: tuple[tuple[float, int], ...]  # (upper bound, calls at or below it)
    examples: Mapping[int, tuple[str, float, float]] = field(
        default_factory=dict[int, tuple[str, float, float]]
    )
    """The latest call of a bucket: its correlation id, which is its trace's, its seconds and when."""

    def percentile(self, share: float) -> float:
        """Seconds that this share of the calls stayed under, interpolated inside its bucket."""
        wanted = share * self.calls
        lower_bound, below = 0.0, 0
        for upper_bound, cumulative in self.buckets:
            if cumulative >= wanted and cumulative > below:
                return lower_bound + (upper_bound - lower_bound) * (wanted - below) / (cumulative - below)
            lower_bound, below = upper_bound, cumulative
        return lower_bound


@dataclass(slots=True)
class _Series:
    calls: int = 0
    pending: int = 0
    seconds_sum: float = 0.0
    failures: dict[str, int] = field(default_factory=dict[str, int])
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    examples: dict[int, tuple[str, float, float]] = field(default_factory=dict[int, tuple[str, float, float]])


class Metrics:
    def __init__(self) -> None:
        self._series: dict[tuple[str, str], _Series] = {}
        self.abandoned = 0  # calls that did not end when told to; they may still be running

    def observe(self, agent: str, tool: str, *, result: ToolResult, seconds: float) -> None:
        series = self._series.get((agent, tool))
        if series is None:
            series = self._series[agent, tool] = _Series()
        series.calls += 1
        series.seconds_sum += seconds
        bucket = bisect_left(BUCKETS, seconds)
        series.counts[bucket] += 1
        if result.correlation_id:
            series.examples[bucket] = (result.correlation_id, seconds, time.time())
        match result:
            case Done():
                pass
            case Failed():
                series.failures[result.code] = series.failures.get(result.code, 0) + 1
            case PendingApproval():
                series.pending += 1
            case _:
                assert_never(result)

    def snapshot(self) -> tuple[ToolMetrics, ...]:
        return tuple(
            ToolMetrics(
                agent=agent,
                tool=tool,
                calls=series.calls,
                failures=dict(series.failures),
                pending=series.pending,
                seconds_sum=series.seconds_sum,
                buckets=_cumulative(series.counts),
                examples=dict(series.examples),
            )
            for (agent, tool), series in sorted(self._series.items())
        )


def _cumulative(counts: list[int]) -> tuple[tuple[float, int], ...]:
    total = 0
    rows: list[tuple[float, int]] = []
    for upper_bound, count in zip((*BUCKETS, float("inf")), counts, strict=True):
        total += count
        rows.append((upper_bound, total))
    return tuple(rows)
