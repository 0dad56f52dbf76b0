"""W3C trace context: taken from whoever asks, passed on to servers, seen at a real OTLP receiver."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.gateway_setup import ACCEPT, GatewaySetup, KeptLog, open_session, served
from tests.support.mcp_servers import stdio
from tests.support.otlp_collector import Collector, ReceivedSpan

from steward.bootstrap import open_platform
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.mcp.server_agent import MCPServerAgent
from steward.settings import load_settings
from steward.surfaces.api.app import create_app
from steward.telemetry.tracing import Tracing
from steward.testing import MemoryProposalStore

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-00"
OTHER = f"00-{'7' * 32}-{'8' * 16}-01"


@dataclass
class Traced:
    house: GatewaySetup
    collector: Collector

    async def call(self, tool: str, *, header: str | None = None, **meta: str) -> dict[str, Any]:
        async with httpx.AsyncClient(headers=ACCEPT) as http:
            session = await open_session(http, self.house.url)
            more = {} if header is None else {"traceparent": header}
            params = {"name": tool, "arguments": {}, **({"_meta": meta} if meta else {})}
            message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
            answer = await http.post(self.house.url, json=message, headers={**session, **more})
        return answer.json()["result"] if answer.headers["content-type"] == "application/json" else {}

    def span(self, tool: str) -> ReceivedSpan:
        return self.collector.spans(1)[f"mcp_tool_call:{tool}"]


@pytest.fixture
def tracing(collector: Collector) -> Iterator[Tracing]:
    tracing = Tracing(collector.endpoint, export_delay=0.01)
    yield tracing
    tracing.shutdown()


@asynccontextmanager
async def traced(tracing: Tracing, collector: Collector, *servers: MCPServerAgent) -> AsyncIterator[Traced]:
    proposals, log = MemoryProposalStore(), KeptLog()
    door = Orchestrator(proposals=proposals, log=log, tracer=tracing, rules=Rules)
    for server in servers:
        door.register_agent(server)
    async with served(house=GatewaySetup(door, proposals, log)) as house:
        yield Traced(house, collector)


async def test_a_call_over_mcp_joins_the_trace_that_its_meta_names(
    tracing: Tracing, collector: Collector
) -> None:
    async with traced(tracing, collector) as here:
        await here.call("echo", traceparent=PARENT)
    span = here.span("echo")
    assert (span.trace_id, span.parent_id) == (TRACE, SPAN)
    assert span.attributes["correlation_id"] == TRACE


async def test_a_call_with_progress_joins_it_too(tracing: Tracing, collector: Collector) -> None:
    async with traced(tracing, collector) as here:
        await here.call("count", traceparent=PARENT, progressToken="p")
    assert (here.span("count").trace_id, here.span("count").parent_id) == (TRACE, SPAN)


async def test_meta_says_more_than_the_header_of_its_request(tracing: Tracing, collector: Collector) -> None:
    async with traced(tracing, collector) as here:
        await here.call("echo", header=OTHER, traceparent=PARENT)
    assert here.span("echo").trace_id == TRACE


async def test_a_header_alone_is_taken(tracing: Tracing, collector: Collector) -> None:
    async with traced(tracing, collector) as here:
        await here.call("echo", header=PARENT)
    assert here.span("echo").parent_id == SPAN


async def test_a_call_without_one_does_not_join_that_of_the_call_before(
    tracing: Tracing, collector: Collector
) -> None:
    async with traced(tracing, collector) as here:
        await here.call("echo", traceparent=PARENT)
        await here.call("count")
    spans = collector.spans(2)
    assert spans["mcp_tool_call:echo"].trace_id == TRACE
    assert (spans["mcp_tool_call:count"].trace_id == TRACE, spans["mcp_tool_call:count"].parent_id) == (
        False,
        "",
    )


@pytest.mark.parametrize("said", ["", "00-x", f"00-{'0' * 32}-{SPAN}-01", f"ff-{TRACE}-{SPAN}-01"])
async def test_what_is_no_trace_is_left_out(tracing: Tracing, collector: Collector, said: str) -> None:
    async with traced(tracing, collector) as here:
        await here.call("echo", traceparent=said)
    assert here.span("echo").parent_id == ""


@pytest.mark.parametrize("protocol", ["2026-07-28", "legacy"])
async def test_a_server_is_told_the_span_of_the_call_that_it_serves(
    tracing: Tracing, collector: Collector, protocol: str
) -> None:
    server = MCPServerAgent(stdio(name="s", script="traced.py", trusted=True, protocol=protocol))
    async with traced(tracing, collector, server) as here:
        said = await here.call("s__trace", traceparent=PARENT)
    span = here.span("s__trace")
    assert span.parent_id == SPAN
    assert said["content"][0]["text"] == f"00-{TRACE}-{span.span_id}-01"


async def test_a_call_over_http_joins_the_trace_of_its_header(
    collector: Collector, tmp_path: Path, database_url: str
) -> None:
    settings = load_settings(
        STEWARD_HOME=tmp_path / "home", DATABASE_URL=database_url,
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint,
    )  # fmt: skip
    async with open_platform(settings) as platform:
        transport = httpx.ASGITransport(app=create_app(platform), client=("127.0.0.1", 50_000))
        headers = {"X-API-Key": platform.owner_token, "traceparent": PARENT}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost:8700", headers=headers
        ) as http:
            called = await http.post("/v1/tools/calculate/call", json={"arguments": {"expression": "2+2"}})
            talked = await http.post("/v1/chat", json={"message": "What is 17 * 23?"})
        platform.tracer.shutdown()
    spans = {span.span_id: span for span in collector.all_spans() if span.trace_id == TRACE}
    above = {span.name: span.parent_id for span in spans.values() if span.parent_id not in spans}
    assert (called.status_code, talked.status_code) == (200, 200)
    assert called.json()["correlation_id"] == TRACE
    assert above == {"mcp_tool_call:calculate": SPAN, "agent_run": SPAN}
