from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from steward.telemetry.spans import SpanSink, read_trace, spans_of

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> datetime:
        return self.at


def span(trace_id: str, number: int = 0, **attributes: Any) -> dict[str, Any]:
    return {
        "trace_id": trace_id,
        "span_id": str(number),
        "start_ns": number,
        "name": "n",
        "attributes": attributes,
    }


def test_a_trace_is_read_back_in_the_order_it_happened(tmp_path: Path) -> None:
    sink = SpanSink(tmp_path, clock=Clock())
    assert sink.write([span("a", 3), span("b", 2), span("a", 1)])
    sink.close()
    assert [item["start_ns"] for item in sink.read_trace("a")] == [1, 3]


def test_the_last_seven_days_that_have_traces_are_kept(tmp_path: Path) -> None:
    clock = Clock()
    sink = SpanSink(tmp_path, clock=clock)
    for day in range(10):
        clock.at = NOON + timedelta(days=day)
        sink.write([span(f"trace{day}", correlation_id="same")])
    sink.close()
    assert len(list(tmp_path.iterdir())) == 7
    assert read_trace(tmp_path, "trace2") == []
    assert len(read_trace(tmp_path, "trace3")) == 1
    assert len(read_trace(tmp_path, "same")) == 7


def test_a_trace_over_midnight_is_whole(tmp_path: Path) -> None:
    clock = Clock()
    sink = SpanSink(tmp_path, clock=clock)
    sink.write([span("a", 1)])
    clock.at += timedelta(days=1)
    sink.write([span("a", 2), span("b", 3)])
    sink.close()
    assert [item["start_ns"] for item in read_trace(tmp_path, "a")] == [1, 2]


def test_a_day_that_is_full_drops_spans_and_says_so(tmp_path: Path) -> None:
    sink = SpanSink(tmp_path, clock=Clock(), day_bytes=500)
    assert sink.problem() is None
    assert not sink.write([span("a", number) for number in range(100)])
    assert "full" in (sink.problem() or "")
    sink.close()
    assert (tmp_path / "traces-2026-11-15.jsonl").stat().st_size <= 500


def test_a_disk_that_is_full_breaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "traces-2026-11-15.jsonl").symlink_to("/dev/full")
    sink = SpanSink(tmp_path, clock=Clock())
    assert not sink.write([span("a")])
    assert "No space left" in (sink.problem() or "")
    sink.close()


def test_a_span_belongs_to_the_user_of_what_it_was_part_of() -> None:
    top, inner, other, nobodys = (span("a", number) for number in range(4))
    top["attributes"]["user"], other["attributes"]["user"] = "ana", "ben"
    for child in (inner, other):
        child["parent_id"] = top["span_id"]
    assert spans_of([top, inner, other, nobodys], "ana") == [top, inner]
    assert spans_of([top, inner, other, nobodys], "ben") == [other]
