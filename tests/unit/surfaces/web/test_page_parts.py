"""The parts of the page that only turn data into words and pictures."""

from datetime import UTC, datetime
from typing import Any

import pytest

from steward.contract.errors import StewardError
from steward.surfaces.web import look, measures, waterfall
from steward.surfaces.web.client import read_events
from steward.surfaces.web.passages import lightly_set, marked
from steward.surfaces.web.work import Job

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def span(name: str, start_ms: float, duration_ms: float, **more: Any) -> dict[str, Any]:
    return {
        "trace_id": "t",
        "span_id": name,
        "parent_id": None,
        "name": name,
        "start_ns": 1_000_000_000 + start_ms * 1e6,
        "duration_ms": duration_ms,
        "status": "ok",
        "attributes": {},
        **more,
    }


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/home/ana/steward/uploads/papers/Report 1.pdf", "Report 1.pdf"),
        ("/home/ana/papers/report.pdf", "/home/ana/papers/report.pdf"),
        ("https://example.org/uploads/papers/report.pdf", "https://example.org/uploads/papers/report.pdf"),
        ("/home/ana/uploads/report.pdf", "/home/ana/uploads/report.pdf"),
        ("notes", "notes"),
    ],
)
def test_an_uploaded_document_is_shown_by_its_name(source: str, shown: str) -> None:
    assert look.place(source) == shown


def test_a_span_stands_under_its_parent_and_in_its_time() -> None:
    rows = waterfall.rows(
        [
            span("mcp_tool_call:b", 60, 40, parent_id="agent_run", status="error"),
            span("mcp_tool_call:a", 10, 20, parent_id="agent_run"),
            span("chat planner", 12, 5, parent_id="mcp_tool_call:a"),
            span("agent_run", 0, 100),
            span("stray", 5, 1, parent_id="gone"),
        ]
    )
    assert [(row.name, row.kind, row.depth, row.left, row.width, row.failed) for row in rows] == [
        ("agent_run", "run", 0, 0, 100, False),
        ("a", "tool", 1, 10, 20, False),
        ("chat planner", "model", 2, 12, 5, False),
        ("b", "tool", 1, 60, 40, True),
        ("stray", "model", 0, 5, 1, False),
    ]


def test_nothing_has_no_waterfall() -> None:
    assert waterfall.rows([]) == []


def test_a_name_from_elsewhere_stays_text() -> None:
    drawn = waterfall.markup(waterfall.rows([span('<img src="x">', 0, 1)]))
    assert "<img" not in drawn
    assert "&lt;img" in drawn


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("Bees dance.", "dancing bees", "<mark>Bees</mark> <mark>dance</mark>."),
        ("The end of it", "what is the end", "The <mark>end</mark> of it"),
        ("a <b> & c", "b", "a &lt;<mark>b</mark>&gt; &amp; c"),
        ("Cities grow", "city", "Cities grow"),
        ("nothing", "", "nothing"),
    ],
)
def test_the_searched_words_are_marked(text: str, query: str, shown: str) -> None:
    assert marked(text, query) == shown


def test_markdown_in_a_passage_is_set_lightly_and_stays_text_otherwise() -> None:
    text = marked("**a yes** runs `steward approve ID`; <b> and ** and ` stay", "approve")
    assert lightly_set(text) == (
        "<b>a yes</b> runs <code>steward <mark>approve</mark> ID</code>; &lt;b&gt; and ** and ` stay"
    )


def test_titles_are_cut_between_words() -> None:
    cut = [look.short(text, 12) for text in ("buy milk", "call the bank today", "Donaudampfschiff")]
    assert cut == ["buy milk", "call the…", "Donaudampfs…"]


def test_a_bar_that_is_nothing_is_not_drawn() -> None:
    drawn = look.chart("Sizes", [look.Bar("none", 0, 0, "0 %"), look.Bar("some", 0, 0.1, "0.1 %")])
    assert ("max(0.00%, 0px)" in drawn, "max(0.10%, 3px)" in drawn) == (True, True)


def test_tools_are_measured_by_what_ran() -> None:
    lines = [
        {"tool": "a", "status": "done", "duration_ms": 10.0},
        {"tool": "a", "status": "failed", "duration_ms": 30.0},
        {"tool": "b", "status": "done", "duration_ms": 5.0},
        {"tool": "b", "status": "pending_approval", "duration_ms": 900.0},
    ]
    assert [(item.tool, item.calls, item.failed_share, item.median_ms) for item in measures.fared(lines)] == [
        ("a", 2, 0.5, 20.0),
        ("b", 1, 0.0, 5.0),
    ]


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-11-15T11:59:30+00:00", "just now"),
        ("2026-11-15T11:59:00+00:00", "1 minute ago"),
        ("2026-11-15T09:00:00+00:00", "3 hours ago"),
        ("2026-11-12T12:00:00+00:00", "3 days ago"),
    ],
)
def test_times_are_said_as_people_say_them(moment: str, words: str) -> None:
    assert look.ago(moment, NOW) == words


def test_sizes_and_times_keep_to_what_matters() -> None:
    assert [look.milliseconds(value) for value in (0.32, 42, 1234)] == ["0.3 ms", "42 ms", "1.2 s"]
    assert [look.kilobytes(size) for size in (10, 42_000, 1_500_000)] == ["1 kB", "42 kB", "1.5 MB"]


def test_text_from_elsewhere_has_no_markup_of_its_own() -> None:
    assert look.plain("![x](http://evil) :red[y] $z$") == (
        "\\!\\[x\\]\\(http\\://evil\\) \\:red\\[y\\] \\$z\\$"
    )


def test_events_are_read_as_they_come() -> None:
    lines = ["event: text", 'data: {"text": "Hel', 'data: lo"}', "", ": a comment", "", 'data: {"a": 1}', ""]
    with pytest.raises(ValueError, match="control character"):
        list(read_events(lines))
    whole = ["event: text", 'data: {"text":', 'data: "Hello"}', "", ": a comment", "", 'data: {"a": 1}', ""]
    assert list(read_events(whole)) == [("text", {"text": "Hello"}), ("message", {"a": 1})]


def test_work_ends_with_a_result_or_an_error() -> None:
    def refuse(_: Job) -> None:
        raise StewardError("No.", code="CONFLICT")

    def break_down(_: Job) -> None:
        raise ZeroDivisionError

    done, refused, broken = Job(lambda job: job.notes.append(1) or 7), Job(refuse), Job(break_down)
    assert all(job.wait(10) for job in (done, refused, broken))
    assert (done.result, done.notes, done.error) == (7, [1], None)
    assert refused.error is not None
    assert refused.error.code == "CONFLICT"
    assert broken.error is not None
    assert "ZeroDivisionError" in broken.error.message
