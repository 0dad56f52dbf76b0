"""`code_execution`: runs Python or shell code in a working folder, bounded in time and output.

Owns the tool and its limits. Rated IRREVERSIBLE by the policy, so that a person agrees to every run.
No sandbox: the code has the rights of the user who runs Steward, less Steward's own secrets.
"""

import asyncio
import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steward.contract import linear_re as re
from steward.contract.call import Done, Failed, ToolResult, new_id
from steward.contract.errors import ErrorCode
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.providers.functions import FunctionTool
from steward.providers.supervised import Supervised

DEFAULT_SECONDS = 30
MAX_SECONDS = 600
SLACK_SECONDS = 10  # for our own deadline to act before the door's
KEPT_BYTES = 256 * 1024
MAX_BYTES = 16 * 1024 * 1024
ENDLESS = f"The code printed more than {MAX_BYTES // 2**20} MiB and was stopped."
MAX_CODE = 256 * 1024

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|DATABASE_URL|^STEWARD_", re.IGNORECASE)

SPEC = ToolSpec(
    name="code_execution",
    description=(
        "Run Python or shell code on this computer and return what it prints. Use it for computation, data "
        "processing and system tasks that no other tool covers; prefer a dedicated tool where there is one. "
        "Files written to the working folder are there for the next run. A person approves every run."
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


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """What code written by a model may see of our environment."""
    return {name: value for name, value in environment.items() if not SECRET_NAME.search(name)}


def code_execution_tool(folder: Path, *, environment: Mapping[str, str] | None = None) -> FunctionTool:
    """`folder` is made when first needed; `environment` None means ours."""

    async def code_execution(
        *, code: str, language: str = "python", stdin: str = "", timeout_seconds: float = DEFAULT_SECONDS
    ) -> ToolResult:
        program = await asyncio.to_thread(_written, folder, code)
        # Unbuffered, so that a run that is stopped still shows what it printed until then.
        interpreter = [sys.executable, "-u"] if language == "python" else ["sh"]
        try:
            process = await Supervised.start(
                [*interpreter, str(program)], folder=folder, environment=environment
            )
            return await _outcome(process, stdin=stdin, seconds=timeout_seconds)
        finally:
            program.unlink(missing_ok=True)

    return FunctionTool(SPEC, code_execution)


def _written(folder: Path, code: str) -> Path:
    """The program as a file: an argument would be limited, and errors could not show its lines."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    program = folder / f".program-{new_id()[:8]}"
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
    with contextlib.suppress(ConnectionError):  # a program need not read what it is given
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
