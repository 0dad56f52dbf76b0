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
from tests.secret_shapes import IN_TEXT, IN_VALUES, UNMISTAKABLE

from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.errors import ErrorCode, InputError
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import Execution
from steward.telemetry.append import AppendFile
from steward.telemetry.executions import ExecutionLogFile, read_executions
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

    waiting, lost, failed = read_executions(tmp_path).items
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
def test_each_day_has_its_file_and_thirty_days_are_kept(
    log: ExecutionLogFile, tmp_path: Path, clock: Clock
) -> None:
    first = clock.at
    for day in range(40):
        clock.at = first + timedelta(days=day)
        log.append(execution(at=clock.at))

    kept = sorted(path.name for path in tmp_path.iterdir())
    last = clock.at.date()
    assert kept == [
        f"executions-{(last - timedelta(days=ago)).isoformat()}.jsonl" for ago in range(30, -1, -1)
    ]
    assert len(read_executions(tmp_path, limit=1000).items) == 31


@pytest.mark.req("SKL-EDGE-10")
def test_only_files_of_the_log_are_removed(log: ExecutionLogFile, tmp_path: Path) -> None:
    others = ["executions-2001-01-01.jsonl.bak", "executions-2001-99-99.jsonl", "notes-2001-01-01.jsonl"]
    for name in (*others, "executions-2001-01-01.jsonl"):
        (tmp_path / name).write_text("{}\n")
    log.append(execution())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        (*others, "executions-2026-11-15.jsonl")
    )


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


async def test_what_only_read_is_written_after_its_answer_and_nothing_overtakes_it(
    log: ExecutionLogFile, tmp_path: Path
) -> None:
    def written() -> list[str]:
        return [item["tool"] for item in read_executions(tmp_path, newest_first=False).items]

    log.append(replace(execution(tool="look"), only_read=True))
    assert written() == []
    await asyncio.sleep(0)
    assert written() == ["look"]
    log.append(replace(execution(tool="look_again"), only_read=True))
    log.append(execution(tool="change"))
    assert written() == ["look", "look_again", "change"]
    log.append(replace(execution(tool="last"), only_read=True))
    log.close()
    assert written() == ["look", "look_again", "change", "last"]


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
    seen = [tuple(item["arguments"]["who"]) for item in read_executions(tmp_path, limit=500).items]
    assert sorted(seen) == [(worker, number) for worker in range(4) for number in range(50)]


def test_processes_share_the_file_without_mixing_lines(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from tests.unit.telemetry.test_executions import Clock, execution
from steward.contract.call import Done
from steward.telemetry.executions import ExecutionLogFile
log = ExecutionLogFile(Path(sys.argv[1]), clock=Clock())
for number in range(200):
    log.append(execution(Done(data="x" * (70000 if number % 50 == 0 else 500)), number=number))
sys.exit(log.close())
"""
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    read = read_executions(tmp_path, limit=1000)
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
    torn = read_executions(tmp_path)
    assert (len(torn.items), torn.torn) == (2, 1)
    assert the_file(tmp_path).stat().st_size == small_files

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        log.append(execution(number=4))
        assert log.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    healed = read_executions(tmp_path, newest_first=False)
    assert [item["arguments"]["number"] for item in healed.items] == [0, 1, 2, 3, 4]
    assert healed.torn == 1
    assert log.problem() is None


def test_another_process_ends_a_line_that_was_cut_short(log: ExecutionLogFile, tmp_path: Path) -> None:
    the_file(tmp_path).write_bytes(
        b'{"at": "2026-11-15T12:00',
    )
    log.append(execution())
    read = read_executions(tmp_path)
    assert (len(read.items), read.torn) == (1, 1)


def test_a_file_that_somebody_removed_is_made_again(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution())
    the_file(tmp_path).unlink()
    log.append(execution())
    assert len(read_executions(tmp_path).items) == 1


def test_a_folder_that_cannot_be_made_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    log = ExecutionLogFile(tmp_path / "logs", clock=Clock())
    log.append(execution())
    assert log.problem() is not None
    assert log.close() == 1


# --- reading ----------------------------------------------------------------------------------------


@pytest.fixture
def three_days(log: ExecutionLogFile, tmp_path: Path, clock: Clock) -> Path:
    """30 calls over three days, numbered in order; every third failed, every other is another tool's."""
    for number in range(30):
        clock.at = NOON + timedelta(hours=2.4 * number)
        result = Failed(error="x") if number % 3 == 0 else Done()
        tool = "web_search" if number % 2 == 0 else "read_file"
        log.append(execution(result, at=clock.at, tool=tool, number=number, blob="x" * 5000 * (number % 5)))
    return tmp_path


def numbers(folder: Path, **filters: Any) -> list[int]:
    return [item["arguments"]["number"] for item in read_executions(folder, **filters).items]


def test_the_newest_come_first_or_last(three_days: Path) -> None:
    assert numbers(three_days, limit=4) == [29, 28, 27, 26]
    assert numbers(three_days, limit=4, newest_first=False) == [0, 1, 2, 3]
    assert numbers(three_days, limit=100) == list(range(29, -1, -1))


def test_lines_are_found_by_tool_status_time_and_correlation(three_days: Path) -> None:
    assert numbers(three_days, tool="read_file", limit=3) == [29, 27, 25]
    assert numbers(three_days, status="failed", limit=3) == [27, 24, 21]
    assert numbers(three_days, since=NOON + timedelta(hours=60)) == [29, 28, 27, 26, 25]
    assert numbers(three_days, correlation_id="r1", limit=1) == [29]
    assert numbers(three_days, correlation_id="other") == []
    assert numbers(three_days, tool="x", status="failed") == []


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("limit", [1, 7, 30])
def test_pages_follow_each_other_without_gap_or_repetition(
    three_days: Path, newest_first: bool, limit: int
) -> None:
    seen: list[int] = []
    after = None
    while True:
        page = read_executions(three_days, limit=limit, newest_first=newest_first, after=after)
        seen += [item["arguments"]["number"] for item in page.items]
        if page.next is None:
            break
        after = page.next
    assert seen == sorted(range(30), reverse=newest_first)


@pytest.mark.parametrize("after", ["", "x", "2026-11-15", "2026-11-15:-1", "2026-11-15:x", "2026-13-15:1"])
def test_a_made_up_place_is_refused(tmp_path: Path, after: str) -> None:
    with pytest.raises(InputError) as caught:
        read_executions(tmp_path, after=after)
    assert caught.value.code == ErrorCode.INVALID_INPUT


def test_an_empty_log_has_no_lines(tmp_path: Path) -> None:
    assert read_executions(tmp_path).items == ()
    assert read_executions(tmp_path / "nowhere").items == ()


def test_garbage_between_lines_is_skipped_and_counted(log: ExecutionLogFile, tmp_path: Path) -> None:
    log.append(execution(number=1))
    with the_file(tmp_path).open("ab") as file:
        file.write(b"\n\nnot json\n[1]\n\xff\xfe\n")
    log.append(execution(number=2))
    read = read_executions(tmp_path)
    assert ([item["arguments"]["number"] for item in read.items], read.torn) == ([2, 1], 3)


def test_an_append_of_nothing_new_leaves_the_descriptor_closed(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "x")
    file.close()
    assert not (tmp_path / "x").exists()
