"""The record of tool calls, where it is written first: JSON lines in the files of this home.

A call leaves a line once it ended, with what went in and what came out; anything but a declared read of our
own leaves one before it runs as well (`"status": "running"`). Owns the lines and their files by UTC day
(`executions-YYYY-MM-DD.jsonl`, the last thirty days that have lines). Never loses the outcome of a call while
the process lives: what cannot be written waits in a bounded backlog. Does not own the numbers (orchestrator
metrics), diagnostics (log.py), nor how lines reach the other instances (bootstrap/record.py).
"""

import asyncio
import re
import tempfile
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, assert_never

from steward.contract.call import Done, Failed, PendingApproval
from steward.contract.errors import ErrorCode, UnavailableError
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import Clock, Execution, Intent
from steward.orchestrator.proposals import Receipt
from steward.telemetry.append import SYSTEM_CLOCK, DailyAppender, DailyFiles
from steward.telemetry.masking import MASKER, Masker, pack

RETENTION_DAYS = 30
LARGE_LINE = 1 << 16  # bytes; larger lines are masked and written off the call's path
BACKLOG_LINES = 10_000
BACKLOG_BYTES = 64 << 20
CLOSING_SECONDS = 5.0
FLUSH_SECONDS = 30.0
READS_AT_ONCE = 64
READS_WAIT = 0.02  # seconds; what a kill may take of reads

_NAME = "executions"
_OUR_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class _LogEntry:
    day: date
    line: bytes
    masked: bool


class ExecutionLogFile:
    """Implements the orchestrator's `ExecutionLog`.

    A line is written by the caller in one append. While earlier lines wait (large ones, or ones the disk
    refused), later lines queue behind them and a thread writes them all in order, so the order is kept
    and the caller only enqueues. A refused line is tried again with the next append and on close. What only
    read is written together with other such lines, a moment after its answer left.
    """

    def __init__(
        self,
        folder: Path,
        *,
        program: int = 0,
        clock: Clock = SYSTEM_CLOCK,
        retention_days: int = RETENTION_DAYS,
        masker: Masker = MASKER,
        backlog_lines: int = BACKLOG_LINES,
        backlog_bytes: int = BACKLOG_BYTES,
        reads_wait: float = READS_WAIT,
    ) -> None:
        self.files = DailyFiles(folder, _NAME)
        self.written = 0  # lines that this program wrote
        self._appender = DailyAppender(self.files, keep_days=retention_days)
        self._program = program  # whose calls these are, for whoever asks later whether it lives
        self._clock = clock
        self._masker = masker
        self._name = lru_cache(maxsize=4096)(masker.value)
        self._backlog_lines = backlog_lines
        self._backlog_bytes = backlog_bytes
        self._reads_wait = reads_wait
        self._reads: deque[Execution] = deque()  # reads whose lines wait for each other
        self._waiting: deque[_LogEntry] = deque()
        self._waiting_bytes = 0
        self._lost = 0
        self._refusal: str | None = None  # what the last failed write said
        self._lock = threading.Lock()  # guards everything above; never held while masking
        self._settled = threading.Condition(self._lock)  # the writer has done what it could
        self._more = threading.Event()  # there is something for the writer
        self._writer: threading.Thread | None = None
        self._closed = False
        self._room_seen = False  # whether a line would have found room when we first looked

    async def begin(self, intent: Intent) -> None:
        facts: dict[str, Any] = {
            "at": _moment(intent.at),
            "tool": self._name(intent.tool),
            "agent": self._name(intent.agent),
            **self._who(intent),
            "status": "running",
            "program": self._program,
            "risk": intent.risk.value if intent.risk else None,
            "confidence": intent.call.confidence,
        }
        packed = self._packed({"arguments": intent.call.arguments})
        if len(packed) > LARGE_LINE:
            packed = await asyncio.to_thread(self._masker.masked_json, packed)
        else:
            packed = self._masker.masked_json(packed)
        line = b"%b,%b" % (pack(facts)[:-1], packed[1:])
        with self._lock:  # not behind what waits: it must be there before the call runs
            written = self._write(intent.at.astimezone(UTC).date(), [line])
        if written and intent.risk is RiskLevel.IRREVERSIBLE:
            written = await asyncio.to_thread(self._synced)
        if not written:
            raise UnavailableError(
                f"Nothing was run: it cannot be put on record ({self._refusal}).",
                code=ErrorCode.RECORD_FAILED,
                fix="Free disk space; 'steward doctor' says where.",
            )

    def _synced(self) -> bool:
        try:
            with self._lock:
                sync = self._appender.syncing()
            if sync is not None:
                sync()
        except OSError as error:
            self._refusal = error.strerror or str(error)
            return False
        return True

    def note(self, entry: Mapping[str, Any]) -> None:
        """A line about calls that are over. Raises UnavailableError where it cannot be written."""
        with self._lock:
            today = self._clock.now().astimezone(UTC).date()
            written = self._write(today, [self._masker.dumps(entry)])
        if not written:
            raise UnavailableError(
                f"The record cannot be written: {self._refusal}.", code=ErrorCode.RECORD_FAILED
            )

    def append(self, execution: Execution) -> None:
        self._reads.append(execution)
        if execution.only_read and len(self._reads) < READS_AT_ONCE:
            with suppress(RuntimeError):  # no loop, no later
                if len(self._reads) == 1:
                    asyncio.get_running_loop().call_later(self._reads_wait, self.catch_up)
                return
        self.catch_up()

    def catch_up(self) -> None:
        """Write the reads that wait for each other: looked at for secrets and written in one go."""
        taken: list[Execution] = []
        with suppress(IndexError):  # another thread may take some of them
            while True:
                taken.append(self._reads.popleft())
        lines = [(each, self._packed(_payload(each))) for each in taken]
        small = [packed for _, packed in lines if len(packed) <= LARGE_LINE]
        clean = len(small) > 1 and not self._masker.suspicious(b"\n".join(small))
        entries = [self._entry(each, packed, clean=clean) for each, packed in lines]
        with self._lock:
            self._take(entries)

    def _entry(self, execution: Execution, packed: bytes, *, clean: bool) -> _LogEntry:
        large = len(packed) > LARGE_LINE
        if not large and not clean:
            packed = self._masker.masked_json(packed)
        facts = pack(self._facts(execution))
        day = execution.at.astimezone(UTC).date()
        return _LogEntry(day, b"%b,%b" % (facts[:-1], packed[1:]), masked=not large)

    def _packed(self, payload: Mapping[str, Any]) -> bytes:
        try:
            return pack(payload)
        except (TypeError, ValueError, RecursionError):  # an agent answered with more than JSON can carry
            return self._masker.dumps(payload)

    def accepting(self) -> bool:
        if not self._room_seen:
            self._room_seen = self.has_room()
        return (
            self._room_seen
            and len(self._waiting) < self._backlog_lines
            and self._waiting_bytes < self._backlog_bytes
        )

    def has_room(self) -> bool:
        """Whether a line would find room on the disk now.

        Looked at before the first call: a command that lives for one call has no later to write it in.
        """
        try:
            self.files.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=self.files.folder) as probe:
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
        parts = [f"The execution log in {self.files.folder} cannot be written: {refusal}."] if refusal else []
        if waiting:
            parts.append(f"{waiting} lines wait in memory and are tried again with the next call.")
        if lost:
            parts.append(f"{lost} lines are lost because the backlog was full.")
        return " ".join(parts)

    def flush(self, timeout: float = FLUSH_SECONDS) -> bool:
        """Try to write all that waits; False when some of it still waits after that."""
        self.catch_up()
        with self._settled:
            if self._waiting:
                self._wake()
                self._settled.wait(timeout)
            return not self._waiting

    def close(self) -> int:
        """Write what still waits; answers how many lines could not be written."""
        self.catch_up()
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
            "at": _moment(execution.at),
            "tool": self._name(execution.tool),
            "agent": self._name(execution.agent),
            **self._who(execution),
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

    def _who(self, line: Execution | Intent) -> dict[str, Any]:
        call = line.call
        facts: dict[str, Any] = {
            "caller": {"kind": call.caller.kind.value, "id": self._name(call.caller.id)},
            "user": self._name(line.user or call.user),
            "correlation_id": self._identifier(call.correlation_id),
            "call_id": self._identifier(call.call_id),
        }
        if call.incidental:
            facts["incidental"] = True
        if line.receipt is not None:
            facts["approved"] = self._masker.value(_approval(line.receipt))
        return facts

    def _identifier(self, identifier: str) -> str:
        return identifier if _OUR_ID.fullmatch(identifier) else self._name(identifier)

    # The next five run with the lock held.

    def _take(self, entries: Sequence[_LogEntry]) -> None:
        """Written at once where nothing waits; else behind what waits, and in order."""
        for (day, masked), group in groupby(entries, lambda each: (each.day, each.masked)):
            some = list(group)
            if masked and not self._waiting and self._write(day, [each.line for each in some]):
                continue
            wake = (
                bool(self._waiting) or not masked
            )  # a line that the disk refused is tried with the next one
            for each in some:
                self._keep(each, wake=wake)

    def _keep(self, entry: _LogEntry, *, wake: bool = True) -> None:
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

    def _write(self, day: date, lines: Sequence[bytes]) -> bool:
        try:
            self._appender.append(b"\n".join(lines), day=day)
        except OSError as error:
            self._refusal = error.strerror or str(error)
            return False
        self._refusal = None
        self.written += len(lines)
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

    def _written(self, entry: _LogEntry) -> bool:
        line = entry.line if entry.masked else self._masker.masked_json(entry.line)
        with self._lock:
            if not self._write(entry.day, [line]):
                return False
            self._waiting_bytes -= len(self._waiting.popleft().line)
            return True


def _payload(execution: Execution) -> dict[str, Any]:
    """What came out, the part that may hold anything; and what went in, unless the intent says it."""
    result = execution.result
    payload: dict[str, Any] = {} if execution.begun else {"arguments": execution.call.arguments}
    match result:
        case Done():
            return payload | {"output": result.data, "error": None}
        case Failed():
            return payload | {"output": result.data, "error": result.error}
        case PendingApproval():
            return payload | {"output": None, "error": result.reason}
        case _:
            assert_never(result)


def _approval(receipt: Receipt) -> dict[str, Any]:
    """Who said yes to what. Digests, not arguments: those stand on the line."""
    return {
        "by": receipt.approver,
        "at": _moment(receipt.approved_at),
        "via": receipt.via,
        "answered_by": receipt.answered_by.value,
        "role": receipt.role,
        "client": receipt.client,
        "edited": receipt.edited,
        "digest": receipt.digest,
        "definition": receipt.definition_hash,
    }


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
