"""What every tracer promises the orchestrator: spans come and go, and nothing of them shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import Tracer
from steward.telemetry.traces import NoTracing
from steward.telemetry.tracing import Tracing
from steward.testing import MemoryTracer

CALL = ToolCall(tool="web_search", arguments={"q": "x"}, caller=Caller(CallerKind.SYSTEM, "test"))


@pytest.fixture(params=["memory", "off", "local", "exporting"])
def tracer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tracer]:
    match request.param:
        case "memory":
            yield MemoryTracer()
        case "off":
            yield NoTracing()
        case _:
            endpoint = "http://127.0.0.1:9" if request.param == "exporting" else None
            tracing = Tracing(endpoint, folder=tmp_path)
            yield tracing
            tracing.shutdown()


@pytest.mark.parametrize(
    "result",
    [
        Done(data=[1]),
        Failed(error="x"),
        PendingApproval(proposal_id="p", reason="r", risk=RiskLevel.IRREVERSIBLE),
    ],
)
def test_a_span_takes_any_result(tracer: Tracer, result: ToolResult) -> None:
    with tracer.tool_call(CALL) as span:
        span.finish(result)


def test_an_exception_passes_through_unchanged(tracer: Tracer) -> None:
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught, tracer.tool_call(CALL):
        raise error
    assert caught.value is error


def test_spans_nest_and_need_not_be_finished(tracer: Tracer) -> None:
    with tracer.tool_call(CALL), tracer.tool_call(CALL) as inner:
        inner.finish(Done())
