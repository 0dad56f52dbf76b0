"""The program of a tool's worker process: loads one script and answers calls to one function of it.

Run as `python worker.py TOOLS_FOLDER SCRIPT [FUNCTION]`. Frames on the protocol are a 4-byte length and
JSON. Whatever the script prints goes to standard error, never into the protocol. Imports the standard
library only, so that a worker starts fast and nothing of Steward leaks into a script's modules.
"""

import asyncio
import contextlib
import dataclasses
import datetime as dt
import decimal
import importlib.util
import inspect
import json
import os
import re
import struct
import sys
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

LENGTH = struct.Struct(">I")
MAX_ANSWER = 4 * 1024 * 1024
MAX_MESSAGE = 2_000
MAX_TRACE = 16_000
ERROR_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,63}")
LONG_NUMBER = re.compile(rb"[0-9]{19}")
ENTRY_POINTS = ("run", "main")


class ScriptProblemError(Exception):
    """The script cannot be called as it is; the message says why."""


class Script:
    def __init__(self, tools: Path, path: Path, function: str | None) -> None:
        self._tools = tools
        self._path = path
        self._function = function
        self._entry: Callable[..., Any] | None = None
        self._known = 0
        self._files: list[str] = []

    def call(self, arguments: dict[str, Any]) -> Any:
        entry = self._entry
        if entry is None:
            entry = self._entry = self._load()
        # `main` takes the whole object, every other function takes its fields by name.
        result = entry(arguments) if self._named_main(entry) else entry(**arguments)
        return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result

    def files(self) -> list[str]:
        """The files of the tools folder in use: a change to any of them makes this worker stale."""
        if len(sys.modules) != self._known:
            self._known = len(sys.modules)
            paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
            inside = str(self._tools) + os.sep
            self._files = sorted({path for path in paths if path and path.startswith(inside)})
        return self._files

    def line_of(self, error: BaseException) -> int | None:
        """The deepest line of the script itself that the error passed through."""
        if isinstance(error, SyntaxError) and error.filename == str(self._path):
            return error.lineno
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(self._path)
        ]
        return lines[-1] if lines else None

    def _load(self) -> Callable[..., Any]:
        spec = importlib.util.spec_from_file_location(self._path.stem, self._path)
        if spec is None or spec.loader is None:
            raise ScriptProblemError(f"{self._path.name} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[self._path.stem] = module
        spec.loader.exec_module(module)
        wanted = (self._function,) if self._function else ENTRY_POINTS
        for name in wanted:
            entry = getattr(module, name, None)
            if callable(entry):
                return entry
        raise ScriptProblemError(f"{self._path.name} has no function {' or '.join(wanted)}")

    def _named_main(self, entry: Callable[..., Any]) -> bool:
        return (self._function or getattr(entry, "__name__", "")) == "main"


async def _awaited(result: Any) -> Any:
    return await result


def plain(value: Any) -> Any:
    """JSON for the values that people return without thinking about JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, Path, decimal.Decimal)):
        return str(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise ScriptProblemError(f"the result holds a {type(value).__name__}, which is not a JSON value")


def wire_integer(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ScriptProblemError("the result holds an integer beyond 64 bits; return it as a string")
    return number


def answer(script: Script, arguments: dict[str, Any]) -> bytes:
    try:
        data = json.dumps({"data": script.call(arguments)}, default=plain, allow_nan=False).encode()
        if len(data) > MAX_ANSWER:
            raise ScriptProblemError(f"the result has {len(data)} bytes, more than the {MAX_ANSWER} allowed")
        if LONG_NUMBER.search(data):
            json.loads(data, parse_int=wire_integer)
        return data
    except BaseException as error:  # noqa: BLE001 - a script may raise anything, sys.exit included
        return json.dumps({"error": described(script, error)}, default=str).encode()


def described(script: Script, error: BaseException) -> dict[str, Any]:
    kind = "" if isinstance(error, ScriptProblemError) else type(error).__name__
    text = str(error)[:MAX_MESSAGE]
    message = ": ".join(part for part in (kind, text) if part)
    code = getattr(error, "code", None)
    return {
        "message": message,
        "line": script.line_of(error),
        # An exception may carry a stable code of its own, as Steward's ToolError does.
        "code": code if isinstance(code, str) and ERROR_CODE.fullmatch(code) else None,
        "retryable": getattr(error, "retryable", None) is True,
        "trace": "".join(traceback.format_exception(error))[-MAX_TRACE:],
    }


def private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move the protocol off the standard streams: input becomes empty, output joins standard error."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def send(stream: BinaryIO, frame: bytes) -> None:
    stream.write(LENGTH.pack(len(frame)) + frame)
    stream.flush()


def serve(script: Script, requests: BinaryIO, answers: BinaryIO) -> None:
    """One call after the other, until Steward closes the pipe."""
    while header := requests.read(LENGTH.size):
        arguments = json.loads(requests.read(LENGTH.unpack(header)[0]))
        send(answers, b"{}")  # from here on the call may have had an effect
        body = answer(script, arguments)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # the script may have closed it
                stream.flush()
        send(answers, json.dumps(script.files()).encode())
        send(answers, body)


def main() -> None:
    requests, answers = private_streams()
    tools, path, function = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] or None
    # The tools folder is not ours to write to, and a change in it is how Steward knows of new modules.
    sys.dont_write_bytecode = True
    sys.path[0] = str(tools)  # scripts import each other, and never Steward's own folder by accident
    sys.argv = [str(path)]
    serve(Script(tools, path, function), requests, answers)


if __name__ == "__main__":
    main()
