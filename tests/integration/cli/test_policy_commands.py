"""`steward policy` and the answers that last, as typed."""

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
CALL = ("tools", "call", "greet_person", "--arg", "who=Ada", "--json")


@pytest.fixture
def steward(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Steward:
    """With a tool that nobody has rated and that seems to read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    (tmp_path / "greet.py").write_text("def run(who):\n    return f'Hello, {who}!'\n")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    add = ["tools", "add", "greet_person", "--script", "greet.py", "--description", "Shows a greeting."]
    assert run(*add, "--input-schema", "@schema.json").exit_code == 0
    return run


def said(result: Result) -> Any:
    return json.loads(result.stdout)


def waits(steward: Steward) -> str:
    result = steward(*CALL)
    assert result.exit_code == 3, result.output
    return said(result)["proposal_id"]


def test_always_is_a_rule_that_is_listed_replayed_and_removed(steward: Steward, tmp_path: Path) -> None:
    assert "no rules of yours" in steward("policy").stdout
    approved = steward("approve", waits(steward), "--always", "tool")
    assert (approved.exit_code, "does not ask from now on" in approved.stderr) == (0, True)
    assert steward(*CALL).exit_code == 0
    [rule] = said(steward("policy", "list", "--json"))["items"]
    assert rule["id"] in steward("policy", "list").stdout
    (tmp_path / "edited.toml").write_text("")
    replayed = steward("policy", "replay", "edited.toml")
    assert "runs -> asks" in replayed.stdout
    assert "Nothing was saved." in replayed.stderr
    assert steward("policy", "remove", rule["id"]).exit_code == 0
    assert said(steward("policy", "list", "--json"))["items"] == []
    assert "No decision would change." in steward("policy", "replay", "edited.toml", "--save").stdout


def test_never_is_a_rule_too_and_a_tool_is_allowed_without_a_call(steward: Steward) -> None:
    rejected = steward("reject", waits(steward), "--always", "--everyone")
    assert "never runs from now on" in rejected.stdout
    assert said(steward(*CALL))["error_code"] == "FORBIDDEN"
    [rule] = said(steward("policy", "list", "--json"))["items"]
    assert (rule["never"], rule["user"]) == (True, None)
    assert said(steward("policy", "remove", rule["id"], "--json")) == {"removed": rule["id"]}
    assert "runs without asking" in steward("policy", "allow", "greet_person").stdout
    assert steward(*CALL).exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["policy", "remove", "none"],
        ["policy", "allow", "code_execution"],
        ["policy", "replay", "missing.toml"],
        ["reject", "none", "--everyone"],
        ["approve", "none", "--always", "sometimes"],
    ],
)
def test_a_mistake_with_a_rule_is_one_object_with_a_code(steward: Steward, arguments: list[str]) -> None:
    failed = steward(*arguments, "--json")
    assert failed.exit_code in (1, 2)
