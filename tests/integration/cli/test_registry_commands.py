"""`steward tools add|update|remove|search|accept`, `keys` and `questions`, as typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from steward.surfaces.cli.app import app

Steward = Callable[..., Result]

SCHEMA = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
SOURCE = "def run(who):\n    return f'Hello, {who}!'\n"


@pytest.fixture
def steward(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Steward:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    return run


def said(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.req("SKL-SC-002", "SKL-US3.1", "SKL-US3.2")
def test_a_script_becomes_a_tool_is_changed_and_goes(steward: Steward, tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(SOURCE)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    add = ["tools", "add", "hello", "--script", "hello.py", "--description", "Greet.", "--risk", "reversible"]
    assert "hello is added (reversible)." in steward(*add, "--input-schema", "@schema.json").stdout
    call = ["tools", "call", "hello", "--arg", "who=Ada", "--json"]
    assert said(steward(*call))["data"] == "Hello, Ada!"

    changed = said(steward("tools", "update", "hello", "--timeout", "5", "--example", "greet Ada", "--json"))
    assert changed["tool"]["entry"] == {
        "name": "hello",
        "description": "Greet.",
        "script": "hello.py",
        "risk": "reversible",
        "input_schema": SCHEMA,
        "timeout": 5,
        "examples": ["greet Ada"],
    }
    assert said(steward(*call))["data"] == "Hello, Ada!"
    found = said(steward("tools", "search", "greet somebody", "--json"))
    assert found["items"][0]["name"] == "hello"
    assert "hello" in steward("tools", "search", "greet somebody").stdout

    assert steward("tools", "remove", "hello").stdout == "hello is removed.\n"
    gone = steward(*call)
    assert json.loads(gone.stdout)["error_code"] == "TOOL_NOT_FOUND"
    assert gone.exit_code != 0


@pytest.mark.req("SKL-FR-012", "SKL-Q04", "SKL-EDGE-04")
@pytest.mark.parametrize("name", ["tools/tools.json", "mcp.json"])
def test_a_broken_registry_file_halts_every_command_and_is_named_with_its_line(
    steward: Steward, tmp_path: Path, name: str
) -> None:
    assert steward("init").exit_code == 0
    (tmp_path / "home" / name).write_text('{\n "half": ')
    halted = steward("tools", "list")
    assert halted.exit_code != 0
    assert f"{tmp_path / 'home' / name}, line" in halted.stderr


def test_an_entry_may_come_whole_and_a_missing_script_is_pointed_out(steward: Steward) -> None:
    entry = json.dumps({"description": "Greet.", "script": "later.py", "category": "social"})
    added = steward("tools", "add", "later", "--entry", entry)
    assert "later is added (irreversible)." in added.stdout
    assert "later.py" in added.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["tools", "add", "x", "--entry", "{"],
        ["tools", "add", "x", "--entry", "[]"],
        ["tools", "add", "x", "--input-schema", "@missing.json"],
        ["tools", "add", "a b", "--script", "x.py", "--description", "x"],
        ["tools", "remove", "none"],
        ["tools", "update", "none"],
        ["tools", "accept", "save_fact"],
        ["keys", "revoke", "none"],
        ["keys", "add", "x", "--role", "king"],
        ["answer", "none", "x"],
    ],
)
def test_a_mistake_is_one_object_with_a_code(steward: Steward, arguments: list[str]) -> None:
    failed = steward(*arguments, "--json")
    assert failed.exit_code in (1, 2)
    shape = json.loads(failed.stdout)
    assert (shape["success"], bool(shape["error_code"]), bool(shape["error"])) == (False, True, True)


def test_keys_are_made_listed_and_revoked(steward: Steward) -> None:
    assert "There are no keys" in steward("keys", "list").stdout
    made = said(steward("keys", "add", "laptop", "--role", "approve", "--json"))
    assert made["token"].startswith(f"stw_{made['id']}_")
    shown = steward("keys", "add", "phone")
    assert shown.stdout.startswith("stw_")
    assert "only its hash" in shown.stderr
    listed = said(steward("keys", "list", "--json"))["items"]
    assert [(key["name"], key["role"]) for key in listed] == [("laptop", "approve"), ("phone", "use")]
    assert "laptop" in steward("keys", "list").stdout
    assert steward("keys", "revoke", "laptop").exit_code == 0
    assert said(steward("keys", "revoke", "phone", "--json")) == {"revoked": "phone"}


@pytest.mark.req("SKL-FR-006")
def test_a_question_of_a_tool_is_answered_at_the_command_line(steward: Steward) -> None:
    ask = ["tools", "call", "request_human_input", "--arg", "question=Which town?"]
    waits = steward(*ask)
    assert waits.exit_code == 1
    assert "steward answer" in waits.stderr
    assert "Which town?" in steward("questions").stdout
    (question,) = said(steward("questions", "--json"))["items"]
    assert steward("answer", question["id"], "Rome").stdout == "Answered.\n"
    assert said(steward(*ask, "--json"))["data"] == {"answer": "Rome", "asked_before": True}


@pytest.mark.req("SKL-FR-006")
def test_at_a_terminal_the_person_is_asked_at_once(steward: Steward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.surfaces.cli.commands.questions.at_terminal", lambda: True)
    arguments = ["tools", "call", "request_human_input", "--arg", "question=Which town?"]
    answered = CliRunner().invoke(app, arguments, input="Rome\n")
    assert (answered.exit_code, '"answer": "Rome"' in answered.stdout) == (0, True)
