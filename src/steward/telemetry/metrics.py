"""The orchestrator's numbers for other programs: Prometheus text and OpenTelemetry metrics.

Owns names, units and export. Does not own the counting (orchestrator/metrics.py).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from steward.orchestrator.metrics import ToolMetrics

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
EXPORT_SECONDS = 15.0
PERCENTILES = (0.5, 0.95, 0.99)

Snapshot = Callable[[], Sequence[ToolMetrics]]


def render_prometheus(snapshot: Snapshot, *, abandoned: Callable[[], int] | None = None) -> bytes:
    """What `GET /metrics` answers, in Prometheus' text format (`CONTENT_TYPE`)."""
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415  (0.1 s; few ask for it)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(snapshot, abandoned))
    return generate_latest(registry)


class _Collector:
    def __init__(self, snapshot: Snapshot, abandoned: Callable[[], int] | None) -> None:
        self._snapshot = snapshot
        self._abandoned = abandoned

    def describe(self) -> Iterable["Metric"]:
        return ()

    def collect(self) -> Iterator["Metric"]:
        from prometheus_client.core import (  # noqa: PLC0415  (see render_prometheus)
            CounterMetricFamily,
            HistogramMetricFamily,
        )

        labels = ("agent", "tool")
        calls = CounterMetricFamily("steward_tool_calls", "Tool calls through the door.", labels=labels)
        failures = CounterMetricFamily(
            "steward_tool_failures", "Tool calls that failed, by error code.", labels=(*labels, "code")
        )
        pending = CounterMetricFamily(
            "steward_tool_pending_approvals", "Tool calls that became proposals.", labels=labels
        )
        seconds = HistogramMetricFamily(
            "steward_tool_call_seconds", "How long tool calls took, waiting included.", labels=labels
        )
        for row in self._snapshot():
            names = (row.agent, row.tool)
            calls.add_metric(names, row.calls)
            pending.add_metric(names, row.pending)
            for code, count in sorted(row.failures.items()):
                failures.add_metric((*names, code), count)
            seconds.add_metric(names, [(_bound(le), count) for le, count in row.buckets], row.seconds_sum)
        yield from (calls, failures, pending, seconds)
        if self._abandoned is not None:
            yield CounterMetricFamily(
                "steward_abandoned_calls", "Calls that did not end when told to.", value=self._abandoned()
            )


def _bound(upper: float) -> str:
    return "+Inf" if upper == float("inf") else f"{upper:g}"
