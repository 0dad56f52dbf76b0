"""`code_execution`: runs Python or shell code in a working folder, bounded in time and output.

Owns the tool and its limits. Rated IRREVERSIBLE by the policy, so that a person agrees to every run.
The code is contained (containment/): it sees the account's files but none of Steward's, no other process and
no network. What cannot be contained says so before the yes.
"""

import asyncio
import contextlib
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from steward.contract import linear_re as re
from steward.contract.call import Done, Failed, ToolResult, new_id
from steward.contract.errors import ErrorCode
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.providers.containment.plan import Containment, allowed_environment
from steward.providers.functions import FunctionTool
from steward.providers.supervised import Supervised

DEFAULT_SECONDS = 30
MAX_SECONDS = 600
SLACK_SECONDS = 10  # for our own deadline to act before the door's
KEPT_BYTES = 256 * 1024
MAX_BYTES = 16 * 1024 * 1024
ENDLESS = f"The code printed more than {MAX_BYTES // 2**20} MiB and was stopped."
MAX_CODE = 256 * 1024

MOST_NAMED = 50  # entries of the home's own folders that one program may name
_ENTRY = re.compile(r"[^/\0\n'\"]{1,255}")
PROGRAM = ".program-"  # and the process id of whoever runs it: what a killed one left is known by that

SPEC = ToolSpec(
    name="code_execution",
    description=(
        "Run Python or shell code on this computer and return what it prints. Use it for computation, data "
        "processing and system tasks that no other tool covers; prefer a dedicated tool where there is one. "
        "Files written to the working folder are there for the next run. There is no network unless the "
        "workspace's policy opens it. A person approves every run."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "code": {"type": "string", "minLength": 1, "maxLength": MAX_CODE, "description": "The program"},
            "language": {"enum": ["python", "shell"], "default": "python"},
            "stdin": {"type": "string", "maxLength": MAX_CODE, "description": "What the program reads"},
            "timeout_seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": MAX_SECONDS,
                "default": DEFAULT_SECONDS,
            },
        },
        "required": ["code"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "exit_code": {"type": "integer"},
            "stdout": {"type": "string"},
            "stderr": {"type": "string"},
            "truncated": {"type": "boolean"},
        },
        "required": ["exit_code", "stdout", "stderr", "truncated"],
    },
    origin=Origin.BUILTIN,
    risk=RiskLevel.IRREVERSIBLE,
    effect=Effect.WRITES_OUTSIDE,
    hints=ToolHints(read_only=False, destructive=True, idempotent=False, open_world=True),
    timeout=MAX_SECONDS + SLACK_SECONDS,
    parallel=True,
    category="code",
    examples=(
        "compute the first 50 prime numbers with Python",
        "summarise this CSV file",
        "count the lines of all files in a folder",
    ),
)


def code_execution_tool(
    folder: Path,
    *,
    containment: Containment,
    environment: Mapping[str, str],
    material: Sequence[Path] = (),
) -> FunctionTool:
    """`folder` is made when first needed; of `environment` the code sees what is known to be harmless.

    `material`: hidden folders (skills, uploads) of which the code sees, read-only, the entries that it names:
    whoever agrees to it reads those names.
    """

    async def code_execution(
        *, code: str, language: str = "python", stdin: str = "", timeout_seconds: float = DEFAULT_SECONDS
    ) -> ToolResult:
        program = await asyncio.to_thread(_written, folder, code)
        # Unbuffered, so that a run that is stopped still shows what it printed until then.
        interpreter = [sys.executable, "-u"] if language == "python" else ["sh"]
        # A second for each core: the deadline ends the run, this only what would outlive it.
        seconds = math.ceil(timeout_seconds + 1) * (os.cpu_count() or 1)
        kept = await asyncio.to_thread(named_entries, code, material)
        inside = containment.confine(SPEC.name, folder, kept=kept, writable=(folder,), cpu_seconds=seconds)
        try:
            process = await Supervised.start(
                [*interpreter, str(program)],
                folder=folder,
                environment=allowed_environment(environment, network=inside.network),
                confinement=inside,
            )
            return await _outcome(process, stdin=stdin, seconds=timeout_seconds)
        finally:
            program.unlink(missing_ok=True)

    async def tell(*, language: str = "python", **_: Any) -> str:
        return f"runs this {'Python' if language == 'python' else 'shell'} code on this computer"

    return FunctionTool(replace(SPEC, caution=containment.caution), code_execution, tell)


def named_entries(code: str, folders: Sequence[Path]) -> list[Path]:
    """Entries of these folders whose whole path stands in the code; never one that links out of them."""
    found: dict[Path, None] = {}
    for folder in folders:
        start = f"{folder}/"
        for part in code.split(start)[1 : MOST_NAMED + 1]:
            name = _ENTRY.match(part)
            entry = folder / name[0] if name else folder
            if name and name[0] not in (".", "..") and entry.resolve().parent == folder.resolve():
                found[entry] = None
    return list(found)


def _written(folder: Path, code: str) -> Path:
    """The program as a file: an argument would be limited, and errors could not show its lines."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    program = folder / f"{PROGRAM}{os.getpid()}-{new_id()[:8]}"
    program.write_text(code, encoding="utf-8", errors="replace")
    return program


@dataclass(slots=True)
class _Output:
    """The beginning of a stream; the rest is counted, and too much of it stops the program."""

    kept: bytearray = field(default_factory=bytearray)
    seen: int = 0

    async def read(self, stream: asyncio.StreamReader, process: Supervised) -> None:
        while chunk := await stream.read(1 << 16):
            self.seen += len(chunk)
            self.kept += chunk[: KEPT_BYTES - len(self.kept)]
            if self.endless:
                process.stop()

    @property
    def endless(self) -> bool:
        return self.seen > MAX_BYTES

    @property
    def text(self) -> str:
        return self.kept.decode(errors="replace")


async def _outcome(process: Supervised, *, stdin: str, seconds: float) -> ToolResult:
    out, err = _Output(), _Output()
    try:
        async with asyncio.timeout(seconds):
            await asyncio.gather(
                _feed(process.stdin, stdin),
                out.read(process.stdout, process),
                err.read(process.stderr, process),
            )
            exit_code = await process.wait()
    except TimeoutError:
        return Failed(
            error=f"The code did not finish within {seconds:g} s and was stopped with everything it started.",
            code=ErrorCode.TOOL_EXECUTION_TIMEOUT,
            outcome_unknown=True,
            data=_shape(out, err, exit_code=None),
        )
    finally:
        await process.kill()
    if exit_code == 0:
        return Done(data=_shape(out, err, exit_code=0))
    endless = out.endless or err.endless
    return Failed(
        error=ENDLESS if endless else _reason(exit_code, err), data=_shape(out, err, exit_code=exit_code)
    )


async def _feed(stream: asyncio.StreamWriter, text: str) -> None:
    """A program need not read what it is given, and may have ended before it was."""
    with contextlib.suppress(ConnectionError, RuntimeError):  # a closed transport refuses with the latter
        stream.write(text.encode())
        await stream.drain()
    stream.close()


def _shape(out: _Output, err: _Output, *, exit_code: int | None) -> dict[str, Any]:
    truncated = out.seen > KEPT_BYTES or err.seen > KEPT_BYTES
    return {"exit_code": exit_code, "stdout": out.text, "stderr": err.text, "truncated": truncated}


def _reason(exit_code: int, err: _Output) -> str:
    lines = err.text.strip().splitlines()
    last = f": {lines[-1][:500]}" if lines else " and printed no error."
    how = (
        f"was ended by signal {exit_code - 128}" if exit_code > 128 else f"failed with exit code {exit_code}"
    )
    return f"The code {how}{last}"
