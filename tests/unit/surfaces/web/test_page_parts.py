"""The parts of the page that only turn data into words and pictures."""

from datetime import UTC, datetime
from typing import Any

import pytest

from steward.contract.deciding import Role, Way
from steward.contract.errors import ConfigError, InputError
from steward.conversations.model import CallStarted
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.shapes import ExecutionShape
from steward.surfaces.web import assets, cards
from steward.surfaces.web.display import look, markdown, measures, waterfall
from steward.surfaces.web.display.fields import fields_of, fields_of_call, read_arguments
from steward.surfaces.web.display.passages import marked
from steward.surfaces.web.rendering import markup
from steward.surfaces.web.turns import LiveTurn
from steward.surfaces.web.visitor import FormFields

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


def execution(tool: str, status: str, duration_ms: float) -> ExecutionShape:
    return ExecutionShape(at=NOW, tool=tool, status=status, duration_ms=duration_ms)


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/home/ana/steward/uploads/papers/Report 1.pdf", "Report 1.pdf"),
        ("upload:papers/Report 1.pdf", "Report 1.pdf"),
        ("/home/ana/papers/report.pdf", "/home/ana/papers/report.pdf"),
        ("https://example.org/uploads/papers/report.pdf", "https://example.org/uploads/papers/report.pdf"),
        ("/home/ana/uploads/report.pdf", "/home/ana/uploads/report.pdf"),
        ("notes", "notes"),
    ],
)
def test_an_uploaded_document_is_shown_by_its_name(source: str, shown: str) -> None:
    assert look.place(source) == shown


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/156.0 Safari/537.36 Edg/156.0", "Edge on Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("curl/8.4", "curl/8.4"),
    ],
)
def test_a_browser_is_called_what_people_call_it(agent: str, words: str) -> None:
    assert look.browser_words(agent) == words


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


def test_searched_words_are_marked_in_drawn_markdown_and_nothing_else_is_let_through() -> None:
    drawn = str(markdown.render("**a yes** runs [approvals](../x.md); <b> stays", "approval"))
    assert drawn == (
        "<p><strong>a yes</strong> runs <span><mark>approvals</mark></span>; &lt;b&gt; stays</p>\n"
    )


def test_tools_are_measured_by_what_ran() -> None:
    lines = [
        execution("a", "done", 10.0),
        execution("a", "failed", 30.0),
        execution("b", "done", 5.0),
        execution("b", "pending_approval", 900.0),
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


def test_a_small_chart_stands_the_oldest_first() -> None:
    lines = [
        execution("a", "done", 10.0),
        execution("a", "failed", 40.0),
    ]
    drawn = [(bar.x, bar.height, bar.failed) for bar in measures.bars(lines)]
    assert drawn == [(0, 36.0, True), (7, 9.0, False)]
    assert measures.bars([]) == []


@pytest.mark.parametrize(
    ("caller", "words"),
    [
        ("client:Cursor", "Cursor (a client)"),
        ("person:local", "local (a person)"),
        ("agent:tasks", "The agent tasks"),
        ("agent:assistant (schedule 4f)", "The agent assistant (schedule 4f)"),
        ("client:evil\u202ename", "evil⟨U+202E⟩name (a client)"),
        ("strange", "strange"),
    ],
)
def test_who_asks_is_named(caller: str, words: str) -> None:
    assert look.asker(caller) == words


def test_what_a_tool_gave_is_shown_with_every_character_visible() -> None:
    assert look.pretty({"b": 1, "a": "x\u200by"}) == '{\n  "a": "x⟨U+200B⟩y",\n  "b": 1\n}'


def test_a_change_of_text_is_shown_as_a_difference() -> None:
    edits = {"path": "notes.md", "edits": [{"oldText": "one\ntwo", "newText": "one\nthree"}]}
    lines = [line.replace(" ", "") for line in cards.changes_in(edits) if line[0] in "+-"]
    assert lines == ["-two", "+three"]
    assert list(cards.changes_in({"old": "same", "new": "same"})) == []
    assert list(cards.changes_in({"code": "print(1)", "tags": ["a"]})) == []


def test_a_schema_becomes_a_form_and_the_form_arguments() -> None:
    schema = {
        "properties": {
            "text": {"type": "string", "description": "words"},
            "count": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
            "yes": {"type": "boolean"},
            "kind": {"enum": ["a", "b"]},
            "more": {"type": ["object", "null"]},
            "odd": True,
        },
        "required": ["text"],
    }
    fields = fields_of(schema)
    assert [(field.name, field.kind, field.required, field.default) for field in fields] == [
        ("text", "text", True, ""),
        ("count", "number", False, "3"),
        ("yes", "boolean", False, ""),
        ("kind", "choice", False, ""),
        ("more", "json", False, ""),
        ("odd", "json", False, ""),
    ]
    filled = {
        "arg-text": "12",
        "arg-count": "7",
        "arg-yes": "true",
        "arg-kind": "b",
        "arg-more": "",
        "arg-odd": "[]",
    }
    assert read_arguments(fields, filled) == {
        "text": "12", "count": 7, "yes": True, "kind": "b", "odd": []
    }  # fmt: skip


def test_a_call_is_edited_in_a_form_and_what_was_not_touched_stays_as_it_was() -> None:
    schema = {
        "properties": {
            "code": {"type": "string"},
            "language": {"enum": ["python", "sql"]},
            "limit": {"type": "integer"},
            "note": {"type": "string"},
            "dry": {"type": "boolean"},
        },
        "required": ["code"],
    }
    before = {"code": "a\r\nb", "language": "python", "limit": 3, "extra": {"deep": [1]}, "note": ""}
    fields = fields_of_call(schema, before)
    assert [(field.name, field.kind, field.given) for field in fields] == [
        ("code", "text", True),
        ("language", "choice", True),
        ("limit", "number", True),
        ("extra", "json", True),
        ("note", "text", True),
        ("dry", "boolean", False),
    ]
    untouched = {f"arg-{field.name}": field.value for field in fields}
    assert read_arguments(fields, FormFields({name: [text] for name, text in untouched.items()}), before) == (
        before
    )
    assert read_arguments(fields, FormFields({}), before) == before
    filled = {"arg-code": ["c\r\nd"], "arg-limit": [""], "arg-extra": ["[2]"], "arg-dry": ["true"]}
    assert read_arguments(fields, FormFields(filled), before) == {
        "code": "c\nd", "language": "python", "extra": [2], "note": "", "dry": True
    }  # fmt: skip
    with pytest.raises(InputError):
        read_arguments(fields, FormFields({"arg-extra": ["{"]}), before)


def test_a_form_is_read_field_by_field() -> None:
    form = FormFields({"a": ["1", "2"], "empty": [""]})
    assert (form["a"], form["none"], form.all("a"), "none" in form, "empty" in form) == (
        "2",
        "",
        ["1", "2"],
        False,
        True,
    )
    assert (len(form), list(form)) == (2, ["a", "empty"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**a** `b`", "<p><strong>a</strong> <code>b</code></p>\n"),
        ("<img src=x onerror=y>", "<p>&lt;img src=x onerror=y&gt;</p>\n"),
        ("[x](javascript:y)", "<p><span>x</span></p>\n"),
        ("[x](data:text/html,y)", "<p><span>x</span></p>\n"),
        ("[x](//evil.example)", "<p><span>x</span></p>\n"),
        ("[x](/tasks)", '<p><a href="/tasks">x</a></p>\n'),
        (
            "![x](https://evil.example/p.png)",
            '<p><a href="https://evil.example/p.png" rel="noopener noreferrer" target="_blank">x</a></p>\n',
        ),
        ("![x](javascript:y)", "<p>x</p>\n"),
        ("<javascript:alert(1)>", "<p><span>javascript:alert(1)</span></p>\n"),
        ("# Title", "<h2>Title</h2>\n"),
        ("a\nb", "<p>a<br>\nb</p>\n"),
    ],
)
def test_markdown_runs_nothing_and_fetches_nothing(text: str, shown: str) -> None:
    assert str(markdown.render(text)).replace("<br />", "<br>") == shown


def test_a_table_scrolls_by_itself_and_has_no_inline_style() -> None:
    drawn = str(markdown.render("| a | b |\n|--:|---|\n| 1 | 2 |"))
    assert ('<div class="scroll" tabindex="0"><table>' in drawn, "style=" in drawn) == (True, False)
    assert '<td class="cell-right">1</td>' in drawn


def test_a_call_that_still_runs_is_drawn() -> None:
    turn = LiveTurn(conversation="c", user="ana", said="Add bread", began=0.0)
    turn.take(CallStarted(call_id="1", tool="add_task", arguments={"title": "bread"}))
    me = Identity("local", Role.USE, "local", Way.PAGE)
    drawn = markup("live.html", me=me, turn=turn, works=False, conversation_id="c", drawn=0)
    assert ("add_task" in drawn, "running" in drawn, "bread" in drawn) == (True, True, True)


def test_the_lines_of_a_wrapped_text_run_on() -> None:
    assert str(markdown.render("a\nb", wrapped=True)) == "<p>a\nb</p>\n"


def test_code_can_be_taken_along_and_is_text() -> None:
    drawn = str(markdown.render("```html\n<b>\n```"))
    assert ("<code>&lt;b&gt;\n</code>" in drawn, "data-copy" in drawn) == (True, True)


@pytest.mark.parametrize(
    ("tool", "arguments", "change"),
    [
        ("write_file", {"path": "/a", "content": "x"}, cards.FileChange(path="/a", after="x")),
        ("fs__create", {"file_path": "/a", "file_text": ""}, cards.FileChange(path="/a", after="")),
        ("fs__deleteFile", {"path": "/a"}, cards.FileChange(path="/a", after=None)),
        ("remove", {"filename": "a"}, cards.FileChange(path="a", after=None)),
        ("read_file", {"path": "/a"}, None),
        ("undeleted", {"path": "/a"}, None),
        ("write_file", {"content": "x"}, None),
        ("delete_task", {"task_id": "1"}, None),
    ],
)
def test_a_call_that_writes_a_file_or_takes_one_away_is_known_by_its_names(
    tool: str, arguments: dict[str, Any], change: cards.FileChange | None
) -> None:
    assert cards.file_change(tool, arguments) == change


def test_a_very_long_text_is_shown_as_it_stands() -> None:
    drawn = str(markdown.render("<b>" + "*x* " * 60_000))
    assert drawn.startswith("<pre>&lt;b&gt;*x*")


def test_vendored_scripts_are_what_their_packages_ship(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(assets.asset(name).digest == known[:16] for name, (_, known) in assets.PINNED.items())
    monkeypatch.setitem(assets.PINNED, "vendor/sse.js", ("htmx-ext-sse@2.2.4", "0" * 64))
    assets.asset.cache_clear()
    with pytest.raises(ConfigError):
        assets.asset("vendor/sse.js")
    assets.asset.cache_clear()
