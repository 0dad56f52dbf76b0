"""A real OTLP collector over gRPC, in this process: what it receives, it keeps."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    service: str
    name: str
    attributes: dict[str, Any]
    trace_id: str
    span_id: str
    parent_id: str
    failed: bool
    status_message: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class ReceivedPoint:
    metric: str
    attributes: dict[str, Any]
    value: float


class Collector(trace_service_pb2_grpc.TraceServiceServicer, metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self) -> None:
        self.endpoint = ""
        self._spans: list[ReceivedSpan] = []
        self._points: list[ReceivedPoint] = []
        self._arrived = threading.Condition()

    def spans(self, count: int) -> dict[str, ReceivedSpan]:
        """The spans by name, once this many have arrived."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self._spans) >= count, WAIT_SECONDS), self._spans
            return {span.name: span for span in self._spans}

    def all_spans(self) -> list[ReceivedSpan]:
        """What has arrived so far, in that order."""
        with self._arrived:
            return list(self._spans)

    def everything(self) -> bytes:
        """All spans so far as they came over the wire."""
        with self._arrived:
            return b"".join(span.raw for span in self._spans)

    def points(self, count: int) -> list[ReceivedPoint]:
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self._points) >= count, WAIT_SECONDS), self._points
            return list(self._points)

    def Export(self, request: Any, context: grpc.ServicerContext) -> Any:
        if isinstance(request, trace_service_pb2.ExportTraceServiceRequest):
            self._keep(self._spans, _spans(request))
            return trace_service_pb2.ExportTraceServiceResponse()
        self._keep(self._points, _points(request))
        return metrics_service_pb2.ExportMetricsServiceResponse()

    def _keep(self, kept: list[Any], more: Iterator[Any]) -> None:
        with self._arrived:
            kept.extend(more)
            self._arrived.notify_all()


def _spans(request: Any) -> Iterator[ReceivedSpan]:
    for resource in request.resource_spans:
        service = _values(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield ReceivedSpan(
                    service=service,
                    name=span.name,
                    attributes=_values(span.attributes),
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    failed=span.status.code == 2,
                    status_message=span.status.message,
                    raw=span.SerializeToString(),
                )


def _points(request: Any) -> Iterator[ReceivedPoint]:
    for resource in request.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                data = getattr(metric, metric.WhichOneof("data"))
                for point in data.data_points:
                    value = getattr(point, point.WhichOneof("value"))
                    yield ReceivedPoint(metric.name, _values(point.attributes), float(value))


def _values(attributes: Iterator[KeyValue]) -> dict[str, Any]:
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in attributes}


@contextmanager
def running_collector() -> Iterator[Collector]:
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    collector.endpoint = f"http://127.0.0.1:{port}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(grace=None).wait(WAIT_SECONDS)
