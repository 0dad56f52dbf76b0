"""What tracing offers to whoever is traced, and tracing that is off.

Imports no OpenTelemetry: switched off, it costs a method call.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from steward.contract.call import ToolCall
from steward.orchestrator.ports import CallSpan


class RunSpan(Protocol):
    def finish(
        self,
        *,
        result_type: str,
        confidence_score: float,
        tool_calls_count: int,
        tokens_saved: int | None = None,
    ) -> None: ...


class Traces(Protocol):
    """What both kinds of tracing offer; a `Tracer` to the orchestrator."""

    def tool_call(self, call: ToolCall) -> AbstractContextManager[CallSpan]: ...

    def agent_run(
        self,
        task_description: str,
        *,
        agent: str | None = None,
        conversation: str | None = None,
        correlation_id: str | None = None,
        user: str | None = None,
    ) -> AbstractContextManager[RunSpan]: ...

    def function_call(
        self, tool: str, parameters: Mapping[str, Any]
    ) -> AbstractContextManager["FunctionSpan"]: ...

    def read_trace(self, trace_id: str) -> list[dict[str, Any]]: ...

    def problem(self) -> str | None: ...

    def shutdown(self) -> None: ...


class FunctionSpan(Protocol):
    def returned(self, value: Any) -> None: ...


class _NoSpan:
    """Every kind of span at once, and none."""

    def __enter__(self) -> "_NoSpan":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def finish(self, *_: Any, **__: Any) -> None:
        return None

    def returned(self, *_: Any, **__: Any) -> None:
        return None


_NO_SPAN = _NoSpan()


class NoTracing:
    """Tracing that is off: costs a method call and imports nothing."""

    def tool_call(self, *_: Any, **__: Any) -> _NoSpan:
        return _NO_SPAN

    def agent_run(self, *_: Any, **__: Any) -> _NoSpan:
        return _NO_SPAN

    def function_call(self, *_: Any, **__: Any) -> _NoSpan:
        return _NO_SPAN

    def read_trace(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        return []

    def problem(self) -> str | None:
        return None

    def shutdown(self) -> None:
        return None
