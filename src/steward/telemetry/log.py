"""Structured logs of the program itself: JSON lines in `steward.log`, masked, rotated by size.

Owns the file, its shape and what reaches the terminal (nothing, unless debugging). Stack traces are
kept here and shown to nobody else. Does not own the record of tool calls (executions.py).
"""

import logging
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from steward.contract.call import current_call
from steward.telemetry.append import AppendFile
from steward.telemetry.masking import MASKER, Masker

LOG_NAME = "steward.log"
FILE_BYTES = 10 << 20
KEPT_FILES = 5

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "fields"}


def event(logger: logging.Logger, name: str, /, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log that something happened: a stable name and its facts."""
    if logger.isEnabledFor(level):
        logger.log(level, name, extra={"fields": fields}, stacklevel=2)


class JsonFormatter(logging.Formatter):
    """One JSON object a record, with the correlation id of the call it belongs to."""

    def __init__(self, masker: Masker = MASKER) -> None:
        super().__init__()
        self._masker = masker

    def format(self, record: logging.LogRecord) -> str:
        return self.line(record).decode()

    def line(self, record: logging.LogRecord) -> bytes:
        said: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _message(record),
        }
        call = current_call.get()
        if call is not None:
            said |= {"correlation_id": call.correlation_id, "call_id": call.call_id}
        said |= _facts(record)
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return self._masker.dumps(said)


class ReadableFormatter(logging.Formatter):
    """For a person who debugs: a line of text, facts as name=value."""

    def __init__(self, masker: Masker = MASKER) -> None:
        super().__init__()
        self._masker = masker

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        facts = " ".join(f"{name}={value}" for name, value in self._masker.value(_facts(record)).items())
        text = f"{at} {record.levelname.lower():7} {record.name}: {_message(record)} {facts}".rstrip()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        return self._masker.text(text)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # arguments that do not fit: say what can be said
        return str(record.msg)


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    return facts | getattr(record, "fields", {})


class LogFileHandler(logging.Handler):
    """Appends lines to a file that several processes share; the first to find it full rotates it."""

    def __init__(
        self, path: Path, *, masker: Masker = MASKER, file_bytes: int = FILE_BYTES, kept: int = KEPT_FILES
    ) -> None:
        super().__init__()
        self.path = path
        self._file = AppendFile(path)
        self._file_bytes = file_bytes
        self._kept = kept
        self._json = JsonFormatter(masker)
        self.setFormatter(self._json)
        self.problem: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self._json.line(record)
            if self._file.size() + len(line) > self._file_bytes:
                self._rotate()
            self._file.append(line)
        except OSError as error:  # a log must not break what it tells about
            self.problem = error.strerror or str(error)
        else:
            self.problem = None

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()
        super().close()

    def _rotate(self) -> None:
        # Another process may be doing the same: then the file is locked, gone or already small again.
        with suppress(Timeout, FileNotFoundError), FileLock(f"{self.path}.lock", timeout=0):
            if self.path.stat().st_size > self._file_bytes // 2:
                for number in range(self._kept - 1, 0, -1):
                    with suppress(FileNotFoundError):
                        self._numbered(number).replace(self._numbered(number + 1))
                self.path.replace(self._numbered(1))
        self._file.close()

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


class Logging:
    """What `configure_logging` set up; `close` puts everything back."""

    def __init__(self, handlers: list[logging.Handler]) -> None:
        self._handlers = handlers

    def problem(self) -> str | None:
        """Why the log file cannot be written, for health and doctor; None when it can."""
        for handler in self._handlers:
            if isinstance(handler, LogFileHandler) and handler.problem:
                return f"The log {handler.path} cannot be written: {handler.problem}."
        return None

    def close(self) -> None:
        for handler in self._handlers:
            logging.getLogger().removeHandler(handler)
            handler.close()


_current: Logging | None = None
_configuring = threading.Lock()


def configure_logging(
    folder: Path, level: int | str = logging.INFO, *, debug: bool = False, masker: Masker = MASKER
) -> Logging:
    """Send our events at `level` and everybody's warnings to `folder/steward.log`.

    The terminal stays quiet; with `debug` a person can read along on stderr. A second call replaces
    the first.
    """
    global _current  # noqa: PLW0603  (the standard library's logging is one per process, so is this)
    handlers: list[logging.Handler] = [LogFileHandler(folder / LOG_NAME, masker=masker)]
    if debug:
        terminal = logging.StreamHandler(sys.stderr)
        terminal.setFormatter(ReadableFormatter(masker))
        handlers.append(terminal)
    with _configuring:
        if _current is not None:
            _current.close()
        for handler in handlers:
            logging.getLogger().addHandler(handler)
        logging.getLogger("steward").setLevel(logging.DEBUG if debug else level)
        _current = Logging(handlers)
        return _current
