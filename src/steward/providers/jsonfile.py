"""Reading and replacing a JSON configuration file that people edit too.

Owns positions for error messages, the cross-process lock and atomic replacement. Knows no schema.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import filelock

from steward.contract.errors import ConfigError, ErrorCode, UnavailableError

LOCK_SECONDS = 30.0
MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A parsed file that still knows where each value stands."""

    path: Path
    text: str
    value: Any

    def line(self, path: Sequence[str | int]) -> int:
        """The line of the value at `path`, or of the deepest part of the path that is there."""
        return self.text.count("\n", 0, _offset(self.text, path)) + 1

    def column(self, path: Sequence[str | int]) -> int:
        offset = _offset(self.text, path)
        return offset - self.text.rfind("\n", 0, offset)

    def fail(self, path: Sequence[str | int], problem: str, *, fix: str) -> NoReturn:
        raise ConfigError(f"{self.path}, line {self.line(path)}: {problem}.", fix=fix)


def read_json(path: Path, *, fix_missing: str) -> JsonDocument:
    """Raise `ConfigError` naming file, line and fix when it is missing or not JSON."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError as error:
        raise ConfigError(f"{path} is missing.", code=ErrorCode.CONFIG_MISSING, fix=fix_missing) from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.", fix="Check the path and its permissions."
        ) from error
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{path} has {len(raw)} bytes.", fix=f"Keep it below {MAX_BYTES} bytes.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}, line {line}: this is not UTF-8.", fix="Save the file as UTF-8."
        ) from error
    return parse_json(path, text)


def parse_json(path: Path, text: str) -> JsonDocument:
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_constants)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}, line {error.lineno}, column {error.colno}: {error.msg}.", fix="Correct the JSON there."
        ) from error
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply.", fix="Flatten it.") from error
    except ValueError as error:
        raise ConfigError(f"{path}: {error}.", fix="Correct the JSON there.") from error
    return JsonDocument(path, text, value)


def replace_file(path: Path, content: bytes) -> None:
    """All of it or nothing, on the disk when this returns; readers see the old file or the new one."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def locked(path: Path, *, seconds: float = LOCK_SECONDS) -> Generator[None]:
    """One writer of `path` at a time, between processes too. Blocks: async callers use a thread."""
    lock = filelock.FileLock(path.with_name(path.name + ".lock"), timeout=seconds, thread_local=False)
    try:
        lock.acquire(poll_interval=0.01)
    except filelock.Timeout as error:
        raise UnavailableError(
            f"Another program holds {path.name} for more than {seconds:g} s.",
            fix="Try again, or end that program.",
        ) from error
    try:
        yield
    finally:
        lock.release()


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{twice}' stands twice in one object")
    return result


def _no_constants(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder()


def _offset(text: str, path: Sequence[str | int]) -> int:
    """Where the value at `path` starts; `text` is known to be valid JSON."""
    at = _skip(text, 0)
    for part in path:
        inner = _child(text, at, part)
        if inner is None:
            return at
        at = inner
    return at


def _child(text: str, at: int, part: str | int) -> int | None:
    if text[at] not in "{[":
        return None
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "}]":
        key: str | int = index
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == part:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1
    return None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
