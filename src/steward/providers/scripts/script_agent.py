"""Python tools as an agent: what tools.json names, run in warm worker processes.

Owns which tools there are now and how a script's outcome becomes a result. Schemas are checked by the
orchestrator, deadlines too; a cancelled call kills its worker with everything the script started.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, assert_never

import orjson

from steward.contract.agent import AgentManifest, Health
from steward.contract.call import Done, Failed, ToolResult, current_call
from steward.contract.errors import ConflictError, ErrorCode, NotFoundError, StewardError, ToolError
from steward.contract.tool import ToolSpec
from steward.providers.mcp.secrets import MappingSource, Secrets
from steward.providers.scripts.script_files import ScriptFiles, look_at
from steward.providers.scripts.tools_config import LocalTools, ToolEntry, ToolsFile
from steward.providers.scripts.workers import (
    ScriptFailure,
    ScriptJob,
    ScriptSuccess,
    WorkerDiedError,
    WorkerPool,
    stamp,
)

logger = logging.getLogger(__name__)

AGENT_ID = "tools"


class ScriptToolsAgent:
    """Reads tools.json when it starts, when told to, and when somebody edits the file by hand."""

    def __init__(
        self,
        file: ToolsFile,
        *,
        pool: WorkerPool | None = None,
        secrets: Secrets | None = None,
        poll_seconds: float = 2.0,
    ) -> None:
        """`secrets` looks up what an entry's `env` refers to; without it there is nothing to refer to."""
        self.file = file
        self._pool = pool or WorkerPool()
        self._secrets = secrets or Secrets(MappingSource({}))
        self._poll_seconds = poll_seconds
        self._tools = LocalTools({})
        self._specs = AgentManifest(id=AGENT_ID, name="Python tools", tools=())
        self._files: Mapping[str, ScriptFiles] = {}
        self._seen = stamp(file.path)
        self._problem: str | None = None
        self._listeners: list[Callable[[], None]] = []
        self._watching: asyncio.Task[None] | None = None

    async def initialize(self) -> None:
        """Raises `ConfigError` with file, line and fix when tools.json is missing or malformed."""
        self.reload()
        self._watching = asyncio.create_task(self._watch(), name="watching tools.json")

    async def shutdown(self) -> None:
        self._listeners.clear()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            self._watching = None
        await self._pool.close()

    @property
    def running(self) -> bool:
        return self._watching is not None

    def manifest(self) -> AgentManifest:
        return self._specs

    async def health(self) -> Health:
        scripts = {entry.script for entry in self._tools.tools.values()}
        missing = sorted(script for script in scripts if not (self.file.folder / script).is_file())
        facts = {"workers": list(self._pool.pids), "missing_scripts": missing}
        if self._problem:
            return Health(healthy=False, detail=self._problem, facts=facts)
        detail = f"missing scripts: {', '.join(missing)}" if missing else "ready"
        return Health(healthy=not missing, detail=detail, facts=facts)

    def entry(self, name: str) -> ToolEntry | None:
        return self._tools.tools.get(name)

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def available(self) -> bool:
        return True

    def problem(self) -> str | None:
        """Why the file as it stands now was not taken over; the tools are the last good ones."""
        return self._problem

    def reload(self) -> None:
        """Take over what the file says now. On any failure the tools stay what they were."""
        seen = stamp(self.file.path)
        self.adopt(self.file.load())
        self._seen, self._problem = seen, None

    def adopt(self, tools: LocalTools) -> None:
        """Calls in flight keep their workers; the next call meets the new definition."""
        before = self._tools, self._specs, self._files
        self._files = {
            entry.script: look_at(self.file.folder, entry.script) for entry in tools.tools.values()
        }
        specs = tuple(self._spec(entry) for entry in tools.tools.values())
        self._tools = tools
        self._specs = AgentManifest(id=AGENT_ID, name="Python tools", tools=specs)
        try:
            self._tell()
        except BaseException:
            self._tools, self._specs, self._files = before
            self._tell()
            raise

    def renew(self, tool: str) -> None:
        """What is on disk now is what the next call is judged by: the entry, its script and its modules."""
        if self._watching is not None and stamp(self.file.path) != self._seen:
            self.refresh()
        entry = self._tools.tools.get(tool)
        if entry is not None and not self._files[entry.script].unchanged():
            self.adopt(self._tools)

    async def tell(self, tool: str, params: Mapping[str, Any]) -> str | None:  # noqa: ARG002
        entry = self._tools.tools.get(tool)
        return None if entry is None else f"runs the script {entry.script!r} of your tools folder"

    async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
        call = current_call.get()
        known = None if call is None else call.definition
        if known is None:  # nobody has looked at it before
            self.renew(tool)
        entry = self._tools.tools.get(tool)
        if entry is None:
            raise NotFoundError(f"tools.json has no tool '{tool}'.", code=ErrorCode.TOOL_NOT_FOUND)
        files = self._files[entry.script]
        if known not in (None, self._spec(entry).definition_hash):
            raise ConflictError(
                f"Nothing was run: '{tool}' changed while the call was on its way.",
                code=ErrorCode.TOOL_CHANGED,
                fix="Make the call again.",
            )
        job = await self._job(entry, files)
        try:
            answer = await self._pool.run(job, params)
        except WorkerDiedError as error:
            return _died(entry, str(error))
        match answer:
            case ScriptSuccess(data=data):
                return Done(data=data)
            case ScriptFailure():
                logger.warning("script_failed", extra={"tool": tool, "trace": answer.trace})
                return _failed(entry, answer)
            case _:
                assert_never(answer)

    def _spec(self, entry: ToolEntry) -> ToolSpec:
        implementation = _implementation(entry, self._files[entry.script])
        return entry.spec(implementation=implementation, caution=self._pool.caution)

    async def _job(self, entry: ToolEntry, files: ScriptFiles) -> ScriptJob:
        where = f"tools.json, tool '{entry.name}': env"
        given = await self._secrets.expand_all(entry.env, where=where) if entry.env else {}
        return ScriptJob(
            tool=entry.name,
            tools=self.file.folder,
            script=self._script(entry),
            function=entry.function,
            sources=files.packed,
            files=tuple(self.file.folder / file for file in entry.files),
            network=entry.network,
            environment=tuple(sorted(given.items())),
        )

    def _script(self, entry: ToolEntry) -> Path:
        path = self.file.script_of(entry)
        if not path.is_file():
            raise ToolError(
                f"The script '{entry.script}' of tool '{entry.name}' is missing.",
                fix=f"Put it into {self.file.folder}, or remove the tool.",
            )
        return path

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            if stamp(self.file.path) != self._seen:
                self.refresh()

    def refresh(self) -> None:
        """A half-saved edit must not take tools away: the last good state stays, health says why."""
        seen = stamp(self.file.path)
        try:
            self.reload()
        except Exception as error:  # noqa: BLE001 - whatever is wrong, the watch goes on
            told = error.explain() if isinstance(error, StewardError) else str(error)
            self._seen, self._problem = seen, told
            logger.warning("tools_reload_failed", extra={"problem": self._problem})


def _implementation(entry: ToolEntry, files: ScriptFiles) -> str:
    """What runs and what it may reach: a tool that gets the network meanwhile is another one."""
    reach = [entry.network, sorted(entry.env.items()), sorted(map(str, entry.files))]
    packed = orjson.dumps([entry.script, entry.function, files.packed, reach])
    return hashlib.sha256(packed).hexdigest()


def _failed(entry: ToolEntry, failure: ScriptFailure) -> Failed:
    place = entry.script if failure.line is None else f"{entry.script}, line {failure.line}"
    return Failed(
        error=f"'{entry.name}' failed: {failure.message} ({place}).",
        code=failure.code or ErrorCode.TOOL_EXECUTION_ERROR,
        retryable=failure.retryable,
    )


def _died(entry: ToolEntry, printed: str) -> Failed:
    last = printed.splitlines()[-1][:500] if printed else "it printed nothing"
    logger.warning("script_worker_died", extra={"tool": entry.name, "printed": printed})
    return Failed(
        error=f"The process of '{entry.name}' ended during the call. "
        f"It may have taken effect; it was not repeated. "
        f"The last of its output: {last}",
        code=ErrorCode.TOOL_EXECUTION_ERROR,
        outcome_unknown=True,
    )
