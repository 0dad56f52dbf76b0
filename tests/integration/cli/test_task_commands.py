"""`steward tasks` and `steward users`, as typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from steward.surfaces.cli.app import app
from steward.surfaces.cli.commands import tasks

Steward = Callable[..., Result]


@pytest.fixture
def steward(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Steward:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")

    def run(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, arguments, input=answer)

    return run


def said(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def listed(steward: Steward, *options: str) -> list[str]:
    return [task["title"] for task in said(steward("tasks", "list", "--json", *options))["items"]]


@pytest.fixture
def garden(steward: Steward) -> Steward:
    """Four tasks, added in this order."""
    for title, *more in (
        ("rake leaves #garden", "--due", "2099-03-01"),
        ("call the bank", "--priority", "high"),
        ("buy bulbs #Garden", "--due", "2099-01-01", "--priority", "low"),
        ("air the #gardenhouse", "--priority", "low"),
    ):
        assert steward("tasks", "add", title, "--literal", *more).exit_code == 0
    return steward


@pytest.mark.parametrize(
    ("sort", "titles"),
    [
        ("due", ["buy bulbs #Garden", "rake leaves #garden", "call the bank", "air the #gardenhouse"]),
        ("priority", ["call the bank", "rake leaves #garden", "buy bulbs #Garden", "air the #gardenhouse"]),
        ("title", ["air the #gardenhouse", "buy bulbs #Garden", "call the bank", "rake leaves #garden"]),
        ("added", ["rake leaves #garden", "call the bank", "buy bulbs #Garden", "air the #gardenhouse"]),
    ],
)
def test_what_comes_first_is_said(garden: Steward, sort: str, titles: list[str]) -> None:
    assert listed(garden, "--sort", sort) == titles


@pytest.mark.parametrize("tag", ["garden", "#garden", "GARDEN"])
def test_a_tag_is_a_word_of_a_task(garden: Steward, tag: str) -> None:
    assert listed(garden, "--tag", tag) == ["buy bulbs #Garden", "rake leaves #garden"]


def test_what_comes_first_counts_before_the_list_is_cut(garden: Steward) -> None:
    assert listed(garden, "--sort", "title", "--limit", "1") == ["air the #gardenhouse"]


def test_the_owner_sees_somebody_elses_list(garden: Steward) -> None:
    assert garden("users", "add", "ana").exit_code == 0
    assert listed(garden, "--user", "ana") == []


@pytest.mark.req("TODO-TOOL-1", "TODO-TOOL-2", "TODO-TOOL-3", "TODO-TOOL-5")
def test_a_day_with_the_list(steward: Steward) -> None:
    added = steward("tasks", "add", "buy", "milk", "tomorrow", "5pm", "--priority", "high")
    assert added.stdout == "Added 'buy milk', due tomorrow 17:00.\n"
    steward("tasks", "add", "water plants", "every day")
    steward("tasks", "add", "Read 1984 by friday", "--literal", "--note", "the book")
    (milk,) = [t for t in said(steward("tasks", "list", "--json"))["items"] if t["title"] == "buy milk"]
    assert (milk["priority"], milk["due_words"], milk["overdue"]) == ("high", "tomorrow 17:00", False)
    assert listed(steward, "--today") == ["water plants"]
    assert listed(steward, "--search", "BOOK") == ["Read 1984 by friday"]
    assert listed(steward, "--priority", "high") == ["buy milk"]
    assert listed(steward, "--overdue") == []

    assert steward("tasks", "edit", "milk", "--title", "buy oat milk", "--due", "none").exit_code == 0
    assert steward("tasks", "done", "oat").stdout == "Completed 'buy oat milk'.\n"
    assert listed(steward, "--done") == ["buy oat milk"]
    log = steward("tasks", "log", "oat").stdout
    assert tuple(
        word for word in ("added", "title: buy milk → buy oat milk", "completed_at: none →") if word in log
    ) == ("added", "title: buy milk → buy oat milk", "completed_at: none →")
    assert steward("tasks", "undo").stdout == "Taken back: completed the task 'buy oat milk'.\n"
    again = said(steward("tasks", "undo", "oat", "--json"))["data"]
    assert [change["tool"] for change in again["undone"]] == ["update_task"]
    assert "buy milk" in listed(steward)
    assert "tomorrow 17:00\thigh\topen\t" in steward("tasks", "list").stdout


def test_several_tasks_in_one_breath_are_all_added(steward: Steward) -> None:
    steward("tasks", "add", "buy milk and call mom tomorrow")
    assert sorted(listed(steward)) == ["buy milk", "call mom"]
    both = steward("tasks", "add", "pay rent; feed the cat", "--json")
    assert [item["success"] for item in said(both)["items"]] == [True, True]


@pytest.mark.req("TODO-TOOL-4")
def test_a_deletion_asks_and_is_final(steward: Steward, monkeypatch: pytest.MonkeyPatch) -> None:
    steward("tasks", "add", "old reminder")
    waits = steward("tasks", "rm", "reminder")
    assert (waits.exit_code, "steward approve" in waits.stderr) == (3, True)
    assert listed(steward) == ["old reminder"]
    monkeypatch.setattr("steward.surfaces.cli.consent.at_terminal", lambda: True)
    monkeypatch.setattr("steward.surfaces.cli.commands.tasks.at_terminal", lambda: True)
    kept = steward("tasks", "rm", "reminder", answer="n\n")
    assert (kept.exit_code, listed(steward)) == (1, ["old reminder"])
    assert "Delete 'old reminder'? This cannot be undone." in kept.stderr
    gone = steward("tasks", "rm", "reminder", "--yes")
    assert (gone.stdout, gone.exit_code, listed(steward, "--all")) == ("Deleted 'old reminder'.\n", 0, [])
    assert steward("tasks", "undo").exit_code == 1


def test_an_addition_is_taken_back_and_made_again(steward: Steward) -> None:
    steward("tasks", "add", "old reminder")
    gone = said(steward("tasks", "undo", "--json"))["data"]
    assert listed(steward, "--all") == []
    assert steward("undo", "--id", gone["id"]).exit_code == 0
    assert listed(steward) == ["old reminder"]


def test_a_task_is_meant_by_words_or_the_start_of_its_id(steward: Steward) -> None:
    first = said(steward("tasks", "add", "call the bank", "--json"))["data"]["task"]["id"]
    steward("tasks", "add", "call mom")
    several = steward("tasks", "done", "call")
    assert several.exit_code == 2
    assert "2 tasks match 'call'" in several.stderr
    assert steward("tasks", "done", "dentist").exit_code == 2
    assert steward("tasks", "done", first.removeprefix("task_")[:6]).stdout == "Completed 'call the bank'.\n"
    again = said(steward("tasks", "done", first, "--json"))
    assert again["data"]["code"] == "ALREADY_COMPLETED"
    assert listed(steward) == ["call mom"]


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (["tasks", "add", "x" * 501], 2, "INVALID_TITLE"),
        (["tasks", "add", "x", "--due", "gibberish"], 2, "INVALID_DATE"),
        (["tasks", "add", "x", "--repeat", "often"], 2, "INVALID_RECURRENCE"),
        (["tasks", "list", "--before", "gibberish"], 2, "INVALID_FILTER"),
        (["tasks", "undo"], 1, "NOTHING_TO_UNDO"),
        (["tasks", "log", "nothing"], 2, "TASK_NOT_FOUND"),
        (["users", "add", "a b"], 2, "INVALID_INPUT"),
        (["users", "add", "ana", "--zone", "Berlin"], 2, "INVALID_INPUT"),
        (["users", "add", "local"], 1, "CONFLICT"),
        (["users", "erase", "nobody", "--yes"], 2, "INVALID_USER"),
    ],
)
def test_a_mistake_is_one_object_with_a_code(
    steward: Steward, arguments: list[str], exit_code: int, code: str
) -> None:
    failed = steward(*arguments, "--json")
    shape = json.loads(failed.stdout)
    assert (failed.exit_code, shape["success"], shape["error_code"]) == (exit_code, False, code)


def test_users_are_added_listed_changed_and_erased(steward: Steward, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "local" in steward("users", "list").stdout
    added = steward("users", "add", "ana", "--name", "Ana Lima", "--zone", "Europe/Berlin")
    assert added.stdout == "Added ana (Ana Lima, Europe/Berlin).\n"
    assert steward("users", "edit", "ana", "--zone", "Asia/Tokyo").stdout == "ana is Ana Lima, Asia/Tokyo.\n"
    wrong = steward("users", "edit", "ana", "--zone", "berlin")
    assert (wrong.exit_code, "Europe/Berlin" in wrong.stderr) == (2, True)
    refused = steward("users", "erase", "ana")
    assert (refused.exit_code, "--yes" in refused.stderr) == (3, True)
    assert json.loads(steward("users", "erase", "ana", "--json").stdout)["status"] == "pending_approval"
    monkeypatch.setattr("steward.surfaces.cli.consent.at_terminal", lambda: True)
    assert steward("users", "erase", "ana", answer="n\n").exit_code == 3
    assert "Erased ana" in steward("users", "erase", "ana", answer="y\n").stdout
    assert [user["id"] for user in said(steward("users", "list", "--json"))["items"]] == ["local"]


def test_erasing_local_empties_the_list(steward: Steward) -> None:
    steward("tasks", "add", "secret")
    assert said(steward("users", "erase", "local", "--yes", "--json"))["erased"]["id"] == "local"
    assert listed(steward, "--all") == []


def test_at_a_terminal_the_list_is_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    plain = {"priority": "medium", "completed": False, "overdue": False, "due_words": None}
    tasks.show_tasks(
        [
            plain
            | {"id": "task_k7xm29", "title": "[bold]late[/bold]", "overdue": True, "due_words": "today"},
            plain
            | {"id": "task_b7xm29", "title": "plants", "recurrence": "FREQ=DAILY", "due_words": "today"},
            plain | {"id": "task_c7xm29", "title": "done", "completed": True, "priority": "low"},
        ],
        empty="Nothing to do.",
    )
    shown = capsys.readouterr().out
    assert [word in shown for word in ("[bold]late[/bold]", "↻", "✓ done", "k7xm29", "low")] == [True] * 5
    tasks.show_tasks([], empty="Nothing to do.")
    assert capsys.readouterr().out == "Nothing to do.\n"


def test_a_command_about_tasks_does_not_start_the_workspaces_servers(
    steward: Steward, tmp_path: Path
) -> None:
    assert steward("init").exit_code == 0
    started = tmp_path / "started"
    server = {"command": "touch", "args": [str(started)]}
    (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": {"slow": server}}))
    assert steward("tasks", "add", "buy milk").exit_code == 0
    assert listed(steward) == ["buy milk"]
    assert steward("users", "list").exit_code == 0
    assert not started.exists()
    assert steward("tools", "list").exit_code == 0
    assert started.exists()
