"""Spans around agent runs and tool calls, with OpenTelemetry.

Owns what a span says and where it goes: to an OTLP endpoint, to the local trace files, to both, or
nowhere. A span never slows or breaks the work it describes. Does not own the files (spans.py).
"""

import functools
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Token
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, assert_never, cast, overload

from steward.contract.call import Done, Failed, PendingApproval, ToolCall, ToolResult, current_call
from steward.contract.errors import StewardError
from steward.contract.tool import RiskLevel
from steward.contract.trace_context import TraceContext, current_trace
from steward.orchestrator.ports import CallSpan, Clock
from steward.telemetry import conventions
from steward.telemetry.append import SYSTEM_CLOCK
from steward.telemetry.masking import MASKER, Masker
from steward.telemetry.numbers import Timings
from steward.telemetry.spans import USER, SpanSink

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
    from opentelemetry.trace import Span
from steward.telemetry.traces import FunctionSpan, NoTracing, RunSpan, Traces

SERVICE_NAME = "paias-agent-layer"
SHOWN_BYTES = 1024  # of parameters, task descriptions and error messages
CLOSING_SECONDS = 2.0
EXPORT_DELAY_SECONDS = 0.5  # a span shows up within two seconds
QUEUED_SPANS = 4096

P = ParamSpec("P")
R = TypeVar("R")


class Tracing:
    """Real spans, sent to `endpoint` and kept in `folder`, where given.

    Making one imports the OpenTelemetry SDK; where tracing is off, use `NoTracing`.
    """

    def __init__(
        self,
        endpoint: str | None,
        service_name: str = SERVICE_NAME,
        *,
        folder: Path | None = None,
        clock: Clock = SYSTEM_CLOCK,
        masker: Masker = MASKER,
        export_delay: float = EXPORT_DELAY_SECONDS,
    ) -> None:
        # Imported here: the SDK takes 0.15 s and `steward --help` must not pay for it.
        from opentelemetry import context, trace  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider, sampling  # noqa: PLC0415

        from steward.telemetry.export import (  # noqa: PLC0415
            CorrelatedIds,
            MaskedExporter,
            OtlpExporter,
            SinkExporter,
            remote_span,
            wanted_trace,
        )

        self.turns = Timings("agent", "outcome")
        self._masker = masker
        self._attach, self._detach = context.attach, context.detach
        self._set_in_context, self._status = trace.set_span_in_context, trace.Status
        self._current_span, self._remote_span = trace.get_current_span, remote_span
        self._ok, self._error = trace.StatusCode.OK, trace.StatusCode.ERROR
        self._wanted_trace = wanted_trace
        self._sink = SpanSink(folder, clock=clock) if folder else None
        self.provider: TracerProvider = TracerProvider(
            resource=Resource.create({"service.name": service_name}),
            shutdown_on_exit=False,
            sampler=sampling.ALWAYS_ON,  # whoever asks does not decide what is on record
            id_generator=CorrelatedIds(),
        )
        self._exporters: list[SpanExporter] = []
        if endpoint:
            self._add(MaskedExporter(OtlpExporter(endpoint), masker), export_delay)
        self._kept: BatchSpanProcessor | None = None
        if self._sink is not None:
            self._kept = self._add(MaskedExporter(SinkExporter(self._sink), masker), export_delay)
        self._tracer = self.provider.get_tracer("steward")

    def _add(self, exporter: "SpanExporter", delay: float) -> "BatchSpanProcessor":
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415  (see __init__)

        self._exporters.append(exporter)
        processor = BatchSpanProcessor(
            exporter, max_queue_size=QUEUED_SPANS, schedule_delay_millis=delay * 1000
        )
        self.provider.add_span_processor(processor)
        return processor

    def tool_call(self, call: ToolCall) -> AbstractContextManager[CallSpan]:
        attributes: dict[str, Any] = {
            "tool_name": call.tool,
            "parameters": self._masker.clip(call.arguments, SHOWN_BYTES),
            "correlation_id": call.correlation_id,
            "call_id": call.call_id,
            **conventions.tool_call(call.tool, call.arguments, call.call_id),
        }
        if call.user is not None:
            attributes[USER] = call.user
        return _ToolSpan(self, f"mcp_tool_call:{call.tool}", attributes, call.correlation_id)

    def function_call(self, tool: str, parameters: Mapping[str, Any]) -> AbstractContextManager[FunctionSpan]:
        """The span of `@trace_tool_call`: a tool's function called directly."""
        attributes: dict[str, Any] = {
            "tool_name": tool,
            "parameters": self._masker.clip(parameters, SHOWN_BYTES),
        }
        call = current_call.get()
        attributes |= conventions.tool_call(tool, parameters, None if call is None else call.call_id)
        if call is not None:
            attributes |= {"correlation_id": call.correlation_id, "call_id": call.call_id}
        return _ToolSpan(self, f"mcp_tool_call:{tool}", attributes, call.correlation_id if call else None)

    def agent_run(
        self,
        task_description: str,
        *,
        agent: str | None = None,
        conversation: str | None = None,
        correlation_id: str | None = None,
        user: str | None = None,
    ) -> AbstractContextManager[RunSpan]:
        attributes: dict[str, Any] = {"task_description": self._masker.clip(task_description, SHOWN_BYTES)}
        attributes |= conventions.agent_run(agent, conversation)
        if agent:
            attributes["agent"] = agent
        if correlation_id:
            attributes["correlation_id"] = correlation_id
        if user is not None:
            attributes[USER] = user
        return _AgentSpan(self, "agent_run", attributes, correlation_id, agent=agent)

    def flush(self) -> None:
        """Write and send what has ended so far, as far as anybody listens."""
        self.provider.force_flush()

    def read_trace(self, trace_id: str) -> list[dict[str, Any]]:
        """The spans of a trace (by its id or a correlation id), oldest first, from the local files.

        Blocks for as long as reading files takes: async callers run it in a thread.
        """
        if self._sink is None or self._kept is None:
            return []
        self._kept.force_flush()  # the files only: the endpoint may take its time
        return self._sink.read_trace(trace_id)

    def problem(self) -> str | None:
        """Why spans are not kept, for health and doctor; None when they are. Not being sent is none."""
        return self._sink.problem() if self._sink else None

    def shutdown(self, timeout: float = CLOSING_SECONDS) -> None:
        """Send what is left, but never hold the program up for longer than `timeout`."""
        closing = threading.Thread(target=self.provider.shutdown, name="tracing-shutdown", daemon=True)
        closing.start()
        closing.join(timeout * 0.75)
        if closing.is_alive():  # an endpoint that accepts and never answers
            for exporter in self._exporters:
                exporter.shutdown()
            closing.join(timeout * 0.25)

    # for the spans below

    def start(self, name: str, attributes: Mapping[str, Any], correlation_id: str | None) -> "_Open":
        """Under our own span where there is one, else under the one that the request came with."""
        token = self._wanted_trace.set(correlation_id)
        asked = current_trace.get()
        above = None
        if asked is not None and not self._current_span().get_span_context().is_valid:
            above = self._set_in_context(self._remote_span(asked))
        span = self._tracer.start_span(name, above, attributes=attributes, record_exception=False)
        self._wanted_trace.reset(token)
        said = span.get_span_context()
        here = TraceContext(f"{said.trace_id:032x}", f"{said.span_id:016x}")
        return _Open(span, self._attach(self._set_in_context(span)), current_trace.set(here))

    def end(self, opened: "_Open", attributes: Mapping[str, Any], failure: str | None) -> None:
        opened.span.set_attributes(attributes)
        opened.span.set_status(self._status(self._ok if failure is None else self._error, failure))
        current_trace.reset(opened.trace)
        self._detach(opened.token)
        opened.span.end()

    def shown(self, text: str) -> str:
        return self._masker.clip(text, SHOWN_BYTES)


@dataclass(frozen=True, slots=True)
class _Open:
    """A span that runs, and what to take back when it ends."""

    span: "Span"
    token: "Token[Context]"
    trace: "Token[TraceContext | None]"


class _Span:
    """Around a piece of work: current while it runs, marked as an error when it fails."""

    def __init__(
        self, tracing: Tracing, name: str, attributes: dict[str, Any], correlation_id: str | None
    ) -> None:
        self._tracing = tracing
        self._name = name
        self._attributes: dict[str, Any] = attributes
        self._correlation_id = correlation_id
        self._failure: str | None = None

    def _enter(self) -> None:
        self._began = time.perf_counter()
        self._open = self._tracing.start(self._name, self._attributes, self._correlation_id)
        self._attributes = {}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is not None:
            self._fail(error.code if isinstance(error, StewardError) else type(error).__name__, str(error))
        self._ended()
        self._tracing.end(self._open, self._attributes, self._failure)

    def _fail(self, error_type: str, message: str) -> None:
        self._failure = self._tracing.shown(message) or error_type
        self._attributes |= {
            "error_type": error_type,
            conventions.ERROR_TYPE: error_type,
            "error_message": self._failure,
            "status": "failed",
        }

    def _ended(self) -> None:
        """Last words before the span ends."""

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._began) * 1000


class _ToolSpan(_Span):
    def __enter__(self) -> "_ToolSpan":
        self._enter()
        return self

    def finish(self, result: ToolResult, *, risk: RiskLevel | None = None) -> None:
        said = self._attributes
        if risk is not None:
            said["risk"] = risk.value
        if result.duration_ms:
            said["execution_duration_ms"] = result.duration_ms
        match result:
            case Done():
                said |= {"status": "done", "result_count": result_count(result.data)}
            case Failed():
                self._fail(str(result.code), result.error)
            case PendingApproval():
                said |= {
                    "status": "pending_approval",
                    "risk": result.risk.value,
                    "proposal_id": result.proposal_id,
                }
            case _:
                assert_never(result)

    def returned(self, value: Any) -> None:
        match value:
            case Done() | Failed() | PendingApproval():
                self.finish(value)
            case _:
                self._attributes |= {"status": "done", "result_count": result_count(value)}

    def _ended(self) -> None:
        self._attributes.setdefault("result_count", 0)
        self._attributes.setdefault("execution_duration_ms", self._elapsed_ms())


class _AgentSpan(_Span):
    def __init__(
        self,
        tracing: Tracing,
        name: str,
        attributes: dict[str, Any],
        correlation_id: str | None,
        *,
        agent: str | None,
    ) -> None:
        super().__init__(tracing, name, attributes, correlation_id)
        self._agent = agent or "-"

    def __enter__(self) -> "_AgentSpan":
        self._enter()
        return self

    def _ended(self) -> None:
        outcome = str(self._attributes.get("result_type") or "failed")
        trace = format(self._open.span.get_span_context().trace_id, "032x")
        self._tracing.turns.observe((self._agent, outcome), self._elapsed_ms() / 1000, trace=trace)

    def finish(
        self,
        *,
        result_type: str,
        confidence_score: float,
        tool_calls_count: int,
        tokens_saved: int | None = None,
    ) -> None:
        self._attributes |= {
            "result_type": result_type,
            "confidence_score": confidence_score,
            "tool_calls_count": tool_calls_count,
        }
        if tokens_saved is not None:
            self._attributes["tokens_saved"] = tokens_saved


def result_count(data: Any) -> int:
    """How many things a tool answered with: the items of its one list, else one thing or none."""
    match data:
        case list() | tuple():
            return len(cast("Sequence[Any]", data))
        case Mapping():
            values = cast("Mapping[Any, Any]", data).values()
            sizes = [len(cast("list[Any]", value)) for value in values if isinstance(value, list)]
            return sizes[0] if len(sizes) == 1 else min(1, len(values))
        case None | "":
            return 0
        case _:
            return 1


# --- the decorator ----------------------------------------------------------------------------------

_active: Traces = NoTracing()


def activate(tracing: Traces) -> None:
    """From now on `@trace_tool_call` records here. Bootstrap says which tracing there is."""
    global _active  # noqa: PLW0603  (functions are decorated before anything has been configured)
    _active = tracing


@overload
def trace_tool_call(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def trace_tool_call(*, tool_name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def trace_tool_call(function: Callable[..., Any] | None = None, /, *, tool_name: str | None = None) -> Any:
    """A span `mcp_tool_call:{tool}` around each call of a function, sync or async."""
    if function is None:
        return functools.partial(_traced, tool_name=tool_name)
    return _traced(function, tool_name=None)


def _traced(function: Callable[..., Any], *, tool_name: str | None) -> Callable[..., Any]:
    signature = inspect.signature(function)
    name = tool_name or getattr(function, "__name__", type(function).__name__)

    def parameters(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:  # the call itself will say what is wrong
            return kwargs
        return {key: value for key, value in bound.items() if key not in ("self", "cls")}

    if inspect.iscoroutinefunction(function):
        call = cast("Callable[..., Awaitable[Any]]", function)

        @functools.wraps(function)
        async def traced_async(*args: Any, **kwargs: Any) -> Any:
            with _active.function_call(name, parameters(args, kwargs)) as span:
                result = await call(*args, **kwargs)
                span.returned(result)
                return result

        return traced_async

    @functools.wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        with _active.function_call(name, parameters(args, kwargs)) as span:
            result = function(*args, **kwargs)
            span.returned(result)
            return result

    return traced
