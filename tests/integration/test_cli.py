"""The command line as a person or a script uses it, on a real database."""

import json
import resource
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from steward.surfaces.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")

    def invoke(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=answer)

    return invoke


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process may grow, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def parsed(result: Result) -> dict[str, Any]:
    """Standard output as the one JSON object that `--json` promises."""
    return json.loads(result.stdout)


@pytest.mark.req("ORC-US3.1")
def test_a_harmless_call_prints_one_success_envelope_and_leaves_a_line(run: Run) -> None:
    result = run("tools", "call", "save_fact", "--arg", "text=x", "--json")
    log = run("log", "--json")
    envelope = parsed(result)
    assert (result.exit_code, envelope["status"], envelope["success"], envelope["data"]["text"]) == (
        0,
        "done",
        True,
        "x",
    )
    assert set(envelope) == {
        "status",
        "success",
        "data",
        "error",
        "error_code",
        "retryable",
        "outcome_unknown",
        "proposal_id",
        "call_id",
        "correlation_id",
        "duration_ms",
    }
    assert [(item["tool"], item["call_id"]) for item in parsed(log)["items"]] == [
        ("save_fact", envelope["call_id"])
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("tools", "call", "nope"), "TOOL_NOT_FOUND"),
        (("tools", "call", "save_fact", "--arg", "fact=x"), "INVALID_ARGUMENTS"),
        (("tools", "call", "save_fact", "--arg", "x"), "INVALID_INPUT"),
        (("tools", "call", "save_fact", "--args", "{"), "INVALID_INPUT"),
        (("tools", "call", "save_fact", "--args", "[]"), "INVALID_INPUT"),
        (("tools", "call", "save_fact", "--args", "{}", "--arg", "a=b"), "INVALID_INPUT"),
        (("approve", "nope"), "PROPOSAL_NOT_FOUND"),
        (("agents", "health", "nope"), "AGENT_NOT_FOUND"),
        (("log", "--since", "yesteryear"), "INVALID_INPUT"),
    ],
)
def test_bad_usage_ends_with_2_and_names_its_code(run: Run, arguments: tuple[str, ...], code: str) -> None:
    told, plain = run(*arguments, "--json"), run(*arguments)
    assert (told.exit_code, parsed(told)["error_code"], plain.exit_code, plain.stdout) == (2, code, 2, "")
    assert code in plain.stderr
    assert "Traceback" not in plain.stderr


def test_tools_and_agents_are_listed_for_people_and_for_programs(run: Run) -> None:
    tools, agents = parsed(run("tools", "list", "--json")), parsed(run("agents", "list", "--json"))
    names = {tool["name"]: tool for tool in tools["items"]}
    assert {"name", "description", "input_schema", "risk", "agent", "available"} <= set(names["save_fact"])
    assert ("core" in {agent["id"] for agent in agents["items"]}, tools["next"]) == (True, None)
    assert "save_fact\treversible\tcore" in run("tools", "list").stdout
    assert "core\trunning" in run("agents", "list").stdout
    assert run("agents", "health", "core").stdout.startswith("core: healthy.")


def test_nothing_can_be_started_or_stopped_where_nothing_runs(run: Run) -> None:
    result = run("agents", "stop", "core", "--json")
    assert (result.exit_code, parsed(result)["error_code"]) == (1, "SERVICE_UNAVAILABLE")


def test_a_call_may_be_given_whole_and_a_failing_one_ends_with_1(run: Run) -> None:
    done = run("tools", "call", "save_fact", "--args", '{"text": "y", "source": null}', "--timeout", "20")
    failed = run("tools", "call", "save_fact", "--arg", "text= ")
    assert (done.exit_code, json.loads(done.stdout)["text"], failed.exit_code) == (0, "y", 1)
    assert "INVALID_INPUT" in failed.stderr


@pytest.mark.req("ORC-Q06", "ORC-FR-011")
def test_a_sensitive_call_waits_is_approved_once_and_leaves_a_receipt(run: Run, tmp_path: Path) -> None:
    secret = "/etc/shadow"
    waits = run("tools", "call", "save_fact", "--arg", f"text={secret}", "--json")
    proposal = parsed(waits)["proposal_id"]
    listed = parsed(run("proposals", "--json"))["items"]
    approved = run("approve", proposal, "--json")
    again = run("approve", proposal, "--json")
    exported = run("proposals", "--export", str(tmp_path / "receipts.json"))
    receipts = json.loads((tmp_path / "receipts.json").read_text())["items"]
    assert (waits.exit_code, [item["id"] for item in listed]) == (3, [proposal])
    assert (approved.exit_code, parsed(approved)["data"]["text"]) == (0, secret)
    assert (again.exit_code, parsed(again)["error_code"]) == (1, "PROPOSAL_ALREADY_DECIDED")
    assert (exported.exit_code, receipts[0]["receipt"]["approver"], receipts[0]["receipt"]["via"]) == (
        0,
        "local",
        "cli",
    )
    assert parsed(run("proposals", "--json"))["items"] == []
    assert [item["id"] for item in parsed(run("proposals", "--all", "--json"))["items"]] == [proposal]


def test_a_command_that_leaves_a_call_waiting_tells_the_webhook_before_it_ends(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing: the test looks at what it was told."""

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("STEWARD_NOTIFY_WEBHOOK", f"http://127.0.0.1:{server.server_port}/hook")
        waits = run("tools", "call", "save_fact", "--arg", "text=/etc/shadow", "--json")
        server.shutdown()
    assert [item["proposal_id"] for item in told] == [parsed(waits)["proposal_id"]]
    assert "shadow" not in json.dumps(told)


def test_a_person_may_say_no_or_edit(run: Run) -> None:
    first = parsed(run("tools", "call", "save_fact", "--arg", "text=/etc/shadow", "--json"))["proposal_id"]
    second = parsed(run("tools", "call", "save_fact", "--arg", "text=/etc/shadow", "--json"))["proposal_id"]
    rejected = run("reject", first, "--why", "no", "--json")
    edited = run("approve", second, "--edit", '{"text": "harmless"}', "--json")
    assert (parsed(rejected)["state"], parsed(rejected)["rejected_why"]) == ("rejected", "no")
    assert parsed(edited)["data"]["text"] == "harmless"
    assert run("reject", first).exit_code == 1


def test_yes_answers_and_a_script_without_it_keeps_waiting(run: Run) -> None:
    yes = run("tools", "call", "save_fact", "--arg", "text=/etc/shadow", "--yes", "--json")
    waits = run("tools", "call", "save_fact", "--arg", "text=/etc/shadow")
    assert (yes.exit_code, parsed(yes)["status"], waits.exit_code) == (0, "done", 3)
    assert "steward approve" in waits.stderr


@pytest.mark.parametrize(("answer", "ends"), [("y\n", 0), ("n\n", 1)])
def test_at_a_terminal_the_exact_call_is_shown_and_asked_about(
    run: Run, monkeypatch: pytest.MonkeyPatch, answer: str, ends: int
) -> None:
    monkeypatch.setattr("steward.surfaces.cli.consent.at_terminal", lambda: True)
    result = run("tools", "call", "save_fact", "--arg", "text=/etc/shadow", answer=answer)
    assert (result.exit_code, '│   text = "/etc/shadow"' in result.stdout) == (ends, True)
    states = [item["state"] for item in parsed(run("proposals", "--all", "--json"))["items"]]
    assert states == ["finished" if ends == 0 else "rejected"]


def test_the_log_is_filtered(run: Run) -> None:
    run("tools", "call", "save_fact", "--arg", "text=a")
    run("tools", "call", "nope")
    failed = parsed(run("log", "--status", "failed", "--since", "1h", "--json"))["items"]
    named = parsed(run("log", "--tool", "save_fact", "--json"))["items"]
    assert ([item["tool"] for item in failed], [item["tool"] for item in named]) == (["nope"], ["save_fact"])
    assert "save_fact" in run("log").stdout


def test_a_workspace_is_made_once(run: Run, tmp_path: Path) -> None:
    made, again = run("init"), run("init", "--json")
    assert ("policy.toml" in made.stdout, parsed(again)["made"]) == (True, [])


def test_the_doctor_is_content_and_says_what_is_wrong(run: Run, tmp_path: Path) -> None:
    good = run("doctor", "--port", "0")
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "policy.toml").write_text("trust = [")
    bad = run("doctor", "--port", "0", "--json")
    findings = {item["what"]: item for item in parsed(bad)["findings"]}
    assert (
        good.exit_code,
        bad.exit_code,
        findings["policy"]["verdict"],
        bool(findings["policy"]["fix"]),
    ) == (
        0,
        1,
        "problem",
        True,
    )


@pytest.mark.parametrize(
    "address", ["mysql://ana:hunter2@host/db", "postgresql://ana:hunter2@127.0.0.1:1/none"]
)
def test_the_doctor_goes_on_when_the_database_is_wrong(
    run: Run, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    result = run("doctor", "--port", "0", "--json")
    findings = {item["what"]: item for item in parsed(result)["findings"]}
    assert (result.exit_code, findings["database"]["verdict"], bool(findings["database"]["fix"])) == (
        1,
        "problem",
        True,
    )
    assert ("tracing" in findings, "hunter2" in result.output) == (True, False)


def test_the_doctor_sees_a_disk_that_takes_nothing(run: Run, small_files: None) -> None:
    findings = {item["what"]: item for item in parsed(run("doctor", "--port", "0", "--json"))["findings"]}
    assert (findings["disk"]["verdict"], bool(findings["disk"]["fix"])) == ("problem", True)


def test_a_broken_policy_file_halts_every_command_with_its_line(run: Run, tmp_path: Path) -> None:
    run("init")
    (tmp_path / "home" / "policy.toml").write_text('trust = ["x"]\nrisky = 1\n')
    result = run("tools", "list", "--json")
    assert (result.exit_code, parsed(result)["error_code"], "policy.toml" in parsed(result)["error"]) == (
        1,
        "CONFIG_INVALID",
        True,
    )


def test_an_unreachable_database_is_explained_without_its_password(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://ana:hunter2@127.0.0.1:1/none")
    result = run("tools", "list", "--json")
    assert (result.exit_code, parsed(result)["error_code"]) == (1, "STORAGE_UNAVAILABLE")
    assert "hunter2" not in result.output


def test_a_setting_that_cannot_be_used_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_TIMEOUT", "soon")
    result = run("tools", "list", "--json")
    assert (result.exit_code, "STEWARD_TIMEOUT" in parsed(result)["error"]) == (1, True)


def test_a_suite_is_measured_and_missing_data_is_named(run: Run, tmp_path: Path) -> None:
    row = {"name": "get_weather", "description": "Get the weather.", "label": "read_only"}
    (tmp_path / "tools.jsonl").write_text(json.dumps(row) + "\n")
    numbers = run("eval", "risk", "--data", str(tmp_path / "tools.jsonl"), "--json")
    plain = run("eval", "risk", "--data", str(tmp_path / "tools.jsonl"))
    missing = run("eval", "risk", "--data", str(tmp_path / "gone.jsonl"), "--json")
    assert (parsed(numbers)["n"], "read_only_recall" in plain.stdout, missing.exit_code) == (1, True, 2)


@pytest.mark.parametrize("arguments", [(), ("--help",), ("tools", "call", "--help"), ("approve", "--help")])
def test_help_teaches_by_example(run: Run, arguments: tuple[str, ...]) -> None:
    assert "steward" in run(*arguments).output


def test_a_tool_nobody_rated_waits_and_a_rating_is_proposed_to_the_person(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init")
    tools = tmp_path / "home" / "tools"
    (tools / "greet.py").write_text("def run(name):\n    return f'Hello {name}'\n")
    entry = {
        "name": "get_greeting",
        "description": "Get a greeting for a name. Returns text.",
        "script": "greet.py",
        "input_schema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    }
    (tools / "tools.json").write_text(json.dumps({"tools": [entry]}))
    listed = {tool["name"]: tool for tool in parsed(run("tools", "list", "--json"))["items"]}["get_greeting"]
    monkeypatch.setattr("steward.surfaces.cli.consent.at_terminal", lambda: True)
    asked = run("tools", "call", "get_greeting", "--arg", "name=Ana", answer="y\n")
    assert (listed["risk"], listed["suggested_risk"]) == ("irreversible", "reversible")
    assert ('"get_greeting" = "reversible"' in asked.stdout, "Hello Ana" in asked.stdout) == (True, True)
    (tmp_path / "home" / "policy.toml").write_text('[ratings]\n"get_greeting" = "reversible"\n')
    rated = run("tools", "call", "get_greeting", "--arg", "name=Bo", "--json")
    assert (rated.exit_code, parsed(rated)["data"]) == (0, "Hello Bo")
