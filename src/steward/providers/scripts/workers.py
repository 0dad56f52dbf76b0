"""Warm worker processes for Python tools: one call at a time each, a few at most, gone when idle.

Owns processes and their protocol. Does not own definitions (tools_config.py) or the agent (scripts.py).
A call that is cancelled or times out kills its worker with everything the script started.
"""

import asyncio
import contextlib
import logging
import os
import struct
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from steward.contract.errors import ToolError
from steward.providers.containment.plan import Containment, allowed_environment
from steward.providers.containment.probe import strongest
from steward.providers.scripts.script_imports import imported_beside
from steward.providers.supervised import Supervised

logger = logging.getLogger(__name__)

WORKER = Path(__file__).with_name("worker.py")
LENGTH = struct.Struct(">I")
MAX_FRAME = 5 * 1024 * 1024  # a little above the worker's own limit, so that its message wins
KEPT_OUTPUT = 8 * 1024

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class ScriptJob:
    """What a worker is warm for: this code and no other. Another job gets another worker."""

    tool: str
    tools: Path
    script: Path
    function: str | None
    sources: tuple[tuple[str, str], ...] = ()  # what it may load of the tools folder: path and digest
    files: tuple[Path, ...] = ()  # what else of the tools folder the script sees
    network: bool = False
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where workers run: what keeps them to themselves, and what they may see of our environment."""

    containment: Containment
    environment: Mapping[str, str]

    @classmethod
    def without_workspace(cls) -> "Workplace":
        """For programs that use tools without a home: contained as well as this machine can."""
        return cls(Containment(mechanism=strongest()), os.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFailure:
    """What the script itself raised; the trace is for the log only."""

    message: str
    line: int | None
    code: str | None
    retryable: bool
    trace: str


@dataclass(frozen=True, slots=True)
class ScriptSuccess:
    data: Any


ScriptAnswer = ScriptSuccess | ScriptFailure


class WorkerDiedError(Exception):
    """The worker ended during a call; `args[0]` is the last it printed."""


class WorkerGoneError(WorkerDiedError):
    """It ended before it took the call: nothing ran."""


class ScriptWorker:
    def __init__(self, job: ScriptJob, process: Supervised) -> None:
        self.job = job
        self._process = process
        self._printed = bytearray()
        self._listening = asyncio.create_task(self._listen(), name=f"output of {job.tool}")

    @classmethod
    async def start(cls, job: ScriptJob, place: Workplace) -> "ScriptWorker":
        command = [sys.executable, str(WORKER), str(job.tools), str(job.script), job.function or ""]
        # Not all of `sources`: a script that loads by name was digested with its whole folder, and sees less.
        beside = (*await asyncio.to_thread(imported_beside, job.script, job.tools), *job.files)
        kept = (job.script, *(path for path in beside if path.resolve().is_relative_to(job.tools)))
        inside = place.containment.confine(job.tool, Path.cwd(), kept=kept, network=job.network)
        environment = allowed_environment(place.environment, network=inside.network) | dict(job.environment)
        process = await Supervised.start(command, environment=environment, confinement=inside)
        _write(process, orjson.dumps(dict(job.sources)))
        return cls(job, process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def printed(self) -> str:
        return self._printed.decode(errors="replace").strip()

    @property
    def alive(self) -> bool:
        return self._process.alive

    async def call(self, arguments: Mapping[str, Any]) -> ScriptAnswer:
        self._printed.clear()
        await self._hand_over(orjson.dumps(arguments))
        try:
            return _parsed(await self._frame())
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            await self.kill()
            raise WorkerDiedError(self.printed) from error

    async def _hand_over(self, request: bytes) -> None:
        try:
            _write(self._process, request)
            await self._process.stdin.drain()
            await self._frame()
        except (asyncio.IncompleteReadError, ConnectionError, RuntimeError) as error:
            # RuntimeError is how a transport that is closed already refuses.
            await self.kill()
            raise WorkerGoneError(self.printed) from error

    async def kill(self) -> None:
        await self._process.kill()
        await self._listening

    async def _frame(self) -> bytes:
        (length,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
        if length > MAX_FRAME:
            raise ToolError(f"Tool '{self.job.tool}' answered with {length} bytes, more than is allowed.")
        return await self._process.stdout.readexactly(length)

    async def _listen(self) -> None:
        """Keep the last of what the script prints, however much that is."""
        while chunk := await self._process.stderr.read(1 << 16):
            self._printed += chunk
            del self._printed[:-KEPT_OUTPUT]


class WorkerPool:
    """At most `limit` workers in all; an idle one makes room for another tool's."""

    def __init__(self, *, limit: int = 4, idle_seconds: float = 60.0, place: Workplace | None = None) -> None:
        self._workplace = place or Workplace.without_workspace()
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._places = asyncio.Semaphore(limit)
        self._taken = 0  # places with a worker that runs, starts or ends
        self._busy: set[ScriptWorker] = set()
        self._idle: dict[ScriptWorker, asyncio.TimerHandle] = {}  # longest idle first
        self._endings: set[asyncio.Task[None]] = set()

    @property
    def caution(self) -> str | None:
        return self._workplace.containment.caution

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(worker.pid for worker in (*self._busy, *self._idle))

    async def run(self, job: ScriptJob, arguments: Mapping[str, Any]) -> ScriptAnswer:
        async with self._place():
            warm = self._warm(job)
            if warm is not None:
                # One that died while it was idle took nothing over: a fresh one gets the call.
                with contextlib.suppress(WorkerGoneError):
                    return await self._call(warm, arguments)
            return await self._call(await self._fresh(job), arguments)

    async def _call(self, worker: ScriptWorker, arguments: Mapping[str, Any]) -> ScriptAnswer:
        self._busy.add(worker)
        try:
            answer = await worker.call(arguments)
        except BaseException:
            await asyncio.shield(self._end(worker))
            raise
        finally:
            self._busy.discard(worker)
        loop = asyncio.get_running_loop()
        self._idle[worker] = loop.call_later(self._idle_seconds, self._expire, worker)
        if worker.printed:
            logger.debug("tool %s printed: %s", worker.job.tool, worker.printed)
        return answer

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        async with self._places:
            self._taken += 1
            try:
                yield
            finally:
                self._taken -= 1

    async def close(self) -> None:
        """End the idle workers. Calls in flight end with their own tasks."""
        for worker in list(self._idle):
            self._expire(worker)
        if self._endings:
            await asyncio.wait(self._endings)

    def _warm(self, job: ScriptJob) -> ScriptWorker | None:
        for worker in [worker for worker in self._idle if worker.job == job]:
            if worker.alive:
                self._idle.pop(worker).cancel()
                return worker
            self._expire(worker)
        return None

    async def _fresh(self, job: ScriptJob) -> ScriptWorker:
        while self._idle and self._taken + len(self._idle) > self._limit:
            await asyncio.shield(self._expire(next(iter(self._idle))))
        return await ScriptWorker.start(job, self._workplace)

    def _expire(self, worker: ScriptWorker) -> asyncio.Task[None]:
        self._idle.pop(worker).cancel()
        return self._end(worker)

    def _end(self, worker: ScriptWorker) -> asyncio.Task[None]:
        ending = asyncio.create_task(worker.kill(), name=f"ending the worker of {worker.job.tool}")
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
        return ending


def stamp(path: Path) -> Stamp | None:
    """What tells one version of a file from the next."""
    with contextlib.suppress(OSError):
        found = path.stat()
        # Times of content can be set by anybody, the time of the last change to the file cannot.
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
    return None


def _write(process: Supervised, frame: bytes) -> None:
    process.stdin.write(LENGTH.pack(len(frame)) + frame)


def _parsed(frame: bytes) -> ScriptAnswer:
    message: dict[str, Any] = orjson.loads(frame)
    error = message.get("error")
    return ScriptSuccess(message.get("data")) if error is None else ScriptFailure(**error)
