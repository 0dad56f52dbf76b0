"""The execution log: one JSON line for every tool call, with what went in and what came out.

Owns the line, its file by UTC day (`executions-YYYY-MM-DD.jsonl`), thirty days of them, and reading
them back. Never loses a line that it accepted while the process lives: what cannot be written waits in
a bounded backlog. Does not own the numbers (orchestrator metrics) or diagnostics (log.py).
"""

import asyncio
import re
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, assert_never

import orjson

from steward.contract.call import Done, Failed, PendingApproval
from steward.contract.errors import InputError
from steward.orchestrator.ports import Clock, Execution
from steward.telemetry.append import SYSTEM_CLOCK, DailyAppender, DailyFiles, Line, lines
from steward.telemetry.masking import MASKER, Masker, pack

RETENTION_DAYS = 30
LARGE_LINE = 1 << 16  # bytes; larger lines are masked and written off the call's path
BACKLOG_LINES = 10_000
BACKLOG_BYTES = 64 << 20
CLOSING_SECONDS = 5.0
FLUSH_SECONDS = 30.0

_NAME = "executions"
_OUR_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class _Entry:
    day: date
    line: bytes
    masked: bool


class ExecutionLogFile:
    """Implements the orchestrator's `ExecutionLog`.

    A line is written by the caller in one append. While earlier lines wait (large ones, or ones the disk
    refused), later lines queue behind them and a thread writes them all in order, so the order is kept
    and the caller only enqueues. A refused line is tried again with the next append and on close. What only
    read is written in the loop's next turn, after its answer left.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock = SYSTEM_CLOCK,
        retention_days: int = RETENTION_DAYS,
        masker: Masker = MASKER,
        backlog_lines: int = BACKLOG_LINES,
        backlog_bytes: int = BACKLOG_BYTES,
    ) -> None:
        self._files = DailyFiles(folder, _NAME)
        self._appender = DailyAppender(self._files, keep_days=retention_days)
        self._clock = clock
        self._masker = masker
        self._name = lru_cache(maxsize=4096)(masker.value)
        self._backlog_lines = backlog_lines
        self._backlog_bytes = backlog_bytes
        self._next_turn: deque[Execution] = deque()
        self._waiting: deque[_Entry] = deque()
        self._waiting_bytes = 0
        self._lost = 0
        self._refusal: str | None = None  # what the last failed write said
        self._lock = threading.Lock()  # guards everything above; never held while masking
        self._settled = threading.Condition(self._lock)  # the writer has done what it could
        self._more = threading.Event()  # there is something for the writer
        self._writer: threading.Thread | None = None
        self._closed = False
        self._room_seen = False  # whether a line would have found room when we first looked

    def append(self, execution: Execution) -> None:
        if execution.only_read:
            with suppress(RuntimeError):  # no loop, no next turn
                asyncio.get_running_loop().call_soon(self._catch_up)
                self._next_turn.append(execution)
                return
        self._catch_up()
        self._append(execution)

    def _catch_up(self) -> None:
        while self._next_turn:
            self._append(self._next_turn.popleft())

    def _append(self, execution: Execution) -> None:
        day = execution.at.astimezone(UTC).date()
        facts = pack(self._facts(execution))
        payload = _payload(execution)
        try:
            packed = pack(payload)
        except (TypeError, ValueError, RecursionError):  # an agent answered with more than JSON can carry
            packed = self._masker.dumps(payload)
        large = len(packed) > LARGE_LINE
        if not large:
            packed = self._masker.masked_json(packed)
        entry = _Entry(day, b"%b,%b" % (facts[:-1], packed[1:]), masked=not large)
        with self._lock:
            if self._waiting or large:
                self._keep(entry)
            elif not self._write(entry):
                self._keep(entry, wake=False)

    def accepting(self) -> bool:
        if not self._room_seen:
            self._room_seen = self._has_room()
        return (
            self._room_seen
            and len(self._waiting) < self._backlog_lines
            and self._waiting_bytes < self._backlog_bytes
        )

    def _has_room(self) -> bool:
        """Looked at before the first call: a command that lives for one call has no later to write it in."""
        try:
            self._files.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=self._files.folder) as probe:
                probe.write(bytes(LARGE_LINE))
                probe.flush()
        except OSError as error:
            with self._lock:
                self._refusal = error.strerror or str(error)
            return False
        with self._lock:
            self._refusal = self._refusal if self._waiting else None
        return True

    def problem(self) -> str | None:
        """What is wrong with the log, for health and doctor; None when all is well."""
        with self._lock:
            if self._refusal is None and not self._lost:
                return None
            waiting, lost, refusal = len(self._waiting), self._lost, self._refusal
        parts = (
            [f"The execution log in {self._files.folder} cannot be written: {refusal}."] if refusal else []
        )
        if waiting:
            parts.append(f"{waiting} lines wait in memory and are tried again with the next call.")
        if lost:
            parts.append(f"{lost} lines are lost because the backlog was full.")
        return " ".join(parts)

    def flush(self, timeout: float = FLUSH_SECONDS) -> bool:
        """Try to write all that waits; False when some of it still waits after that."""
        self._catch_up()
        with self._settled:
            if self._waiting:
                self._wake()
                self._settled.wait(timeout)
            return not self._waiting

    def close(self) -> int:
        """Write what still waits; answers how many lines could not be written."""
        self._catch_up()
        with self._lock:
            self._closed = True
            if self._waiting:
                self._wake()
            self._more.set()
        before = -1
        while self._writer is not None and self._writer.is_alive() and before != len(self._waiting):
            before = len(self._waiting)  # as long as lines get written, they are waited for
            self._writer.join(CLOSING_SECONDS)
        with self._lock:
            self._appender.close()
            return len(self._waiting)

    def _facts(self, execution: Execution) -> dict[str, Any]:
        """Who, what, when and how it ended. Names repeat, so each is looked at for secrets only once."""
        call, result = execution.call, execution.result
        facts: dict[str, Any] = {
            "at": execution.at.astimezone(UTC).isoformat(timespec="microseconds"),
            "tool": self._name(execution.tool),
            "agent": self._name(execution.agent),
            "caller": {"kind": call.caller.kind.value, "id": self._name(call.caller.id)},
            "user": self._name(call.user),
            "correlation_id": self._identifier(call.correlation_id),
            "call_id": self._identifier(call.call_id),
            "status": "done",
            "code": None,
            "duration_ms": round(result.duration_ms, 3),
            "risk": execution.risk.value if execution.risk else None,
            "confidence": call.confidence,
        }
        match result:
            case Done():
                pass
            case Failed():
                facts["status"], facts["code"] = "failed", str(result.code)
                if result.outcome_unknown:
                    facts["outcome_unknown"] = True
            case PendingApproval():
                facts["status"], facts["proposal_id"] = "pending_approval", result.proposal_id
            case _:
                assert_never(result)
        return facts

    def _identifier(self, identifier: str) -> str:
        return identifier if _OUR_ID.fullmatch(identifier) else self._name(identifier)

    # The next four run with the lock held.

    def _keep(self, entry: _Entry, *, wake: bool = True) -> None:
        # The door closes when the backlog is full, but calls that run at that moment still report here.
        if len(self._waiting) >= 2 * self._backlog_lines or self._waiting_bytes >= 2 * self._backlog_bytes:
            self._lost += 1
            return
        self._waiting.append(entry)
        self._waiting_bytes += len(entry.line)
        if wake:
            self._wake()

    def _wake(self) -> None:
        if self._writer is None:
            self._writer = threading.Thread(target=self._run, name="execution-log", daemon=True)
            self._writer.start()
        self._more.set()

    def _write(self, entry: _Entry) -> bool:
        try:
            self._appender.append(entry.line, day=entry.day, today=self._clock.now().astimezone(UTC).date())
        except OSError as error:
            self._refusal = error.strerror or str(error)
            return False
        self._refusal = None
        return True

    def _run(self) -> None:
        """The writer's life. While something waits, nobody else writes or takes from the queue."""
        while True:
            self._more.wait()
            self._more.clear()
            while self._waiting and self._written(self._waiting[0]):
                pass
            with self._settled:
                self._settled.notify_all()
                if self._closed:
                    return

    def _written(self, entry: _Entry) -> bool:
        line = entry.line if entry.masked else self._masker.masked_json(entry.line)
        with self._lock:
            if not self._write(_Entry(entry.day, line, masked=True)):
                return False
            self._waiting_bytes -= len(self._waiting.popleft().line)
            return True


def _payload(execution: Execution) -> dict[str, Any]:
    """What went in and what came out: the part that may hold anything."""
    result = execution.result
    match result:
        case Done():
            return {"arguments": execution.call.arguments, "output": result.data, "error": None}
        case Failed():
            return {"arguments": execution.call.arguments, "output": result.data, "error": result.error}
        case PendingApproval():
            return {"arguments": execution.call.arguments, "output": None, "error": result.reason}
        case _:
            assert_never(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Executions:
    """A slice of the log; `next` goes into `after` for the following slice, None at the end."""

    items: tuple[dict[str, Any], ...]
    next: str | None = None
    torn: int = 0  # lines met on the way that were cut short by a full disk or a crash


def read_executions(
    folder: Path,
    *,
    tool: str | None = None,
    status: str | None = None,
    since: datetime | None = None,
    correlation_id: str | None = None,
    limit: int = 50,
    newest_first: bool = True,
    after: str | None = None,
) -> Executions:
    """Read the log from its newest (or oldest) end, a block at a time, until `limit` lines fit."""
    wanted = {"tool": tool, "status": status, "correlation_id": correlation_id}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    needles = [orjson.dumps(value)[1:-1] for value in wanted.values()]
    earliest = since.astimezone(UTC).isoformat(timespec="microseconds") if since else ""
    items: list[dict[str, Any]] = []
    torn = 0
    last: tuple[date, int] | None = None
    for day, line in _walk(DailyFiles(folder, _NAME), since=since, newest_first=newest_first, after=after):
        if not all(needle in line.content for needle in needles):
            continue  # cheaper than parsing what does not fit
        entry = line.parsed()
        if entry is None:
            torn += 1
        elif entry.get("at", "") >= earliest and all(
            entry.get(name) == value for name, value in wanted.items()
        ):
            if len(items) == limit:
                assert last is not None
                return Executions(items=tuple(items), next=f"{last[0].isoformat()}:{last[1]}", torn=torn)
            items.append(entry)
            last = (day, line.offset)
    return Executions(items=tuple(items), torn=torn)


def _walk(
    files: DailyFiles, *, since: datetime | None, newest_first: bool, after: str | None
) -> Iterator[tuple[date, Line]]:
    seen = _cursor(after)
    for day in sorted(files.days(), reverse=newest_first):
        if since and day < since.astimezone(UTC).date():
            continue
        if seen and (day > seen[0] if newest_first else day < seen[0]):
            continue
        position = seen[1] if seen and day == seen[0] else None
        for line in lines(files.path(day), order="newest" if newest_first else "oldest", position=position):
            yield day, line


def _cursor(after: str | None) -> tuple[date, int] | None:
    if after is None:
        return None
    day, _, offset = after.partition(":")
    try:
        cursor = date.fromisoformat(day), int(offset)
    except ValueError:
        cursor = None
    if cursor is None or cursor[1] < 0:
        raise InputError(
            f"'{after}' is no place in the execution log.", fix="Use the 'next' of an earlier answer."
        )
    return cursor
