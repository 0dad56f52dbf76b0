"""How commands end and what they print, at a terminal, in a pipe and for a program."""

import errno
import json
import os
import pty
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.contract.errors import StewardError
from steward.surfaces.cli import app, output
from steward.surfaces.cli.client import Api
from steward.surfaces.cli.commands.proposals import _write
from steward.surfaces.wire import Incoming, LostError

ENVELOPE = {
    "status": "failed",
    "success": False,
    "data": None,
    "error": "",
    "error_code": "",
    "retryable": False,
    "outcome_unknown": False,
    "proposal_id": None,
    "call_id": "",
    "correlation_id": "",
    "duration_ms": 0.0,
}


@pytest.mark.parametrize(
    "arguments",
    [("tools", "call", "--json"), ("log", "--limit", "many", "--json"), ("frobnicate", "--json")],
)
def test_bad_usage_is_one_json_object_where_json_was_asked_for(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["steward", *arguments])
    with pytest.raises(SystemExit) as ended:
        app.main()
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert (ended.value.code, printed.err) == (2, "")
    assert told == ENVELOPE | {"error": told["error"], "error_code": "INVALID_INPUT"}


def test_bad_usage_is_plain_help_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["steward", "tools", "call"])
    with pytest.raises(SystemExit) as ended:
        app.main()
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out, "Usage" in printed.err) == (2, "", True)


@pytest.mark.parametrize(
    ("raised", "ends", "code"),
    [
        (KeyboardInterrupt(), 130, "CANCELLED"),
        (ZeroDivisionError("oops"), 1, "INTERNAL"),
        (OSError(errno.ENOSPC, "No space left on device", "home/log"), 1, "STORAGE_FULL"),
        (StewardError("No.", code="ODD", details={"call_id": "c1", "correlation_id": "r1"}), 1, "ODD"),
    ],
)
def test_whatever_ends_a_command_is_one_object_and_no_stack_trace(
    raised: BaseException, ends: int, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        raise raised

    with pytest.raises(output.typer.Exit) as ended:
        output.run(work, as_json=True)
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    ids = {"call_id": "c1", "correlation_id": "r1"} if code == "ODD" else {}
    retryable = {"retryable": code == "STORAGE_FULL"}  # once there is space again
    assert (ended.value.exit_code, printed.err) == (ends, "")
    assert told == ENVELOPE | {"error": told["error"], "error_code": code} | ids | retryable


def test_the_stack_trace_is_there_for_whoever_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setenv("STEWARD_DEBUG", "1")
    with pytest.raises(output.typer.Exit):
        output.run(work)
    assert "Traceback" in capsys.readouterr().err


def test_other_peoples_text_cannot_steer_the_terminal() -> None:
    assert output.visible("a\x1b[2J\x9b1m\u202eb\tc\nd é [bold]") == "a\\x1b[2J\\x9b1m\\u202eb\tc\nd é [bold]"


PRINTS_TABLE = (
    "from steward.surfaces.cli.output import show_table; show_table(('A',), [('[red]x[/red]',)], empty='')"
)


def test_a_table_at_a_terminal_shows_cells_as_they_are() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", PRINTS_TABLE], stdout=theirs) as process:
        os.close(theirs)
        process.wait(60)
        shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert ("[red]x[/red]" in shown, "\x1b[1m" in shown) == (True, True)


def test_a_reader_that_closes_early_ends_a_command_quietly() -> None:
    code = "import sys; sys.argv = ['steward', '--help']; from steward.__main__ import main; main()"
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(write)
    assert (ended.returncode != 0, ended.stderr) == (True, b"")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_an_answer_that_finds_no_room_is_a_failure_without_a_stack_trace(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    environment = os.environ | {"STEWARD_HOME": str(tmp_path / "home")}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "steward", "init", *flags],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            check=False,
            timeout=60,
        )
    assert (ended.returncode, "STORAGE_FULL" in ended.stderr, "Traceback" in ended.stderr) == (1, True, False)


@pytest.mark.parametrize(
    ("method", "heard", "retryable"),
    [("get", True, True), ("post", False, True), ("post", True, False)],
)
async def test_what_may_have_run_is_not_offered_again(method: str, heard: bool, retryable: bool) -> None:
    class Broken:
        @asynccontextmanager
        async def open(self, *_: Any, **__: Any) -> AsyncGenerator[Incoming]:
            raise LostError(EOFError(), heard=heard)
            yield

    with pytest.raises(StewardError) as caught:
        await getattr(Api(Broken(), running=True), method)("/v1/proposals/p1/approve")
    assert (caught.value.code, caught.value.retryable) == ("SERVICE_UNAVAILABLE", retryable)


def test_a_closed_socket_does_not_end_the_program(tmp_path: Path) -> None:
    """A command that dies of SIGPIPE would take `steward up` along with the first client that hangs up."""
    code = (
        "import signal, sys; sys.argv = ['steward', '--json', 'nonsense']\n"
        "from steward.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "sys.exit(signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert ended.returncode == 0


def test_an_export_is_whole_or_not_there_and_never_replaces_a_device(tmp_path: Path) -> None:
    receipts = tmp_path / "receipts.json"
    receipts.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(receipts)
    _write(link, [{"id": "p1"}])
    with pytest.raises(StewardError) as full:
        _write(Path("/dev/full"), [{"id": "p1"}])
    with pytest.raises(StewardError):
        _write(tmp_path / "missing" / "receipts.json", [])
    assert (json.loads(receipts.read_text()), link.is_symlink()) == ({"items": [{"id": "p1"}]}, True)
    assert (full.value.code, Path("/dev/full").is_char_device()) == ("STORAGE_FULL", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "receipts.json"]
