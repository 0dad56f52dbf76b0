import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.otlp_collector import Collector

from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall
from steward.contract.errors import ErrorCode, ToolError
from steward.contract.tool import RiskLevel
from steward.telemetry import conventions
from steward.telemetry.spans import read_trace
from steward.telemetry.traces import NoTracing
from steward.telemetry.tracing import Tracing, activate, result_count, trace_tool_call


def a_call(tool: str = "web_search", **arguments: object) -> ToolCall:
    return ToolCall(tool=tool, arguments=arguments, caller=Caller(CallerKind.PERSON, "ann"))


@pytest.fixture
def tracing(collector: Collector, tmp_path: Path) -> Iterator[Tracing]:
    tracing = Tracing(collector.endpoint, folder=tmp_path, export_delay=0.01)
    activate(tracing)
    yield tracing
    activate(NoTracing())
    tracing.shutdown()


@pytest.mark.req("RES-US5.1", "RES-US5.2", "RES-FR-032")
def test_a_run_and_its_calls_arrive_at_the_collector_linked_and_described(
    tracing: Tracing, collector: Collector
) -> None:
    call = a_call(query="capital of France", max_results=10)
    with tracing.agent_run("What is the capital of France?", agent="researcher") as run:
        with tracing.tool_call(call) as span:
            span.finish(Done(data={"results": [1, 2, 3]}, duration_ms=12.5))
        run.finish(result_type="AgentResponse", confidence_score=0.85, tool_calls_count=1)

    spans = collector.spans(2)
    tool, agent = spans["mcp_tool_call:web_search"], spans["agent_run"]
    assert (tool.service, agent.service) == ("paias-agent-layer", "paias-agent-layer")
    assert tool.attributes == {
        "tool_name": "web_search",
        "parameters": '{"query":"capital of France","max_results":10}',
        "result_count": 3,
        "execution_duration_ms": 12.5,
        "correlation_id": call.correlation_id,
        "call_id": call.call_id,
        "status": "done",
        **conventions.tool_call("web_search", call.arguments, call.call_id),
    }
    assert agent.attributes == {
        "task_description": "What is the capital of France?",
        "agent": "researcher",
        "confidence_score": 0.85,
        "tool_calls_count": 1,
        "result_type": "AgentResponse",
        **conventions.agent_run("researcher"),
    }
    assert (tool.parent_id, tool.trace_id) == (agent.span_id, agent.trace_id)
    assert (tool.failed, agent.failed) == (False, False)


@pytest.mark.req("RES-US5.3")
def test_a_failed_call_is_an_error_with_its_type_and_message(tracing: Tracing, collector: Collector) -> None:
    with tracing.tool_call(a_call()) as span:
        span.finish(
            Failed(error="No answer in 30 s.", code=ErrorCode.TOOL_EXECUTION_TIMEOUT, duration_ms=30000)
        )

    span_seen = collector.spans(1)["mcp_tool_call:web_search"]
    assert span_seen.failed
    assert span_seen.attributes["error_type"] == "TOOL_EXECUTION_TIMEOUT"
    assert span_seen.attributes["error_message"] == "No answer in 30 s."
    assert span_seen.attributes["result_count"] == 0


@pytest.mark.req("RES-US5.3")
def test_an_exception_that_passes_through_is_an_error_too(tracing: Tracing, collector: Collector) -> None:
    with pytest.raises(ToolError), tracing.agent_run("x"), tracing.tool_call(a_call()):
        raise ToolError("the password is hunter22", code="BROKEN")

    spans = collector.spans(2)
    assert {span.failed for span in spans.values()} == {True}
    assert spans["mcp_tool_call:web_search"].attributes["error_type"] == "BROKEN"
    assert b"hunter22" not in b"".join(span.raw for span in spans.values())


def test_a_call_that_waits_for_a_person_is_no_error(tracing: Tracing, collector: Collector) -> None:
    with tracing.tool_call(a_call("delete_file")) as span:
        span.finish(PendingApproval(proposal_id="p1", reason="irreversible", risk=RiskLevel.IRREVERSIBLE))

    seen = collector.spans(1)["mcp_tool_call:delete_file"]
    assert not seen.failed
    assert (seen.attributes["status"], seen.attributes["risk"]) == ("pending_approval", "irreversible")


@pytest.mark.req("RES-FR-030")
async def test_decorated_functions_leave_spans_whether_sync_or_async(
    tracing: Tracing, collector: Collector
) -> None:
    @trace_tool_call
    def add(left: int, right: int = 1) -> int:
        return left + right

    @trace_tool_call(tool_name="find_things")
    async def find(query: str) -> list[str]:
        await asyncio.sleep(0)
        return [query, query]

    assert add(1, right=2) == 3
    assert await find("x") == ["x", "x"]
    with pytest.raises(TypeError):
        add()  # pyright: ignore[reportCallIssue]

    spans = collector.spans(3)
    found = spans["mcp_tool_call:find_things"]
    assert found.attributes.pop("execution_duration_ms") >= 0
    assert found.attributes == {
        "tool_name": "find_things",
        "parameters": '{"query":"x"}',
        "result_count": 2,
        "status": "done",
        **conventions.tool_call("find_things", {}, None),
    }
    assert spans["mcp_tool_call:add"].failed
    assert spans["mcp_tool_call:add"].attributes["error.type"] == "TypeError"


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        (
            "read_own_resource",
            {"uri": "knowledge://x"},
            ("resources/read", "mcp.resource.uri", "knowledge://x"),
        ),
        ("get_server_prompt", {"name": "greet"}, ("prompts/get", "gen_ai.prompt.name", "greet")),
    ],
)
def test_resources_and_prompts_are_named_as_the_protocol_names_them(
    tracing: Tracing, collector: Collector, tool: str, arguments: dict[str, str], named: tuple[str, str, str]
) -> None:
    with tracing.tool_call(a_call(tool, **arguments)):
        pass
    said = collector.spans(1)[f"mcp_tool_call:{tool}"].attributes
    assert (said["mcp.method.name"], said[named[1]], "gen_ai.tool.name" in said) == (
        named[0],
        named[2],
        False,
    )


def test_spans_carry_the_conventions_names_beside_our_own(tracing: Tracing, collector: Collector) -> None:
    call = replace(a_call(query="x"), session="session 17")
    with tracing.agent_run("look it up", agent="researcher"), tracing.tool_call(call) as span:
        span.finish(Failed(error="no", code="DISK_FULL"))
    spans = collector.spans(2)
    tool, run = spans["mcp_tool_call:web_search"].attributes, spans["agent_run"].attributes
    assert (tool["gen_ai.operation.name"], tool["gen_ai.tool.name"]) == ("execute_tool", "web_search")
    assert (tool["gen_ai.tool.call.id"], tool["mcp.method.name"]) == (call.call_id, "tools/call")
    assert ("mcp.session.id" in tool, tool["error.type"]) == (False, "DISK_FULL")
    assert (run["gen_ai.operation.name"], run["gen_ai.agent.name"]) == ("invoke_agent", "researcher")
    [(labels, series)] = tracing.turns
    assert (labels, sum(series.counts)) == (("researcher", "failed"), 1)


def test_a_trace_is_found_under_the_correlation_id_of_its_first_call(
    tracing: Tracing, collector: Collector, tmp_path: Path
) -> None:
    call = a_call(query="x")
    with tracing.tool_call(call) as outer, tracing.tool_call(a_call("inner")) as inner:
        inner.finish(Done(data=1))
        outer.finish(Done(data=2))

    trace = tracing.read_trace(call.correlation_id)
    assert [span["name"] for span in trace] == ["mcp_tool_call:web_search", "mcp_tool_call:inner"]
    assert trace[1]["parent_id"] == trace[0]["span_id"]
    assert collector.spans(2)["mcp_tool_call:inner"].trace_id == call.correlation_id
    assert read_trace(tmp_path, call.correlation_id) == trace


def test_a_foreign_correlation_id_finds_its_trace_as_well(tracing: Tracing) -> None:
    call = ToolCall(
        tool="t", arguments={}, caller=Caller(CallerKind.CLIENT, "cursor"), correlation_id="order-66"
    )
    with tracing.agent_run("something"), tracing.tool_call(call) as span:
        span.finish(Done())

    assert [span["name"] for span in tracing.read_trace("order-66")] == ["agent_run", "mcp_tool_call:t"]
    assert tracing.read_trace("nobody") == []


def test_spans_that_other_libraries_put_on_our_provider_are_masked(
    tracing: Tracing, collector: Collector
) -> None:
    with tracing.provider.get_tracer("other").start_as_current_span("chat") as span:
        span.set_attribute("prompt", "my password: hunter22")
        span.record_exception(ValueError("Bearer abcdef123456"))

    raw = collector.spans(1)["chat"].raw
    assert b"hunter22" not in raw
    assert b"abcdef123456" not in raw


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_nobody_listening_costs_nothing_and_says_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    tracing = Tracing(f"http://127.0.0.1:{unused_port()}", folder=tmp_path, export_delay=0.01)
    call = a_call(query="x")
    with tracing.tool_call(call) as span:
        span.finish(Done(data=[1]))
    trace = tracing.read_trace(call.correlation_id)
    tracing.shutdown()

    assert [span["name"] for span in trace] == ["mcp_tool_call:web_search"]  # kept locally all the same
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


@pytest.fixture
def silent_endpoint() -> Iterator[str]:
    """Accepts connections and never answers."""
    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    for connection in held:
        connection.close()


def test_an_endpoint_that_never_answers_does_not_hold_the_program_up(
    silent_endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    tracing = Tracing(silent_endpoint, export_delay=0.01)
    for _ in range(5000):  # more than the queue holds
        with tracing.tool_call(a_call()) as span:
            span.finish(Done())

    began = time.monotonic()
    tracing.shutdown()
    assert time.monotonic() - began < 10  # two seconds, on a machine that does nothing else
    assert caplog.records == []


def test_a_trace_is_read_although_the_endpoint_never_answers(silent_endpoint: str, tmp_path: Path) -> None:
    tracing = Tracing(silent_endpoint, folder=tmp_path, export_delay=3600)
    call = a_call()
    with tracing.tool_call(call) as span:
        span.finish(Done())
    began = time.monotonic()
    (kept,) = tracing.read_trace(call.correlation_id)
    assert time.monotonic() - began < 4  # sending gives up after five seconds, and is not waited for
    assert kept["at"].startswith("20")
    tracing.shutdown()


def test_traces_that_cannot_be_kept_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    tracing = Tracing(None, folder=tmp_path / "logs")
    assert tracing.problem() is None
    with tracing.tool_call(a_call()) as span:
        span.finish(Done())
    tracing.flush()
    assert tracing.problem() is not None
    tracing.shutdown()


def test_tracing_that_is_off_runs_the_same_code() -> None:
    tracing = NoTracing()
    assert (tracing.problem(), tracing.read_trace("x")) == (None, [])
    with tracing.agent_run("x") as run, tracing.tool_call(a_call()) as span:
        span.finish(Done())
        run.finish(result_type="AgentResponse", confidence_score=1.0, tool_calls_count=0)
    tracing.shutdown()

    @trace_tool_call
    def double(number: int) -> int:
        return number * 2

    assert double(2) == 4


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (None, 0),
        ("", 0),
        ({}, 0),
        ([], 0),
        ([1, 2], 2),
        ({"items": [1, 2, 3], "next": None}, 3),
        ({"a": [1], "b": [2]}, 1),
        ({"text": "x"}, 1),
        ("text", 1),
        (0, 1),
    ],
)
def test_results_are_counted_by_their_one_list(data: object, count: int) -> None:
    assert result_count(data) == count


def test_every_call_that_was_rated_says_how(tracing: Tracing, collector: Collector) -> None:
    with tracing.tool_call(a_call("list_tasks")) as span:
        span.finish(Done(data=[]), risk=RiskLevel.REVERSIBLE)
    with tracing.tool_call(a_call("no_such_tool")) as span:
        span.finish(Failed(error="There is no such tool.", code=ErrorCode.TOOL_NOT_FOUND))

    seen = collector.spans(2)
    assert {name: span.attributes.get("risk") for name, span in seen.items()} == {
        "mcp_tool_call:list_tasks": "reversible",
        "mcp_tool_call:no_such_tool": None,
    }
