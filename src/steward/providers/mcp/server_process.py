"""A server's process: started under a supervisor, stopped as the protocol asks, gone with its children.

Owns the process and its lifeline. What is said over its pipes is pipes.py's.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steward.providers import supervisor
from steward.providers.mcp.pipes import PipeDispatcher
from steward.providers.supervised import SUPERVISOR_GRACE, end_below


@dataclass(slots=True)
class ServerProcess:
    """A supervised server. Closing the lifeline kills it and everything it started."""

    dispatcher: PipeDispatcher
    transport: asyncio.SubprocessTransport
    lifeline: int

    @property
    def pid(self) -> int | None:
        return self.transport.get_pid()

    async def stop(self, grace: float) -> None:
        """Close its input and wait, as the protocol asks; then end it with all its children."""
        self.dispatcher.lose("it was stopped")
        stdin = self.transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()
        try:
            async with asyncio.timeout(grace):
                await self.dispatcher.exited()
        except TimeoutError:
            pass
        finally:
            os.close(self.lifeline)
            await asyncio.shield(self._reaped())

    async def _reaped(self) -> None:
        try:
            async with asyncio.timeout(SUPERVISOR_GRACE):
                await self.dispatcher.exited()
        except TimeoutError:
            pid = self.pid
            if pid is not None:
                await end_below(pid)
        self.transport.close()


async def start_process(
    command: Sequence[str], *, env: Mapping[str, str], cwd: str | None, max_message_bytes: int
) -> ServerProcess:
    """Start a server under a supervisor that outlives it, so that no child of it outlives us."""
    read_end, lifeline = os.pipe()
    try:
        transport, protocol = await asyncio.get_running_loop().subprocess_exec(
            lambda: PipeDispatcher(max_message_bytes=max_message_bytes),
            sys.executable,
            "-I",
            "-S",
            str(Path(supervisor.__file__)),
            str(read_end),
            *command,
            env=dict(env),
            cwd=cwd,
            pass_fds=(read_end,),
            start_new_session=True,
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(read_end)
    return ServerProcess(protocol, transport, lifeline)
