"""`steward jobs`, `--background` and `steward worker`, as typed."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.support.running import surroundings
from typer.testing import CliRunner

from steward.surfaces.cli.app import app
from steward.surfaces.cli.library import knowledge

Steward = Callable[..., Result]


@pytest.fixture
def steward(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Steward:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")

    def run(*arguments: str, library: bool = False) -> Result:
        return CliRunner().invoke(knowledge.app if library else app, arguments)

    return run


def said(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_work_in_the_background_is_listed_shown_cancelled_and_tried_again(
    steward: Steward, tmp_path: Path
) -> None:
    queued = said(
        steward(
            *("kb", "add-document", str(tmp_path), "--collection", "notes", "--background", "--json"),
            library=True,
        )
    )
    job = queued["job"]
    listed = steward("jobs", "list")
    shown = steward("jobs", "show", job)
    cancelled = said(steward("jobs", "cancel", job, "--json"))
    twice = steward("jobs", "cancel", job)
    retried = steward("jobs", "retry", job)
    assert "ingest_documents" in listed.stdout
    assert "waiting" in shown.stdout
    assert "begun 0 times" in shown.stdout
    assert cancelled["state"] == "cancelled"
    assert twice.exit_code == 1
    assert "waiting" in retried.stdout
    assert said(steward("jobs", "list", "--state", "failed", "--json")) == {"items": [], "next": None}
    assert steward("jobs", "show", "99999").exit_code == 2


async def test_a_worker_takes_what_was_queued_and_stops_when_told(
    steward: Steward, tmp_path: Path, database_url: str
) -> None:
    queued = await asyncio.to_thread(
        steward, "ask", "add task 'buy milk'", "--agent", "tasks", "--background"
    )
    assert "goes on without you: steward jobs show" in queued.stdout
    job = queued.stdout.split()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "steward", "worker", "--queue", "turns"),
        env=os.environ | surroundings(tmp_path, database_url), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), 90)
        assert line.decode() == "A worker takes jobs of turns. Ctrl-C stops it.\n"
        async with asyncio.timeout(90):
            while True:
                shown = await asyncio.to_thread(steward, "jobs", "show", job)
                if "done" in shown.stdout.split():
                    break
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 30) == 0
    finally:
        if process.returncode is None:
            process.kill()
    assert "buy milk" in (await asyncio.to_thread(steward, "tasks", "list")).stdout
