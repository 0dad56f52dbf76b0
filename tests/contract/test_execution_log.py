"""What every execution log promises, the shipped stand-in and the files alike."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.recorded import read_lines

from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.orchestrator.ports import Execution, ExecutionLog
from steward.telemetry.executions import ExecutionLogFile
from steward.testing import MemoryExecutionLog


@dataclass
class Subject:
    log: ExecutionLog
    tools_logged: Callable[[], list[str]]
    fill: Callable[[], None]  # so that nothing more can be kept


@pytest.fixture(params=["memory", "files"])
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Subject]:
    if request.param == "memory":
        memory = MemoryExecutionLog()
        yield Subject(
            memory,
            lambda: [execution.tool for execution in memory.executions],
            lambda: setattr(memory, "full", True),
        )
        return
    files = ExecutionLogFile(tmp_path, backlog_lines=1)

    def fill() -> None:
        (tmp_path / f"executions-{datetime.now(UTC).date()}.jsonl").symlink_to("/dev/full")
        files.append(an_execution("kept in memory"))

    yield Subject(
        files,
        lambda: [item["tool"] for item in read_lines(tmp_path, newest_first=False).items],
        fill,
    )
    files.close()


def an_execution(tool: str) -> Execution:
    call = ToolCall(tool=tool, arguments={}, caller=Caller(CallerKind.SYSTEM, "test"))
    return Execution(at=datetime.now(UTC), tool=tool, agent=None, call=call, result=Done(), risk=None)


def test_executions_are_kept_in_order(subject: Subject) -> None:
    for tool in ("one", "two", "three"):
        subject.log.append(an_execution(tool))
    assert subject.tools_logged() == ["one", "two", "three"]
    assert subject.log.accepting()


def test_a_full_log_says_so_and_still_takes_what_was_running(subject: Subject) -> None:
    subject.fill()
    assert not subject.log.accepting()
    subject.log.append(an_execution("was running"))
