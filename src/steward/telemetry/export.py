"""The OpenTelemetry side of tracing: ids, and where finished spans go.

Imported only when tracing starts (the SDK is slow to import). Runs in the SDK's background threads,
so that nothing here is ever on a call's path, and says nothing on the terminal: a span that cannot be
sent is dropped and `problem()` tells why.
"""

import logging
import os
import random
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, TraceFlags

from steward.contract.extras import EXTRAS
from steward.contract.trace_context import TraceContext
from steward.telemetry.masking import Masker
from steward.telemetry.spans import SpanSink

PROBE_SECONDS = 0.3
SEND_SECONDS = 5.0
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))

# A collector that is not there is no news: the exporter's own complaints would fill terminals and logs.
_NOISY = (
    "opentelemetry.exporter.otlp.proto.grpc.exporter",
    "opentelemetry.sdk._shared_internal",
    "opentelemetry.sdk.trace.export",
    "opentelemetry.sdk.metrics._internal.export",
)
for _name in _NOISY:
    logging.getLogger(_name).setLevel(logging.CRITICAL)


wanted_trace: ContextVar[str | None] = ContextVar("wanted_trace", default=None)


class CorrelatedIds(IdGenerator):
    """A trace begun while a correlation id is wanted has that id, where it can be one."""

    def generate_span_id(self) -> int:
        return random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        wanted = wanted_trace.get()
        if wanted and len(wanted) == 32:
            with suppress(ValueError):
                return int(wanted, 16) or 1
        return random.getrandbits(128) or 1


def remote_span(trace: TraceContext) -> NonRecordingSpan:
    """The span of whoever asked, as a parent of ours."""
    flags = TraceFlags(TraceFlags.SAMPLED)
    said = SpanContext(int(trace.trace_id, 16), int(trace.span_id, 16), is_remote=True, trace_flags=flags)
    return NonRecordingSpan(said)


class Sender(Protocol):
    """What the OTLP exporters of spans and of metrics have in common."""

    def shutdown(self) -> None: ...


S = TypeVar("S", bound=Sender)


class LazyExporter(Generic[S]):
    """An OTLP exporter that is made when it is first needed, in the background thread that needs it.

    Where nobody listens on this machine, or gRPC is not installed, there is none: data is dropped at once,
    without gRPC and its retries. A short command must not wait at its end for a collector that is not there.
    """

    def __init__(self, endpoint: str, make: Callable[[str], S]) -> None:
        self._endpoint = endpoint if "://" in endpoint else f"http://{endpoint}"
        self._make = make
        self._sender: S | None = None
        self._lock = threading.Lock()
        self._closed = False

    def sender(self) -> S | None:
        if self._closed or not EXTRAS["otlp"].installed or not listening(self._endpoint):
            return None
        with self._lock:
            if self._sender is None and not self._closed:
                os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # or gRPC itself writes to the terminal
                self._sender = self._make(self._endpoint)
            return self._sender

    def close(self) -> None:
        with self._lock:
            self._closed = True
            sender, self._sender = self._sender, None
        if sender is not None:
            sender.shutdown()


class OtlpExporter(SpanExporter):
    """Sends spans over gRPC."""

    def __init__(self, endpoint: str) -> None:
        self._connection = LazyExporter(endpoint, _span_sender)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        sender = self._connection.sender()
        return sender.export(spans) if sender else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self._connection.close()


def _span_sender(endpoint: str) -> SpanExporter:
    # Imported here: gRPC takes 0.3 s, and nobody needs it before somebody listens.
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

    return OTLPSpanExporter(endpoint, timeout=SEND_SECONDS)


def listening(endpoint: str) -> bool:
    """Whether somebody listens there, as far as that can be told at once: only on this machine."""
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "localhost", parts.port or 4317
    except ValueError:
        return False
    if host not in _LOOPBACK:
        return True
    try:
        with socket.create_connection((host, port), timeout=PROBE_SECONDS):
            return True
    except OSError:
        return False


class SinkExporter(SpanExporter):
    """Hands spans to the local trace files."""

    def __init__(self, sink: SpanSink) -> None:
        self._sink = sink

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        written = self._sink.write([_record(span) for span in spans])
        return SpanExportResult.SUCCESS if written else SpanExportResult.FAILURE

    def shutdown(self) -> None:
        self._sink.close()


def _record(span: ReadableSpan) -> dict[str, Any]:
    context, parent = span.context, span.parent
    start, end = span.start_time or 0, span.end_time or 0
    return {
        "trace_id": f"{context.trace_id:032x}" if context else None,
        "span_id": f"{context.span_id:016x}" if context else None,
        "parent_id": f"{parent.span_id:016x}" if parent else None,
        "name": span.name,
        "at": datetime.fromtimestamp(start / 1e9, UTC).isoformat(timespec="microseconds"),
        "start_ns": start,
        "duration_ms": round((end - start) / 1e6, 3),
        "status": span.status.status_code.name.lower(),
        "attributes": dict(span.attributes or {}),
        "events": [{"name": event.name, **dict(event.attributes or {})} for event in span.events],
    }


class MaskedExporter(SpanExporter):
    """The last gate: spans that other libraries put on our provider carry no secret either."""

    def __init__(self, inner: SpanExporter, masker: Masker) -> None:
        self._inner = inner
        self._masker = masker

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._inner.export([self._masked(span) for span in spans])

    def shutdown(self) -> None:
        self._inner.shutdown()

    def _masked(self, span: ReadableSpan) -> ReadableSpan:
        return ReadableSpan(
            name=self._masker.text(span.name),
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=self._attributes(span.attributes),
            events=[
                Event(event.name, self._attributes(event.attributes), event.timestamp)
                for event in span.events
            ],
            links=span.links,
            kind=span.kind,
            status=Status(span.status.status_code, self._description(span.status.description)),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _attributes(self, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
        return cast("dict[str, Any]", self._masker.value(dict(attributes or {})))

    def _description(self, description: str | None) -> str | None:
        return self._masker.text(description) if description else None
