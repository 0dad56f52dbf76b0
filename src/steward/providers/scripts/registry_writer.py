"""Changes to tools.json, one after the other: checked, written, loaded, or not made at all.

Owns the queue and the rollback. Does not own who may change tools (surfaces) or the file (tools_config.py).
A change that was accepted goes through even when whoever asked for it leaves meanwhile.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

import orjson

from steward.contract.errors import (
    AgentError,
    ConflictError,
    ErrorCode,
    InputError,
    StewardError,
    UnavailableError,
)
from steward.providers.jsonfile import locked, replace_file
from steward.providers.scripts.script_agent import AGENT_ID, ScriptToolsAgent
from steward.providers.scripts.script_check import check_script
from steward.providers.scripts.tools_config import LocalTools, ToolEntry, ToolsFileReading

logger = logging.getLogger(__name__)

MAX_WAITING = 1_000
MAX_SCRIPT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class AddTool:
    entry: ToolEntry
    source: str | None = None  # the script's text, where it comes along


@dataclass(frozen=True, slots=True)
class UpdateTool:
    entry: ToolEntry
    source: str | None = None
    before: str | None = None  # the fingerprint of what its writer has seen; None: whatever stands there


@dataclass(frozen=True, slots=True)
class RemoveTool:
    name: str
    with_script: bool = False  # the script goes as well: it came with the tool


def fingerprint(entry: ToolEntry, source: str | None) -> str:
    """Another one as soon as the entry or the text of its script is another."""
    return hashlib.sha256(orjson.dumps([entry.shape(), source], option=orjson.OPT_SORT_KEYS)).hexdigest()


Change = AddTool | UpdateTool | RemoveTool


@dataclass(frozen=True, slots=True)
class Applied:
    entry: ToolEntry
    warnings: tuple[str, ...] = ()


Owner = Callable[[str], str | None]
"""Which agent provides a tool of this name now."""


class RegistryWriter:
    """`submit` from anywhere in the process; other processes are kept apart by the file's lock."""

    def __init__(
        self,
        agent: ScriptToolsAgent,
        *,
        owner: Owner,
        shared: Callable[[], contextlib.AbstractAsyncContextManager[None]] = contextlib.nullcontext,
    ) -> None:
        """Within `shared` the file is the newest of all instances, and the change of it goes to them."""
        self._agent = agent
        self._shared = shared
        self._file = agent.file
        self._owner = owner
        self._queue: asyncio.Queue[tuple[Change, asyncio.Future[Applied]]] = asyncio.Queue(MAX_WAITING)
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, change: Change) -> Applied:
        done: asyncio.Future[Applied] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put_nowait((change, done))
        except asyncio.QueueFull as error:
            raise UnavailableError(
                f"{MAX_WAITING} changes wait already.",
                code=ErrorCode.RATE_LIMITED,
                fix="Try again in a moment.",
            ) from error
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(), name="changes to tools.json")
        return await done

    def entry(self, name: str) -> ToolEntry | None:
        """What tools.json says of a tool now."""
        return self._agent.entry(name)

    def source(self, entry: ToolEntry) -> str | None:
        """The script of an entry as it is now. Reads a file."""
        path = self._file.script_of(entry)
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None

    def sharing(self, entry: ToolEntry) -> tuple[str, ...]:
        """The other tools that run the same script."""
        names = [spec.name for spec in self._agent.manifest().tools if spec.name != entry.name]
        others = [known for name in names if (known := self._agent.entry(name)) is not None]
        return tuple(known.name for known in others if known.script == entry.script)

    def problem(self) -> str | None:
        return self._agent.problem()

    def refresh(self) -> None:
        """Take over what somebody else wrote."""
        if self._agent.running:
            self._agent.refresh()

    async def close(self) -> None:
        """Finish what was accepted."""
        if self._worker is not None:
            await self._worker

    async def _work(self) -> None:
        """Runs while there is something to do, so that an idle platform holds no task."""
        while not self._queue.empty():
            change, done = self._queue.get_nowait()
            try:
                applied = await self._apply(change)
            except Exception as error:  # noqa: BLE001 - handed to whoever asked for the change
                _settle(done, error=error)
            else:
                _settle(done, applied=applied)

    async def _apply(self, change: Change) -> Applied:
        self._require_running()
        async with self._shared(), self._alone():
            reading = await asyncio.to_thread(self._file.read)
            entry, after = _edited(reading.tools, change)
            await asyncio.to_thread(self._require_as_seen, reading.tools, change)
            self._require_free_name(change)
            script = _Script.of(change, self._file.script_of(entry))
            warnings = await asyncio.to_thread(script.check)
            await self._replace(reading, after, script)
            shared = any(other.script == entry.script for other in after.tools.values())
            if isinstance(change, RemoveTool) and change.with_script and not shared:
                await asyncio.to_thread(self._file.script_of(entry).unlink, missing_ok=True)
        logger.info("tools_changed", extra={"tool": entry.name, "change": type(change).__name__})
        return Applied(entry, warnings)

    async def _replace(self, reading: ToolsFileReading, after: LocalTools, script: "_Script") -> None:
        try:
            await asyncio.to_thread(script.write)
            await asyncio.to_thread(self._file.write, reading, after)
            self._load(after)
        except BaseException as error:
            await asyncio.to_thread(script.restore)
            await asyncio.to_thread(self._file.restore, reading)
            if isinstance(error, OSError):
                raise UnavailableError(
                    f"tools.json could not be written: {error.strerror}.",
                    fix="Check disk space and permissions.",
                ) from error
            raise

    def _load(self, after: LocalTools) -> None:
        try:
            self._agent.adopt(after)
        except StewardError:
            raise
        except Exception as error:
            raise AgentError(
                f"Nothing was changed: the tools could not be loaded ({type(error).__name__}: {error})."
            ) from error

    def _require_running(self) -> None:
        """A change that cannot be loaded now would be accepted on trust."""
        if not self._agent.running:
            raise UnavailableError(
                "Python tools are stopped, so nothing was changed.",
                code=ErrorCode.AGENT_UNAVAILABLE,
                fix=f"Start them with 'steward agents start {AGENT_ID}'.",
            )

    def _require_free_name(self, change: Change) -> None:
        if not isinstance(change, AddTool):
            return
        owner = self._owner(change.entry.name)
        if owner is not None and owner != AGENT_ID:
            raise ConflictError(
                f"'{owner}' provides a tool named '{change.entry.name}' already.",
                code=ErrorCode.TOOL_DUPLICATE,
                fix="Choose another name.",
            )

    def _require_as_seen(self, tools: LocalTools, change: Change) -> None:
        if not isinstance(change, UpdateTool) or change.before is None:
            return
        stands = tools.get(change.entry.name)
        if fingerprint(stands, self.source(stands)) != change.before:
            raise ConflictError(
                f"The tool '{stands.name}' was changed meanwhile; nothing was written.",
                fix="Look at it again, then make your change.",
            )

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        lock = locked(self._file.path)
        await asyncio.to_thread(lock.__enter__)
        try:
            yield
        finally:
            await asyncio.to_thread(lock.__exit__, None, None, None)


@dataclass(slots=True)
class _Script:
    """The script file of a change: what it is to hold, and what it held before."""

    path: Path
    name: str
    function: str | None
    source: str | None
    may_replace: bool
    removed: bool
    before: bytes | None = None
    written: bool = False

    @classmethod
    def of(cls, change: Change, path: Path) -> "_Script":
        match change:
            case AddTool(entry, source) | UpdateTool(entry, source):
                may_replace = isinstance(change, UpdateTool)
                return cls(path, entry.script, entry.function, source, may_replace, removed=False)
            case RemoveTool():
                return cls(path, path.name, None, None, may_replace=False, removed=True)
            case _:
                assert_never(change)

    def check(self) -> tuple[str, ...]:
        """Raise unless the script can be called as registered; a script still to come is a warning."""
        if self.removed:
            return ()
        self.before = self.path.read_bytes() if self.path.is_file() else None
        if self.source is None:
            if self.before is None:
                return (f"The script '{self.name}' is not there yet; calls fail until it is.",)
            check_script(self.name, self.before.decode(errors="replace"), self.function)
            return ()
        if len(self.source.encode()) > MAX_SCRIPT_BYTES:
            raise InputError(f"{self.name} is larger than {MAX_SCRIPT_BYTES} bytes.", fix="Split it.")
        check_script(self.name, self.source, self.function)
        if not self.may_replace and self.before not in (None, self.source.encode()):
            raise ConflictError(
                f"A script '{self.name}' is there already and differs.",
                fix="Update the tool that uses it, or choose another script name.",
            )
        return ()

    def write(self) -> None:
        if self.source is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.written = True
            replace_file(self.path, self.source.encode())

    def restore(self) -> None:
        if not self.written:
            return
        if self.before is None:
            self.path.unlink(missing_ok=True)
        else:
            replace_file(self.path, self.before)


def _edited(tools: LocalTools, change: Change) -> tuple[ToolEntry, LocalTools]:
    match change:
        case AddTool(entry):
            return entry, tools.add(entry)
        case UpdateTool(entry):
            return entry, tools.update(entry)
        case RemoveTool(name):
            return tools.get(name), tools.remove(name)
        case _:
            assert_never(change)


def _settle(
    done: asyncio.Future[Applied], *, applied: Applied | None = None, error: Exception | None = None
) -> None:
    if done.done():  # whoever asked is gone
        return
    if error is not None:
        done.set_exception(error)
    elif applied is not None:
        done.set_result(applied)
