"""The door with real telemetry: each call leaves its line and its span."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.door import MODEL, Door, tool
from tests.support.otlp_collector import Collector
from tests.support.recorded import read_lines
from tests.support.secret_shapes import IN_TEXT, IN_VALUES, UNMISTAKABLE

from steward.contract.call import ToolCall, current_call
from steward.contract.errors import ErrorCode
from steward.contract.tool import RiskLevel
from steward.telemetry.executions import ExecutionLogFile
from steward.telemetry.tracing import Tracing


@dataclass
class Recorded:
    door: Door
    tracing: Tracing
    folder: Path
    log: ExecutionLogFile

    def lines(self, **filters: Any) -> list[dict[str, Any]]:
        self.log.flush()
        return list(read_lines(self.folder, **filters).items)


@pytest.fixture
def recorded(collector: Collector, tmp_path: Path) -> Iterator[Recorded]:
    tracing = Tracing(collector.endpoint, folder=tmp_path, export_delay=0.05)
    log = ExecutionLogFile(tmp_path)
    yield Recorded(Door(log=log, tracer=tracing), tracing, tmp_path, log)  # pyright: ignore[reportArgumentType]
    tracing.shutdown()
    log.close()


@pytest.mark.req("RES-US5.1", "RES-US5.2", "SKL-FR-011", "SKL-SC-006")
async def test_every_call_of_a_run_leaves_a_line_and_a_span_under_it(
    recorded: Recorded, collector: Collector
) -> None:
    def web_search(query: str, max_results: int = 10) -> list[str]:
        return [query] * max_results

    door = await recorded.door.with_tools(tool(web_search))
    with recorded.tracing.agent_run("find x") as run:
        await asyncio.gather(*(door.call("web_search", query="x", max_results=count) for count in range(5)))
        run.finish(result_type="AgentResponse", confidence_score=0.9, tool_calls_count=5)

    collector.spans(6)
    spans = recorded.tracing.read_trace(collector.spans(6)["agent_run"].trace_id)
    calls = [span for span in spans if span["name"] == "mcp_tool_call:web_search"]
    (run_span,) = (span for span in spans if span["name"] == "agent_run")
    assert {span["parent_id"] for span in calls} == {run_span["span_id"]}
    assert sorted(span["attributes"]["result_count"] for span in calls) == [0, 1, 2, 3, 4]
    lines = recorded.lines()
    assert {line["call_id"] for line in lines} == {span["attributes"]["call_id"] for span in calls}
    assert {line["status"] for line in lines} == {"done"}


@pytest.mark.req("RES-US5.3", "SKL-EDGE-07")
async def test_failures_of_every_kind_are_found_with_what_caused_them(
    recorded: Recorded, collector: Collector
) -> None:
    def explode(fuse: int) -> None:
        raise RuntimeError(f"the fuse was {fuse}")

    async def hang() -> None:
        await asyncio.Event().wait()

    def wipe() -> None:
        """Deletes everything."""

    door = await recorded.door.with_tools(
        tool(explode), tool(hang, timeout=0.05), tool(wipe, risk=RiskLevel.IRREVERSIBLE)
    )
    for name, arguments in (("explode", {"fuse": 3}), ("hang", {}), ("wipe", {}), ("nobody", {"a": 1})):
        await door.call(name, **arguments)

    spans = collector.spans(4)
    assert spans["mcp_tool_call:hang"].attributes["error_type"] == ErrorCode.TOOL_EXECUTION_TIMEOUT
    assert spans["mcp_tool_call:nobody"].attributes["error_type"] == ErrorCode.TOOL_NOT_FOUND
    assert spans["mcp_tool_call:explode"].failed
    assert spans["mcp_tool_call:wipe"].attributes["status"] == "pending_approval"
    found = {line["tool"]: (line["status"], line["arguments"], line["code"]) for line in recorded.lines()}
    assert found == {
        "explode": ("failed", {"fuse": 3}, ErrorCode.TOOL_EXECUTION_ERROR),
        "hang": ("failed", {}, ErrorCode.TOOL_EXECUTION_TIMEOUT),
        "wipe": ("pending_approval", {}, None),
        "nobody": ("failed", {"a": 1}, ErrorCode.TOOL_NOT_FOUND),
    }


async def test_a_tool_that_calls_another_has_it_in_its_trace(
    recorded: Recorded, collector: Collector
) -> None:
    door = recorded.door

    async def outer() -> str:
        call = current_call.get()
        assert call is not None
        inner_call = ToolCall(tool="inner", arguments={}, caller=MODEL, correlation_id=call.correlation_id)
        await door.orchestrator.execute(inner_call)
        return "done"

    def inner() -> str:
        return "done"

    await door.with_tools(tool(outer), tool(inner))
    result = await door.call("outer")

    spans = collector.spans(2)
    assert spans["mcp_tool_call:inner"].parent_id == spans["mcp_tool_call:outer"].span_id
    assert spans["mcp_tool_call:outer"].trace_id == result.correlation_id
    assert len(recorded.lines(correlation_id=result.correlation_id)) == 2


async def test_no_secret_leaves_or_stays_in_a_file(recorded: Recorded, collector: Collector) -> None:
    def echo(value: Any) -> Any:
        return {"echo": value}

    def fail(text: str) -> None:
        raise RuntimeError(text)

    door = await recorded.door.with_tools(tool(echo), tool(fail))
    for value, _ in IN_VALUES:
        await door.call("echo", value=value)
    for text, _ in IN_TEXT:
        await door.call("fail", text=text)
        with recorded.tracing.agent_run(text):
            pass

    recorded.tracing.flush()
    seen = collector.everything()
    for path in recorded.folder.iterdir():
        seen += path.read_bytes()
    assert seen.count(b"mcp_tool_call:fail") > len(IN_TEXT)
    assert [secret for secret in UNMISTAKABLE if secret.encode() in seen] == []


@pytest.mark.req("RES-FR-032", "RES-US5.1")
def test_a_command_sends_its_span_before_it_ends(
    collector: Collector, database_url: str, tmp_path: Path
) -> None:
    environment = os.environ | {
        "STEWARD_HOME": str(tmp_path),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
    }
    subprocess.run(
        [sys.executable, "-m", "steward", "tools", "call", "save_fact", "--arg", "text=x", "--json"],
        env=environment,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=100,
    )
    span = collector.spans(1)["mcp_tool_call:save_fact"]
    assert (span.service, span.failed) == ("paias-agent-layer", False)
    assert (span.attributes["parameters"], span.attributes["result_count"]) == ('{"text":"x"}', 1)
