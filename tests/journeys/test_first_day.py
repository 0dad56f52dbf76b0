"""A newcomer's first day: real programs, a real embedded database, nothing stood in for."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

BIN = Path(sys.executable).parent


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return kept | {
        "STEWARD_HOME": str(home / "steward"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        "STEWARD_OBSIDIAN_VAULT": "",
    }


def steward(
    environment: dict[str, str], *arguments: str, program: str = "steward"
) -> tuple[int, dict[str, Any]]:
    ran = subprocess.run(
        [BIN / program, *arguments, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran.returncode, json.loads(ran.stdout)


@pytest.fixture
def running(environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [BIN / "steward", "up", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "Steward is up at http://127.0.0.1:" in process.stdout.readline()
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


@pytest.mark.req("RES-ART-II.A", "RES-ART-II.C")
@pytest.mark.req("ORC-FR-012", "ORC-Q06", "ORC-US3.1")
def test_call_wait_approve_log_and_leave_nothing_behind(
    running: subprocess.Popen[str], environment: dict[str, str]
) -> None:
    saved = steward(environment, "tools", "call", "save_fact", "--arg", "text=x")
    code = ("--arg", "language=python", "--arg", "code=print(6 * 7)")
    waits = steward(environment, "tools", "call", "code_execution", *code)
    proposal = waits[1]["proposal_id"]
    approved = steward(environment, "approve", proposal, program="diana")
    again = steward(environment, "approve", proposal, program="diana")
    log = steward(environment, "log")
    assert (saved[0], saved[1]["success"], waits[0], approved[0], again[0]) == (0, True, 3, 0, 1)
    assert "42" in json.dumps(approved[1]["data"])
    assert again[1]["error_code"] == "PROPOSAL_ALREADY_DECIDED"
    assert [item["tool"] for item in log[1]["items"]] == ["code_execution", "code_execution", "save_fact"]

    stopped = steward(environment, "agents", "stop", "core")
    gone = steward(environment, "tools", "call", "save_fact", "--arg", "text=x")
    started = steward(environment, "agents", "start", "core")
    assert (stopped[1]["state"], gone[1]["error_code"], started[1]["state"]) == (
        "stopped",
        "TOOL_NOT_FOUND",
        "running",
    )

    family = [running_process.pid for running_process in psutil.Process(running.pid).children(recursive=True)]
    running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 0
    home = environment["STEWARD_HOME"]
    left = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if home in " ".join(process.info["cmdline"] or ()) or process.pid in family
    ]
    assert left == []
    assert not (Path(home) / "instance.json").exists()


def test_a_second_steward_for_the_same_home_is_refused(
    running: subprocess.Popen[str], environment: dict[str, str]
) -> None:
    second = subprocess.run(
        [BIN / "steward", "up", "--port", "0"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (second.returncode, "already runs" in second.stderr, running.poll()) == (1, True, None)


def test_the_tour_plays_to_its_end() -> None:
    ran = subprocess.run([BIN / "steward", "demo"], capture_output=True, text=True, timeout=110, check=False)
    assert (ran.returncode, "That was the tour" in ran.stdout) == (0, True), ran.stdout + ran.stderr
