"""A command that cannot outlive Steward: started behind the supervisor, killed with all its children.

Owns the lifeline and the streams. Does not own what is said over them (workers.py, code.py).
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from steward.contract.errors import ToolError
from steward.providers.containment.plan import Confinement
from steward.providers.supervisor import SWEEP_SECONDS, descendants, kill_below

SUPERVISOR = Path(__file__).with_name("supervisor.py")
SUPERVISOR_GRACE = 5.0
SWEEPS = 100  # what survives so many kills is held by the kernel

Stream = TypeVar("Stream")


class Supervised:
    """Made by `start`. `kill` is idempotent and returns once nothing of the command is left."""

    def __init__(self, process: Process, lifeline: int) -> None:
        self._process = process
        self._lifeline: int | None = lifeline

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        confinement: Confinement | None = None,
    ) -> "Supervised":
        """`environment` None means ours; `folder` None means our working folder."""
        theirs, ours = os.pipe()
        plan = [] if confinement is None else confinement.words()
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs), *plan, *command,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=(theirs,), cwd=folder, env=environment, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            os.close(ours)
            raise ToolError(f"A process could not be started: {error}.") from error
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return cls(process, ours)

    @property
    def stdin(self) -> asyncio.StreamWriter:
        return _there(self._process.stdin)

    @property
    def stdout(self) -> asyncio.StreamReader:
        return _there(self._process.stdout)

    @property
    def stderr(self) -> asyncio.StreamReader:
        return _there(self._process.stderr)

    @property
    def pid(self) -> int:
        """The supervisor's; the command and its children are below it."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def wait(self) -> int:
        """The command's exit code, 128 + n for signal n. Its children are gone by then."""
        code = await self._process.wait()
        self.stop()
        return code

    async def kill(self) -> None:
        """Shielded: a caller that is cancelled meanwhile leaves, the killing goes on."""
        self.stop()
        await asyncio.shield(self._reap())

    def stop(self) -> None:
        """Begin to kill, and return at once: the streams end when it is done."""
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None

    async def _reap(self) -> None:
        self.stdin.close()
        try:
            async with asyncio.timeout(SUPERVISOR_GRACE):
                await asyncio.gather(self._process.wait(), _drain(self.stdout), _drain(self.stderr))
        except TimeoutError:
            # The supervisor is stuck. Killed before what it guards, it would leave that running and
            # holding the streams, which never end then.
            await end_below(self.pid)
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


async def end_below(supervisor: int) -> None:
    """Kill everything below a supervisor that does not do so itself."""
    for _ in range(SWEEPS):
        if not await asyncio.to_thread(descendants, supervisor):
            return
        await asyncio.to_thread(kill_below, supervisor)
        await asyncio.sleep(SWEEP_SECONDS)


async def _drain(stream: asyncio.StreamReader) -> None:
    """Read what is left, so that the transport closes; another reader of the same stream may finish it."""
    with contextlib.suppress(RuntimeError):
        while await stream.read(1 << 16):
            pass


def _there(stream: Stream | None) -> Stream:
    assert stream is not None
    return stream
