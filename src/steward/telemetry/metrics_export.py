"""The orchestrator's numbers as OpenTelemetry metrics, sent over OTLP every so often.

Import it only to export: the metrics SDK takes its time. Nobody listening is no problem.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource

from steward.orchestrator.metrics import ToolMetrics
from steward.telemetry.export import SEND_SECONDS, LazyExporter
from steward.telemetry.metrics import Snapshot
from steward.telemetry.tracing import CLOSING_SECONDS, SERVICE_NAME

EVERY_SECONDS = 15.0
PERCENTILES = (0.5, 0.95, 0.99)

Read = Callable[[ToolMetrics], Iterator[tuple[float, dict[str, str | float]]]]


class MetricsExport:
    """Instruments that read a snapshot whenever they are collected; calls themselves pay nothing."""

    def __init__(
        self,
        endpoint: str,
        snapshot: Snapshot,
        *,
        service_name: str = SERVICE_NAME,
        every: float = EVERY_SECONDS,
    ) -> None:
        self._snapshot = snapshot
        self._exporter = _OtlpMetricExporter(endpoint)
        reader = PeriodicExportingMetricReader(self._exporter, export_interval_millis=every * 1000)
        resource = Resource.create({"service.name": service_name})
        self._provider = MeterProvider((reader,), resource=resource, shutdown_on_exit=False)
        meter = self._provider.get_meter("steward")
        for name, unit, description, read in (
            ("steward.tool.calls", "{call}", "Tool calls through the door.", _calls),
            ("steward.tool.failures", "{call}", "Tool calls that failed, by error code.", _failures),
            ("steward.tool.pending", "{call}", "Tool calls that became proposals.", _pending),
            ("steward.tool.seconds", "s", "Time spent in tool calls.", _seconds),
        ):
            meter.create_observable_counter(name, [self._reading(read)], unit=unit, description=description)
        meter.create_observable_gauge(
            "steward.tool.latency", [self._reading(_latency)], unit="s", description="Latency by percentile."
        )

    def _reading(self, read: Read) -> Callable[[CallbackOptions], Iterator[Observation]]:
        def observe(_: CallbackOptions) -> Iterator[Observation]:
            for row in self._snapshot():
                for value, more in read(row):
                    yield Observation(value, {"agent": row.agent, "tool": row.tool, **more})

        return observe

    def flush(self) -> None:
        self._provider.force_flush(int(CLOSING_SECONDS * 1000))

    def shutdown(self, timeout: float = CLOSING_SECONDS) -> None:
        """Send the last numbers, but never hold the program up for longer than `timeout`."""
        closing = threading.Thread(target=self._provider.shutdown, name="metrics-shutdown", daemon=True)
        closing.start()
        closing.join(timeout * 0.75)
        if closing.is_alive():
            self._exporter.shutdown()
            closing.join(timeout * 0.25)


def _calls(row: ToolMetrics) -> Iterator[tuple[float, dict[str, str | float]]]:
    yield row.calls, {}


def _failures(row: ToolMetrics) -> Iterator[tuple[float, dict[str, str | float]]]:
    for code, count in row.failures.items():
        yield count, {"code": str(code)}


def _pending(row: ToolMetrics) -> Iterator[tuple[float, dict[str, str | float]]]:
    yield row.pending, {}


def _seconds(row: ToolMetrics) -> Iterator[tuple[float, dict[str, str | float]]]:
    yield row.seconds_sum, {}


def _latency(row: ToolMetrics) -> Iterator[tuple[float, dict[str, str | float]]]:
    for share in PERCENTILES:
        yield row.percentile(share), {"percentile": share}


class _MetricSender(Protocol):
    def export(self, metrics_data: MetricsData, timeout_millis: float = ...) -> MetricExportResult: ...

    def shutdown(self) -> None: ...


class _OtlpMetricExporter(MetricExporter):
    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self._connection = LazyExporter(endpoint, _metric_sender)

    def export(
        self,
        metrics_data: MetricsData,
        timeout_millis: float = 10_000,
        **kwargs: Any,  # noqa: ARG002  (the base class's signature)
    ) -> MetricExportResult:
        sender = self._connection.sender()
        if sender is None:
            return MetricExportResult.FAILURE
        return sender.export(metrics_data, timeout_millis)

    def force_flush(self, timeout_millis: float = 10_000) -> bool:  # noqa: ARG002  (nothing is held back here)
        return True

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:  # noqa: ARG002
        self._connection.close()


def _metric_sender(endpoint: str) -> _MetricSender:
    # Imported here: gRPC takes 0.3 s, and nobody needs it before somebody listens.
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter  # noqa: PLC0415

    return OTLPMetricExporter(endpoint, timeout=SEND_SECONDS)
