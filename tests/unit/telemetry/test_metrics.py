import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.support.otlp_collector import Collector, ReceivedPoint

from steward.contract.call import Done, Failed, PendingApproval
from steward.contract.tool import RiskLevel
from steward.orchestrator.metrics import BUCKETS, Metrics
from steward.telemetry.metrics import Numbers, PoolUse, render_prometheus
from steward.telemetry.metrics_export import MetricsExport
from steward.telemetry.numbers import SECONDS, Timings


@pytest.fixture
def metrics() -> Metrics:
    metrics = Metrics()
    for seconds in (0.001, 0.002, 0.5):
        metrics.observe("web", "web_search", result=Done(), seconds=seconds)
    metrics.observe("web", "web_search", result=Failed(error="x", code="TOOL_EXECUTION_TIMEOUT"), seconds=30)
    metrics.observe(
        "files",
        'odd"name\n',
        result=PendingApproval(proposal_id="p", reason="r", risk=RiskLevel.IRREVERSIBLE),
        seconds=0.01,
    )
    return metrics


def test_prometheus_reads_counts_failures_and_latencies(metrics: Metrics) -> None:
    text = render_prometheus(Numbers(tools=metrics.snapshot, abandoned=2)).decode()
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    search = (("agent", "web"), ("tool", "web_search"))
    odd = (("agent", "files"), ("tool", 'odd"name\n'))
    assert samples["steward_tool_calls_total", *search] == 4
    assert samples["steward_tool_calls_total", *odd] == 1
    assert samples["steward_tool_pending_approvals_total", *odd] == 1
    assert (
        samples[
            "steward_tool_failures_total",
            ("agent", "web"),
            ("code", "TOOL_EXECUTION_TIMEOUT"),
            ("tool", "web_search"),
        ]
        == 1
    )
    assert samples["steward_tool_call_seconds_count", *search] == 4
    assert samples["steward_tool_call_seconds_sum", *search] == pytest.approx(30.503)
    assert samples["steward_abandoned_calls_total",] == 2
    buckets = [value for key, value in samples.items() if key[0].endswith("_bucket") and key[1] == search[0]]
    assert (len(buckets), buckets[-1]) == (len(BUCKETS) + 1, 4)


def test_requests_turns_and_what_waits_are_told_where_they_are_known() -> None:
    turns = Timings("agent", "outcome")
    for seconds in (0.5, 1e6):
        turns.observe(("tasks", "done"), seconds, trace="4bf92f3577b34da6a3ce929d0e0e4736")
    numbers = Numbers(
        tools=Metrics().snapshot,
        turns=turns,
        proposals_waiting=3,
        jobs={"waiting": 2, "failed": 1},
        job_wait=1.5,
        database=PoolUse(size=10, used=2, waiting=0),
        version="9",
        process=True,
    )
    text = render_prometheus(numbers).decode()
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "le" not in sample.labels
    }
    assert (samples["steward_turn_seconds_count"], samples["steward_proposals_waiting"]) == (2, 3)
    assert (samples["steward_database_connections_used"], samples["steward_build_info"]) == (2, 1)
    assert 'steward_jobs{state="failed"} 1.0' in text
    assert samples["steward_job_wait_seconds"] == 1.5
    assert samples["process_resident_memory_bytes"] > 0
    assert "steward_http_request_seconds" not in text
    assert "steward_abandoned_calls" not in text


def test_a_bucket_carries_the_trace_of_its_latest_in_openmetrics(metrics: Metrics) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    metrics.observe("web", "web_search", result=Done(correlation_id=trace), seconds=0.001)
    text = render_prometheus(Numbers(tools=metrics.snapshot), openmetrics=True).decode()
    assert (f'# {{trace_id="{trace}"}} 0.001' in text, text.endswith("# EOF\n")) == (True, True)


def test_labels_that_grow_without_end_stop_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.telemetry.numbers.MOST_SERIES", 2)
    timings = Timings("route")
    for route in ("a", "b", "c", "a"):
        timings.observe((route,), 0.001)
    assert [(values, series.counts[0]) for values, series in timings] == [(("a",), 2), (("b",), 1)]
    assert len(list(next(iter(timings))[1].buckets())) == len(SECONDS) + 1


def test_no_calls_yet_is_no_error() -> None:
    assert b"steward_tool_calls_total" in render_prometheus(Numbers(tools=Metrics().snapshot))


def test_numbers_arrive_at_the_collector(metrics: Metrics, collector: Collector) -> None:
    export = MetricsExport(collector.endpoint, metrics.snapshot, every=3600)
    export.flush()
    points = collector.points(2 + 1 + 2 + 2 + 2 * 3)
    export.shutdown()

    search = {"agent": "web", "tool": "web_search"}
    assert ReceivedPoint("steward.tool.calls", search, 4.0) in points
    failure = {**search, "code": "TOOL_EXECUTION_TIMEOUT"}
    assert ReceivedPoint("steward.tool.failures", failure, 1.0) in points
    latency = next(
        point
        for point in points
        if point.metric == "steward.tool.latency" and point.attributes == {**search, "percentile": 0.5}
    )
    assert latency.value == pytest.approx(metrics.snapshot()[1].percentile(0.5))


def test_nobody_listening_is_no_problem(metrics: Metrics, caplog: pytest.LogCaptureFixture) -> None:
    export = MetricsExport("http://127.0.0.1:9", metrics.snapshot, every=3600)
    export.flush()
    export.shutdown()
    assert caplog.records == []
