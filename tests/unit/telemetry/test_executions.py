import asyncio
import errno
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.support.recorded import read_lines
from tests.support.secret_shapes import IN_TEXT, IN_VALUES, UNMISTAKABLE

from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.errors import ErrorCode, UnavailableError
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import Execution, Intent
from steward.orchestrator.proposals import Receipt
from steward.telemetry.append import AppendFile
from steward.telemetry.executions import READS_AT_ONCE, ExecutionLogFile
from steward.telemetry.masking import Masker

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Clock:
    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


def execution(
    result: ToolResult | None = None, *, at: datetime = NOON, tool: str = "web_search", **arguments: Any
) -> Execution:
    call = ToolCall(
        tool=tool,
        arguments=arguments,
        caller=Caller(CallerKind.AGENT, "researcher"),
        user="local",
        confidence=0.5,
        call_id="c1",
        correlation_id="r1",
    )
    return Execution(
        at=at, tool=tool, agent="web", call=call, result=result or Done(data=1), risk=RiskLevel.REVERSIBLE
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> Iterator[ExecutionLogFile]:
    log = ExecutionLogFile(tmp_path, clock=clock)
    yield log
    log.close()


def the_file(folder: Path) -> Path:
    return folder / "executions-2026-11-15.jsonl"


@pytest.mark.req("SKL-ENT-Log")
@pytest.mark.req("SKL-FR-011", "SKL-SC-006")
def test_a_call_is_one_line_with_all_that_went_in_and_came_out(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution(Done(data={"results": ["a"]}, duration_ms=1.23456), query="x"))

    line = the_file(tmp_path).read_bytes()
    assert line.count(b"\n") == 1
    assert orjson.loads(line) == {
        "at": "2026-11-15T12:00:00.000000+00:00",
        "tool": "web_search",
        "agent": "web",
        "caller": {"kind": "agent", "id": "researcher"},
        "user": "local",
        "correlation_id": "r1",
        "call_id": "c1",
        "arguments": {"query": "x"},
        "status": "done",
        "output": {"results": ["a"]},
        "error": None,
        "code": None,
        "duration_ms": 1.235,
        "risk": "reversible",
        "confidence": 0.5,
    }
    assert the_file(tmp_path).stat().st_mode & 0o777 == 0o600


@pytest.mark.req("SKL-EDGE-07", "SKL-FR-011", "SKL-SC-006")
def test_a_failure_is_logged_with_the_input_that_caused_it(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(
        execution(
            Failed(error="Division by zero.", code=ErrorCode.TOOL_EXECUTION_ERROR, data={"at": 3}), divisor=0
        )
    )
    log.append(execution(Failed(error="gone", code="LOST", outcome_unknown=True)))
    log.append(execution(PendingApproval(proposal_id="p1", reason="it deletes", risk=RiskLevel.IRREVERSIBLE)))

    waiting, lost, failed = read_lines(tmp_path).items
    assert (failed["arguments"], failed["status"], failed["error"], failed["code"], failed["output"]) == (
        {"divisor": 0},
        "failed",
        "Division by zero.",
        "TOOL_EXECUTION_ERROR",
        {"at": 3},
    )
    assert (lost["code"], lost["outcome_unknown"]) == ("LOST", True)
    assert (waiting["status"], waiting["proposal_id"], waiting["error"]) == (
        "pending_approval",
        "p1",
        "it deletes",
    )


@pytest.mark.req("SKL-FR-016", "SKL-EDGE-10")
def test_each_day_has_its_file_and_the_last_thirty_that_have_lines_are_kept(
    log: ExecutionLogFile, tmp_path: Path, clock: Clock
) -> None:
    for day in range(0, 80, 2):  # nobody works every day
        log.append(execution(at=NOON + timedelta(days=day)))

    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == [
        f"executions-{(NOON + timedelta(days=day)).date().isoformat()}.jsonl" for day in range(20, 80, 2)
    ]


def test_a_clock_forty_days_ahead_removes_nothing(log: ExecutionLogFile, tmp_path: Path) -> None:
    for day in (0, 1, 40):
        log.append(execution(at=NOON + timedelta(days=day)))
    assert len(read_lines(tmp_path).items) == 3


@pytest.mark.req("SKL-EDGE-10")
def test_only_files_of_the_log_are_removed(tmp_path: Path) -> None:
    others = ["executions-2001-01-01.jsonl.bak", "executions-2001-99-99.jsonl", "notes-2001-01-01.jsonl"]
    for name in (*others, "executions-2001-01-01.jsonl"):
        (tmp_path / name).write_text("{}\n")
    log = ExecutionLogFile(tmp_path, clock=Clock(), retention_days=1)
    log.append(execution())
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        (*others, "executions-2026-11-15.jsonl")
    )


# --- before a call runs -----------------------------------------------------------------------------


def intent(*, risk: RiskLevel = RiskLevel.REVERSIBLE, receipt: Receipt | None = None, **given: Any) -> Intent:
    call = replace(execution(**given).call, tool="send")
    return Intent(at=NOON, tool="send", agent="mail", call=call, risk=risk, user="ana", receipt=receipt)


async def test_what_is_about_to_run_is_on_record_with_what_goes_in(tmp_path: Path) -> None:
    log = ExecutionLogFile(tmp_path, clock=Clock(), program=7)
    await log.begin(intent(to="ben"))
    (line,) = read_lines(tmp_path).items
    assert (line["status"], line["program"], line["user"], line["arguments"]) == (
        "running",
        7,
        "ana",
        {"to": "ben"},
    )


async def test_an_outcome_does_not_repeat_what_its_intent_says(tmp_path: Path, log: ExecutionLogFile) -> None:
    log.append(replace(execution(Done(data="sent"), to="ben"), begun=True))
    (line,) = read_lines(tmp_path).items
    assert ("arguments" in line, line["output"]) == (False, "sent")


async def test_a_yes_stands_on_the_line_before_the_run(tmp_path: Path, log: ExecutionLogFile) -> None:
    asked: dict[str, Any] = {"arguments": {}, "digest": "d", "definition_hash": "h"}
    yes = Receipt(approver="ben", approved_at=NOON, via="cli", role="approve", **asked)
    await log.begin(intent(receipt=yes))
    (line,) = read_lines(tmp_path).items
    told = line["approved"]
    assert (told["by"], told["via"], told["role"], told["digest"]) == ("ben", "cli", "approve", "d")


async def test_nothing_begins_that_cannot_be_put_on_record(tmp_path: Path, log: ExecutionLogFile) -> None:
    full_disk(tmp_path)
    with pytest.raises(UnavailableError) as caught:
        await log.begin(intent())
    assert caught.value.code == ErrorCode.RECORD_FAILED


@pytest.mark.parametrize(
    ("risk", "waits"), [(RiskLevel.IRREVERSIBLE, True), (RiskLevel.REVERSIBLE_WITH_DELAY, False)]
)
async def test_only_what_cannot_be_undone_waits_for_the_disk(
    log: ExecutionLogFile, monkeypatch: pytest.MonkeyPatch, risk: RiskLevel, waits: bool
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    await log.begin(intent(risk=risk))
    assert bool(synced) is waits


async def test_a_disk_that_fails_to_keep_it_stops_what_cannot_be_undone(
    log: ExecutionLogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(UnavailableError) as caught:
        await log.begin(intent(risk=RiskLevel.IRREVERSIBLE))
    assert caught.value.code == ErrorCode.RECORD_FAILED


async def test_an_intent_does_not_queue_behind_large_lines(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution(Done(data="x" * 5_000_000)))
    await log.begin(intent(to="ben"))
    assert read_lines(tmp_path, status="running").items


async def test_no_secret_of_a_large_intent_reaches_the_file(log: ExecutionLogFile, tmp_path: Path) -> None:
    await log.begin(intent(password="hunter2hunter2", padding="x" * 70_000))
    assert b"hunter2" not in the_file(tmp_path).read_bytes()


def test_a_day_is_a_utc_day_and_a_line_goes_to_its_own(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution(at=datetime.fromisoformat("2026-11-16T01:30:00+02:00")))
    log.append(execution(at=datetime.fromisoformat("2026-11-16T02:30:00+02:00")))
    log.append(execution(at=datetime.fromisoformat("2026-11-15T23:59:00+00:00")))
    assert the_file(tmp_path).read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("size", [10, 70_000])
def test_no_secret_reaches_the_file(log: ExecutionLogFile, tmp_path: Path, size: int) -> None:
    for value, _ in IN_VALUES:
        log.append(execution(Done(data=value), value=value, padding="x" * size))
    for text, _ in IN_TEXT:
        log.append(execution(Failed(error=f"it said {text}", data=text), text=text, padding="x" * size))
    log.append(execution(Done(data={"odd": object(), "password": "hunter22"})))
    assert log.close() == 0

    written = the_file(tmp_path).read_text()
    assert written.count("\n") == len(IN_VALUES) + len(IN_TEXT) + 1
    assert [secret for secret in UNMISTAKABLE if secret in written] == []


def test_known_secrets_are_hidden_too(tmp_path: Path) -> None:
    log = ExecutionLogFile(tmp_path, clock=Clock(), masker=Masker(["the-very-key"]))
    log.append(execution(text="the-very-key"))
    log.close()
    assert b"the-very-key" not in the_file(tmp_path).read_bytes()


def test_large_outputs_keep_their_place_in_the_order(log: ExecutionLogFile, tmp_path: Path) -> None:
    for number in range(60):
        log.append(execution(Done(data="x" * (300_000 if number % 7 == 0 else 10)), number=number))
    assert log.flush()
    lines = the_file(tmp_path).read_bytes().splitlines()
    assert [orjson.loads(line)["arguments"]["number"] for line in lines] == list(range(60))


async def test_what_only_read_is_written_after_its_answer_and_nothing_overtakes_it(tmp_path: Path) -> None:
    log = ExecutionLogFile(tmp_path, clock=Clock(), reads_wait=0)

    def written() -> list[str]:
        return [item["tool"] for item in read_lines(tmp_path, newest_first=False).items]

    log.append(replace(execution(tool="look"), only_read=True))
    assert written() == []
    for _ in range(3):  # a turn of the loop for the timer, and one for what it calls
        await asyncio.sleep(0)
    assert written() == ["look"]
    log.append(replace(execution(tool="look_again"), only_read=True))
    log.append(execution(tool="change"))
    assert written() == ["look", "look_again", "change"]
    log.append(replace(execution(tool="last"), only_read=True))
    log.close()
    assert written() == ["look", "look_again", "change", "last"]


async def test_many_reads_are_written_together_and_none_shows_a_secret(tmp_path: Path) -> None:
    log = ExecutionLogFile(tmp_path, clock=Clock(), reads_wait=3_600)
    for number in range(READS_AT_ONCE):
        said = {"password": "hunter2hunter2"} if number == 40 else {"number": number}
        log.append(replace(execution(**said), only_read=True))
    lines = the_file(tmp_path).read_bytes()
    log.close()
    assert (lines.count(b"\n"), b"hunter2" in lines) == (READS_AT_ONCE, False)


def test_threads_may_append_at_once(log: ExecutionLogFile, tmp_path: Path) -> None:
    def work(worker: int) -> None:
        for number in range(50):
            log.append(execution(Done(data="x" * (100_000 if number % 10 == 0 else 1)), who=[worker, number]))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.flush()
    seen = [tuple(item["arguments"]["who"]) for item in read_lines(tmp_path).items]
    assert sorted(seen) == [(worker, number) for worker in range(4) for number in range(50)]


def test_processes_share_the_file_without_mixing_lines(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from tests.unit.telemetry.test_executions import Clock, execution
from steward.contract.call import Done
from steward.telemetry.executions import ExecutionLogFile, READS_AT_ONCE
log = ExecutionLogFile(Path(sys.argv[1]), clock=Clock())
for number in range(200):
    log.append(execution(Done(data="x" * (70000 if number % 50 == 0 else 500)), number=number))
sys.exit(log.close())
"""
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    read = read_lines(tmp_path)
    assert (len(read.items), read.torn) == (400, 0)


def full_disk(folder: Path) -> None:
    the_file(folder).symlink_to("/dev/full")


def test_a_full_disk_keeps_the_lines_and_says_so(log: ExecutionLogFile, tmp_path: Path) -> None:
    full_disk(tmp_path)
    for number in range(3):
        log.append(execution(number=number))
        assert not log.flush()
    assert log.accepting()
    problem = log.problem()
    assert problem is not None
    assert os.strerror(errno.ENOSPC) in problem
    assert "3 lines wait" in problem


def test_lines_that_were_refused_are_written_in_order_with_the_next_call(
    log: ExecutionLogFile, tmp_path: Path
) -> None:
    full_disk(tmp_path)
    log.append(execution(number=0))
    log.append(execution(number=1))
    assert not log.flush()
    (tmp_path / "executions-2026-11-15.jsonl").unlink()

    log.append(execution(number=2))
    assert log.flush()
    assert log.problem() is None
    lines = the_file(tmp_path).read_bytes().splitlines()
    assert [orjson.loads(line)["arguments"]["number"] for line in lines] == [0, 1, 2]


def test_the_door_closes_when_no_more_lines_can_be_kept(tmp_path: Path) -> None:
    full_disk(tmp_path)
    log = ExecutionLogFile(tmp_path, clock=Clock(), backlog_lines=3)
    for _ in range(3):
        assert log.accepting()
        log.append(execution())
        log.flush()
    assert not log.accepting()
    for _ in range(4):  # calls that were already running: as many again are kept, the rest is counted
        log.append(execution())
    assert "1 lines are lost" in (log.problem() or "")
    assert log.close() == 6


def test_the_backlog_is_bounded_in_bytes_as_well(tmp_path: Path) -> None:
    full_disk(tmp_path)
    log = ExecutionLogFile(tmp_path, clock=Clock(), backlog_bytes=2000)
    log.append(execution(text="x" * 3000))
    assert not log.accepting()
    log.close()


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file of this process may grow beyond this size: a write there is cut short."""
    size = 700
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    yield size
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_door_stays_closed_until_there_is_room_for_the_first_line(
    log: ExecutionLogFile, tmp_path: Path, small_files: int
) -> None:
    closed = log.accepting()
    problem = log.problem() or ""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        opened = log.accepting()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (closed, os.strerror(errno.EFBIG) in problem) == (False, True)
    assert (opened, log.problem(), list(tmp_path.iterdir())) == (True, None, [])


def test_a_write_cut_short_leaves_no_broken_line_behind(
    log: ExecutionLogFile, tmp_path: Path, small_files: int
) -> None:
    for number in range(4):
        log.append(execution(number=number))
    assert log.problem() is not None
    torn = read_lines(tmp_path)
    assert (len(torn.items), torn.torn) == (2, 1)
    assert the_file(tmp_path).stat().st_size == small_files

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        log.append(execution(number=4))
        assert log.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    healed = read_lines(tmp_path, newest_first=False)
    assert [item["arguments"]["number"] for item in healed.items] == [0, 1, 2, 3, 4]
    assert healed.torn == 1
    assert log.problem() is None


def test_another_process_ends_a_line_that_was_cut_short(log: ExecutionLogFile, tmp_path: Path) -> None:
    the_file(tmp_path).write_bytes(
        b'{"at": "2026-11-15T12:00',
    )
    log.append(execution())
    read = read_lines(tmp_path)
    assert (len(read.items), read.torn) == (1, 1)


def test_a_file_that_somebody_removed_is_made_again(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution())
    the_file(tmp_path).unlink()
    log.append(execution())
    assert len(read_lines(tmp_path).items) == 1


def test_a_folder_that_cannot_be_made_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    log = ExecutionLogFile(tmp_path / "logs", clock=Clock())
    log.append(execution())
    assert log.problem() is not None
    assert log.close() == 1


def test_garbage_between_lines_is_skipped_and_counted(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution(number=1))
    with the_file(tmp_path).open("ab") as file:
        file.write(b"\n\nnot json\n[1]\n\xff\xfe\n")
    log.append(execution(number=2))
    read = read_lines(tmp_path)
    assert ([item["arguments"]["number"] for item in read.items], read.torn) == ([2, 1], 3)


def test_an_append_of_nothing_new_leaves_the_descriptor_closed(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "x")
    file.close()
    assert not (tmp_path / "x").exists()
