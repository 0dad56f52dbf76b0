import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.support.secret_shapes import IN_TEXT, IN_VALUES, UNMISTAKABLE

from steward.contract.call import Caller, CallerKind, ToolCall, current_call
from steward.telemetry.log import LogFileHandler, Logging, configure_logging, event
from steward.telemetry.masking import Masker

logger = logging.getLogger("steward.orchestrator.lifecycle")


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Logging]:
    logs = configure_logging(tmp_path)
    yield logs
    logs.close()


def lines(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (folder / "steward.log").read_bytes().splitlines()]


@pytest.mark.req("ORC-FR-015")
def test_an_event_is_a_json_line_with_its_name_and_facts(logs: Logging, tmp_path: Path) -> None:
    event(logger, "agent_started", agent="web", tools=3, name="any name is allowed", message="this, too")
    (line,) = lines(tmp_path)
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "level": "info",
        "logger": "steward.orchestrator.lifecycle",
        "event": "agent_started",
        "agent": "web",
        "tools": 3,
        "name": "any name is allowed",
        "message": "this, too",
    }


@pytest.mark.req("ORC-FR-015")
def test_what_is_logged_during_a_call_carries_its_correlation_id(logs: Logging, tmp_path: Path) -> None:
    call = ToolCall(tool="t", arguments={}, caller=Caller(CallerKind.SYSTEM, "x"))
    token = current_call.set(call)
    logger.warning("slow_tool", extra={"seconds": 7})
    current_call.reset(token)
    logger.info("after %s", "that")

    during, after = lines(tmp_path)
    assert (during["correlation_id"], during["call_id"]) == (call.correlation_id, call.call_id)
    assert during["seconds"] == 7
    assert "correlation_id" not in after
    assert after["event"] == "after that"


def test_a_stack_trace_is_kept_in_the_file_and_shown_to_nobody(
    logs: Logging, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError("password=hunter22")
    except ValueError:
        logger.exception("tool_broke", extra={"tool": "x"})
    (line,) = lines(tmp_path)
    assert "Traceback" in line["trace"]
    assert "test_log.py" in line["trace"]
    assert "hunter22" not in line["trace"]
    assert capfd.readouterr() == ("", "")


def test_a_person_who_debugs_reads_along_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = configure_logging(tmp_path, debug=True)
    event(logger, "agent_started", level=logging.DEBUG, agent="web", api_key="hunter22")
    try:
        raise ValueError("token: hunter22")
    except ValueError:
        logger.exception("broke")
    logs.close()
    out, err = capsys.readouterr()
    assert out == ""
    assert "debug   steward.orchestrator.lifecycle: agent_started agent=web api_key=***" in err
    assert "Traceback" in err
    assert "hunter22" not in err


def test_quiet_things_and_other_libraries_chatter_are_left_out(logs: Logging, tmp_path: Path) -> None:
    event(logger, "detail", level=logging.DEBUG)
    logging.getLogger("somebody.else").info("chatter")
    logging.getLogger("somebody.else").warning("important")
    assert [line["event"] for line in lines(tmp_path)] == ["important"]


def test_a_message_whose_arguments_do_not_fit_is_logged_all_the_same(tmp_path: Path) -> None:
    handler = LogFileHandler(tmp_path / "steward.log")
    handler.handle(logging.makeLogRecord({"msg": "only %d", "args": ("text",)}))
    handler.close()
    assert [line["event"] for line in lines(tmp_path)] == ["only %d"]


def test_no_secret_reaches_the_log(logs: Logging, tmp_path: Path) -> None:
    for value, _ in IN_VALUES:
        event(logger, "call_failed", arguments=value)
    for text, _ in IN_TEXT:
        logger.info("it said %s", text)
    written = (tmp_path / "steward.log").read_text()
    assert [secret for secret in UNMISTAKABLE if secret in written] == []


def test_known_secrets_are_hidden_too(tmp_path: Path) -> None:
    logs = configure_logging(tmp_path, masker=Masker(["the-very-key"]))
    logger.info("found the-very-key")
    logs.close()
    assert b"the-very-key" not in (tmp_path / "steward.log").read_bytes()


def test_configuring_again_replaces_what_was_there(tmp_path: Path) -> None:
    configure_logging(tmp_path / "one")
    logs = configure_logging(tmp_path / "two")
    logger.info("once")
    logs.close()
    assert not (tmp_path / "one" / "steward.log").exists()
    assert len(lines(tmp_path / "two")) == 1


def test_a_log_that_cannot_be_written_breaks_nothing_and_says_why(
    logs: Logging, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "steward.log").symlink_to("/dev/full")
    logger.info("lost")
    assert "No space left" in (logs.problem() or "")
    (tmp_path / "steward.log").unlink()
    logger.info("written")
    assert logs.problem() is None
    assert capfd.readouterr() == ("", "")


def test_a_full_file_makes_room_and_only_a_few_are_kept(tmp_path: Path) -> None:
    handler = LogFileHandler(tmp_path / "steward.log", file_bytes=2000, kept=3)
    for number in range(200):
        handler.handle(logging.makeLogRecord({"msg": f"{number:04}", "levelno": 20, "levelname": "INFO"}))
    handler.close()
    names = {path.name for path in tmp_path.glob("steward.log*")} - {"steward.log.lock"}
    assert names == {"steward.log", "steward.log.1", "steward.log.2", "steward.log.3"}
    newest = [orjson.loads(line)["event"] for line in (tmp_path / "steward.log").read_bytes().splitlines()]
    before = [orjson.loads(line)["event"] for line in (tmp_path / "steward.log.1").read_bytes().splitlines()]
    assert [*before, *newest][-1] == "0199"
    assert int(newest[0]) == int(before[-1]) + 1
    assert all(path.stat().st_size <= 2000 for path in tmp_path.glob("steward.log*"))


def test_processes_rotate_one_log_together(tmp_path: Path) -> None:
    program = """
import logging, sys
from pathlib import Path
from steward.telemetry.log import LogFileHandler
handler = LogFileHandler(Path(sys.argv[1]) / "steward.log", file_bytes=20_000, kept=50)
for number in range(500):
    handler.handle(logging.makeLogRecord({"msg": "x" * 100, "levelno": 20, "levelname": "INFO"}))
sys.exit(handler.problem)
"""
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    events = [
        orjson.loads(line)["event"]
        for path in tmp_path.glob("steward.log*")
        if not path.name.endswith(".lock")
        for line in path.read_bytes().splitlines()
        if line
    ]
    assert events == ["x" * 100] * 1000
