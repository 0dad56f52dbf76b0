"""Steward's numbers for Prometheus, in its own text form or as OpenMetrics, which can carry examples.

Owns names and units. Does not own the counting (orchestrator/metrics.py, numbers.py).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from steward.orchestrator.metrics import ToolMetrics
from steward.telemetry.numbers import Example, Timings

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

Snapshot = Callable[[], Sequence[ToolMetrics]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    """Connections to the database: how many there may be, are in use, and how many calls wait for one."""

    size: int
    used: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What there is to tell; what is None is not told."""

    tools: Snapshot
    abandoned: int | None = None
    requests: Timings | None = None
    turns: Timings | None = None
    proposals_waiting: int | None = None
    jobs: Mapping[str, int] | None = None  # by state
    job_wait: float | None = None  # seconds that the first job which is due waits
    database: PoolUse | None = None
    version: str | None = None
    process: bool = False


def render_prometheus(numbers: Numbers, *, openmetrics: bool = False) -> bytes:
    """What `GET /metrics` answers, as `CONTENT_TYPE` or `OPENMETRICS_TYPE`."""
    from prometheus_client import (  # noqa: PLC0415  (0.1 s; few ask for it)
        CollectorRegistry,
        ProcessCollector,
        generate_latest,
    )
    from prometheus_client.openmetrics import exposition  # noqa: PLC0415

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(numbers))
    if numbers.process:
        ProcessCollector(registry=registry)
    if openmetrics:
        written: Any = cast("Any", exposition).generate_latest(registry)
        return written
    return generate_latest(registry)


class _Collector:
    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def describe(self) -> Iterable["Metric"]:
        return ()

    def collect(self) -> Iterator["Metric"]:
        yield from _tool_families(self._numbers.tools())
        yield from _single_values(self._numbers)
        for name, what, timings in (
            ("steward_http_request_seconds", "How long requests to the API took.", self._numbers.requests),
            ("steward_turn_seconds", "How long turns of agents took.", self._numbers.turns),
        ):
            if timings is not None:
                yield _histogram(name, what, timings)


def _tool_families(rows: Sequence[ToolMetrics]) -> Iterator["Metric"]:
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
    for row in rows:
        names = (row.agent, row.tool)
        calls.add_metric(names, row.calls)
        pending.add_metric(names, row.pending)
        for code, count in sorted(row.failures.items()):
            failures.add_metric((*names, code), count)
        buckets: list[Any] = [
            _bucket(upper, count, Example(*row.examples[at]) if at in row.examples else None)
            for at, (upper, count) in enumerate(row.buckets)
        ]
        seconds.add_metric(names, buckets, row.seconds_sum)
    yield from (calls, failures, pending, seconds)


def _histogram(name: str, what: str, timings: Timings) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415  (see render_prometheus)

    family = HistogramMetricFamily(name, what, labels=timings.labels)
    for values, series in timings:
        buckets: list[Any] = [_bucket(each.upper, each.count, each.example) for each in series.buckets()]
        family.add_metric(values, buckets, series.seconds)
    return family


def _single_values(numbers: Numbers) -> Iterator["Metric"]:
    from prometheus_client.core import (  # noqa: PLC0415  (see render_prometheus)
        CounterMetricFamily,
        GaugeMetricFamily,
    )

    if numbers.abandoned is not None:
        what = "Calls that did not end when told to."
        yield CounterMetricFamily("steward_abandoned_calls", what, value=numbers.abandoned)
    pool = numbers.database
    for name, what, value in (
        ("steward_proposals_waiting", "Calls that wait for a person now.", numbers.proposals_waiting),
        ("steward_job_wait_seconds", "For how long the first job that is due waits.", numbers.job_wait),
        ("steward_database_connections_max", "Connections that there may be.", pool and pool.size),
        ("steward_database_connections_used", "Connections in use.", pool and pool.used),
        ("steward_database_waiting", "Calls that wait for a connection.", pool and pool.waiting),
    ):
        if value is not None:
            yield GaugeMetricFamily(name, what, value=value)
    if numbers.jobs is not None:
        jobs = GaugeMetricFamily("steward_jobs", "Jobs that have not ended well.", labels=("state",))
        for state, count in sorted(numbers.jobs.items()):
            jobs.add_metric((state,), count)
        yield jobs
    if numbers.version is not None:
        build = GaugeMetricFamily("steward_build_info", "Which Steward this is.", labels=("version",))
        build.add_metric((numbers.version,), 1)
        yield build


def _bucket(upper: float, count: int, example: Example | None) -> Any:
    bound = "+Inf" if upper == float("inf") else f"{upper:g}"
    if example is None:
        return (bound, count)
    from prometheus_client.samples import Exemplar  # noqa: PLC0415  (see render_prometheus)

    return (bound, count, Exemplar({"trace_id": example.trace}, example.seconds, example.at))
