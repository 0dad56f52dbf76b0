"""How often things happened and how long they took, by labels, in this process.

Owns the counting for what is no tool call (requests, turns); tool calls are the orchestrator's. Keeps one
example a bucket: the trace of the latest that fell into it.
"""

import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

SECONDS = tuple(0.001 * 2**power for power in range(17))  # a millisecond to a minute
MOST_SERIES = 2_000  # labels are ours, but a route that grows without end must not fill the memory


@dataclass(frozen=True, slots=True)
class Example:
    """One of those that fell into a bucket."""

    trace: str
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class TimingBucket:
    upper: float
    count: int  # at or below it
    example: Example | None = None


@dataclass(slots=True)
class TimingSeries:
    seconds: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    examples: dict[int, Example] = field(default_factory=dict[int, Example])

    def buckets(self) -> Iterator[TimingBucket]:
        total = 0
        for at, upper in enumerate((*SECONDS, float("inf"))):
            total += self.counts[at]
            yield TimingBucket(upper, total, self.examples.get(at))


class Timings:
    def __init__(self, *labels: str) -> None:
        self.labels = labels
        self._series: dict[tuple[str, ...], TimingSeries] = {}

    def observe(self, values: tuple[str, ...], seconds: float, *, trace: str | None = None) -> None:
        series = self._series.get(values)
        if series is None:
            if len(self._series) >= MOST_SERIES:
                return
            series = self._series[values] = TimingSeries()
        at = bisect_left(SECONDS, seconds)
        series.seconds += seconds
        series.counts[at] += 1
        if trace:
            series.examples[at] = Example(trace, seconds, time.time())

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], TimingSeries]]:
        return iter(sorted(self._series.items()))
