"""`steward ask` and `steward chat`, as typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from steward.surfaces.cli.app import app
from steward.surfaces.cli.output import at_terminal
from steward.surfaces.cli.talk import ask
from steward.surfaces.cli.talk.talking import show_sources, show_steps

Steward = Callable[..., Result]


@pytest.fixture
def steward(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Steward:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")
    monkeypatch.setenv("STEWARD_MODEL", "planner")

    def run(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=answer)

    return run


def said(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def test_exit_codes_say_how_a_turn_ended(steward: Steward) -> None:
    added = steward("ask", "Add buy milk to my tasks", "--agent", "tasks")
    asked = steward("ask", "Delete buy milk", "--agent", "tasks", "--json")
    here = ("--conversation", said(asked)["conversation"])
    deleted = steward("ask", "Yes, delete it", *here)
    unknown = steward("ask", "xyzzy plugh frobnicate the quux", "--json")
    assert (added.exit_code, added.stdout, "add_task" in added.stderr) == (
        0,
        "I've added 'buy milk' to your tasks.\n",
        True,
    )
    assert (asked.exit_code, said(asked)["status"], asked.stderr) == (3, "pending_approval", "")
    assert (deleted.exit_code, deleted.stdout) == (0, "I've deleted 'buy milk' from your tasks.\n")
    assert (unknown.exit_code, said(unknown)["status"]) == (4, "gap")


@pytest.mark.req("TODO-EDGE-05", "RES-EDGE-06")
def test_a_turn_that_came_to_nothing_has_failed(steward: Steward) -> None:
    missing = steward("ask", "Read the file notes/nowhere.md", "--json")
    told = said(missing)
    assert (missing.exit_code, told["status"], told["tool_calls"][-1]["error_code"]) == (
        1,
        "failed",
        "NOT_FOUND",
    )


@pytest.mark.req("RES-EDGE-04")
def test_a_sensitive_file_that_is_asked_for_is_asked_about(steward: Steward) -> None:
    asked = steward("ask", "Read the file .env", "--json")
    waiting = steward("proposals").stdout
    assert (asked.exit_code, said(asked)["tool_calls"][-1]["arguments"]) == (3, {"path": ".env"})
    assert "after “Read the file .env”" in waiting
    assert "It touches something sensitive." in waiting


def test_a_no_says_which_task_stays(steward: Steward) -> None:
    steward("tasks", "add", "buy milk")
    here = ("--conversation", said(steward("ask", "Delete buy milk", "--json"))["conversation"])
    assert steward("ask", "No, keep it", *here).stdout == "Okay, I'll keep 'buy milk' in your tasks.\n"


def test_what_waits_says_how_to_go_on(steward: Steward) -> None:
    steward("tasks", "add", "buy milk")
    asked = steward("ask", "Delete buy milk", "--agent", "tasks")
    assert asked.exit_code == 3
    assert 'steward ask "yes" --conversation ' in asked.stderr


@pytest.mark.parametrize(("reply", "left"), [("yes", []), ("no", ["buy milk"])])
def test_at_a_terminal_the_answer_is_asked_for(
    steward: Steward, monkeypatch: pytest.MonkeyPatch, reply: str, left: list[str]
) -> None:
    steward("tasks", "add", "buy milk")
    monkeypatch.setattr(ask, at_terminal.__name__, lambda: True)
    result = steward("ask", "Delete buy milk", "--agent", "tasks", answer=f"{reply}\n")
    tasks = said(steward("tasks", "list", "--json"))["items"]
    assert (result.exit_code, [task["title"] for task in tasks]) == (0, left)
    assert "failed" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("--agent", "nobody"), "AGENT_NOT_FOUND", 2),
        (("--user", "nobody"), "INVALID_USER", 2),
        (("--conversation", "none"), "NOT_FOUND", 2),
    ],
)
def test_mistakes_are_explained(
    steward: Steward, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    result = steward("ask", "hello", *arguments, "--json")
    assert (result.exit_code, said(result)["error_code"]) == (exit_code, code)


def test_a_model_that_cannot_be_reached_is_a_failed_answer(
    steward: Steward, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEWARD_MODEL", "openai:m")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    result = steward("ask", "hello", "--json")
    assert (result.exit_code, said(result)["status"], "Traceback" in result.output) == (1, "failed", False)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_chat_from_a_task_to_its_deletion(
    steward: Steward, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(ask, at_terminal.__name__, lambda: terminal)
    lines = [
        "/history",
        "Add buy milk to my tasks",
        "",
        "Delete buy milk",
        "Yes, delete it",
        "/history",
        "/help",
        "/new",
        "/quit",
    ]
    result = steward("chat", "--agent", "tasks", answer="\n".join(lines) + "\n")
    assert result.exit_code == 0, result.output
    told = [
        "Nothing was said yet.",
        "I've added 'buy milk' to your tasks.",
        "Are you sure you want to delete 'buy milk'? This cannot be undone.",
        "I've deleted 'buy milk' from your tasks.",
        "you> Add buy milk to my tasks",
        "Ctrl-C stops an answer.",
        "A new conversation.",
    ]
    assert [line for line in told if line not in result.stdout] == []
    assert "delete_task" in result.stderr


def test_a_chat_for_somebody_else_shows_their_history(steward: Steward) -> None:
    steward("users", "add", "ana")
    lines = "Add buy milk to my tasks\n/history\n"
    result = steward("chat", "--agent", "tasks", "--user", "ana", answer=lines)
    assert (result.exit_code, "you> Add buy milk to my tasks" in result.stdout) == (0, True), result.output


def test_a_chat_that_cannot_begin_says_why_and_goes_on(steward: Steward) -> None:
    result = steward("chat", "--agent", "nobody", answer="hello\n")
    gone = steward("chat", "--conversation", "none", answer="/history\n")
    assert (result.exit_code, "AGENT_NOT_FOUND" in result.stderr) == (0, True)
    assert (gone.exit_code, "NOT_FOUND" in gone.stderr) == (0, True)


def test_sources_are_listed_with_their_dates(capsys: pytest.CaptureFixture[str]) -> None:
    sources = [
        {"title": "T", "location": "https://x", "date": "2026-01-02"},
        {"title": "U", "location": "https://u", "date": None},
    ]
    show_sources({"answer": "Tea. [2] U (https://u)", "sources": sources})
    assert capsys.readouterr().out == "- T (https://x, 2026-01-02)\n"  # the other one the answer names


def test_a_step_is_shown_once(steward: Steward) -> None:
    result = steward("ask", "What did I tell you about the boiler?")
    shown = [line for line in result.stderr.splitlines() if "boiler" in line]
    assert (len(set(shown)), shown[0].startswith("· looking in memory for")) == (len(shown), True)


def test_a_question_to_the_person_is_no_failure_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    for code in ("HUMAN_INPUT_PENDING", "NOT_FOUND"):
        show_steps("tool_result", {"status": "failed", "error": f"{code}!", "error_code": code})
    assert capsys.readouterr().err == "  failed: NOT_FOUND!\n"
