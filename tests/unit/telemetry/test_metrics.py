import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.otlp_collector import Collector, ReceivedPoint

from steward.contract.call import Done, Failed, PendingApproval
from steward.contract.tool import RiskLevel
from steward.orchestrator.metrics import BUCKETS, Metrics
from steward.telemetry.metrics import render_prometheus
from steward.telemetry.metrics_export import MetricsExport


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
    text = render_prometheus(metrics.snapshot, abandoned=lambda: 2).decode()
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


def test_no_calls_yet_is_no_error() -> None:
    assert b"steward_tool_calls_total" in render_prometheus(Metrics().snapshot)


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
