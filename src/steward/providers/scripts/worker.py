"""The program of a tool's worker process: loads one script and answers calls to one function of it.

Run as `python worker.py TOOLS_FOLDER SCRIPT [FUNCTION]`. Frames on the protocol are a 4-byte length and
JSON; the first one says which files of the folder may be loaded, each by its digest. What is loaded is the
text that was digested, never bytecode that lies beside it. Whatever the script prints goes to standard error,
never into the protocol. Imports the standard library only, and of that what every call needs: the first call
of a tool waits for this program to start, and nothing of Steward leaks into a script's modules.
"""

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import struct
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, ModuleType
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


class ChangedScriptError(Exception):
    """A file is not the one that was looked at before the call: nothing of it ran."""

    code = "TOOL_CHANGED"


class Sources:
    """The files of the tools folder that may be loaded, each only with the text it had."""

    def __init__(self, folder: Path, digests: dict[str, str]) -> None:
        self.folder = folder
        self._digests = digests

    def text(self, path: str) -> bytes:
        source = Path(path).read_bytes()
        inside = os.path.relpath(path, self.folder)
        if self._digests.get(inside) != hashlib.sha256(source).hexdigest():
            raise ChangedScriptError(f"{inside} is not what it was when this call was looked at")
        return source

    def places(self, path: "Sequence[str] | None") -> list[Path]:
        """Where modules of the folder are looked for: at its top, or in a package of it."""
        if path is None:
            return [self.folder]
        return [Path(place) for place in path if Path(place).is_relative_to(self.folder)]


class SourceLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, sources: Sources) -> None:
        super().__init__(name, path)
        self._sources = sources

    def get_code(self, fullname: str) -> "CodeType":
        path = self.get_filename(fullname)
        return self.source_to_code(self._sources.text(path), path)


class SourceFinder:
    """Modules and packages of the folder."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def find_spec(
        self,
        fullname: str,
        path: "Sequence[str] | None",
        target: "ModuleType | None" = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        name = fullname.rpartition(".")[2]
        for place in self._sources.places(path):
            for file, inside in (
                (place / name / "__init__.py", [str(place / name)]),
                (place / f"{name}.py", None),
            ):
                if file.is_file():
                    loader = SourceLoader(fullname, str(file), self._sources)
                    return importlib.util.spec_from_file_location(
                        fullname, file, loader=loader, submodule_search_locations=inside
                    )
        return None


class FolderFinder(SourceFinder):
    """Folders without `__init__.py`, where nothing else has that name."""

    def find_spec(
        self,
        fullname: str,
        path: "Sequence[str] | None",
        target: "ModuleType | None" = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        name = fullname.rpartition(".")[2]
        inside = [str(place / name) for place in self._sources.places(path) if (place / name).is_dir()]
        if not inside:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = inside
        return spec


class Script:
    def __init__(self, sources: Sources, path: Path, function: str | None) -> None:
        self._sources = sources
        self._path = path
        self._function = function
        self._entry: Callable[..., Any] | None = None

    def call(self, arguments: "dict[str, Any]") -> "Any":
        entry = self._entry
        if entry is None:
            entry = self._entry = self._load()
        # `main` takes the whole object, every other function takes its fields by name.
        result = entry(arguments) if self._named_main(entry) else entry(**arguments)
        return _run(result) if hasattr(result, "__await__") else result

    def line_of(self, error: BaseException) -> int | None:
        """The deepest line of the script itself that the error passed through."""
        if isinstance(error, SyntaxError) and error.filename == str(self._path):
            return error.lineno
        import traceback  # noqa: PLC0415 - only what failed needs it

        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(self._path)
        ]
        return lines[-1] if lines else None

    def _load(self) -> "Callable[..., Any]":
        loader = SourceLoader(self._path.stem, str(self._path), self._sources)
        spec = importlib.util.spec_from_file_location(self._path.stem, self._path, loader=loader)
        if spec is None or self._path.suffix != ".py":
            raise ScriptProblemError(f"{self._path.name} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[self._path.stem] = module
        loader.exec_module(module)
        wanted = (self._function,) if self._function else ENTRY_POINTS
        for name in wanted:
            entry = getattr(module, name, None)
            if callable(entry):
                return entry
        raise ScriptProblemError(f"{self._path.name} has no function {' or '.join(wanted)}")

    def _named_main(self, entry: "Callable[..., Any]") -> bool:
        return (self._function or getattr(entry, "__name__", "")) == "main"


def _run(result: "Any") -> "Any":
    import asyncio  # noqa: PLC0415 - most of a worker's start, and few scripts need it

    async def awaited() -> "Any":
        return await result

    return asyncio.run(awaited())


def _is(value: "Any", module: str, *names: str) -> bool:
    """Whether it is of one of these classes; nobody has one of a module that was never loaded."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, tuple(getattr(loaded, name) for name in names))


def plain(value: "Any") -> "Any":
    """JSON for the values that people return without thinking about JSON."""
    if hasattr(value.__class__, "__dataclass_fields__"):
        import dataclasses  # noqa: PLC0415 - loaded already, by whoever made the value

        return dataclasses.asdict(value)
    if _is(value, "datetime", "datetime", "date", "time"):
        return value.isoformat()
    if isinstance(value, Path) or _is(value, "uuid", "UUID") or _is(value, "decimal", "Decimal"):
        return str(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise ScriptProblemError(f"the result holds a {type(value).__name__}, which is not a JSON value")


def wire_integer(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ScriptProblemError("the result holds an integer beyond 64 bits; return it as a string")
    return number


def answer(script: Script, arguments: "dict[str, Any]") -> bytes:
    try:
        data = json.dumps({"data": script.call(arguments)}, default=plain, allow_nan=False).encode()
        if len(data) > MAX_ANSWER:
            raise ScriptProblemError(f"the result has {len(data)} bytes, more than the {MAX_ANSWER} allowed")
        if LONG_NUMBER.search(data):
            json.loads(data, parse_int=wire_integer)
        return data
    except BaseException as error:  # noqa: BLE001 - a script may raise anything, sys.exit included
        return json.dumps({"error": described(script, error)}, default=str).encode()


def described(script: Script, error: BaseException) -> "dict[str, Any]":
    import traceback  # noqa: PLC0415 - only what failed needs it

    kind = "" if isinstance(error, ScriptProblemError | ChangedScriptError) else type(error).__name__
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


def private_streams() -> "tuple[BinaryIO, BinaryIO]":
    """Move the protocol off the standard streams: input becomes empty, output joins standard error."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def send(stream: "BinaryIO", frame: bytes) -> None:
    stream.write(LENGTH.pack(len(frame)) + frame)
    stream.flush()


def receive(stream: "BinaryIO") -> bytes | None:
    header = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(header)[0]) if header else None


def serve(script: Script, requests: "BinaryIO", answers: "BinaryIO") -> None:
    """One call after the other, until Steward closes the pipe."""
    while (frame := receive(requests)) is not None:
        arguments = json.loads(frame)
        send(answers, b"{}")  # from here on the call may have had an effect
        body = answer(script, arguments)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # the script may have closed it
                stream.flush()
        send(answers, body)


def main() -> None:
    requests, answers = private_streams()
    tools, path, function = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] or None
    sources = Sources(tools, json.loads(receive(requests) or b"{}"))
    # Scripts import each other, as they were digested, and never Steward's own folder by accident.
    del sys.path[0]
    usual = sys.meta_path.index(importlib.machinery.PathFinder)
    sys.meta_path.insert(usual, SourceFinder(sources))
    sys.meta_path.append(FolderFinder(sources))
    sys.argv = [str(path)]
    serve(Script(sources, path, function), requests, answers)


if __name__ == "__main__":
    main()
