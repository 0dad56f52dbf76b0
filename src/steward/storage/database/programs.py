"""Programs that share a database, and whether each of them lives.

A program reports every few seconds. One that was not heard of for half a minute is taken for dead, and one
whose process is gone from this machine at once; a database that was away takes nobody with it, because what
counts is the time since it came back. Whoever starts something that must not be left unnoticed writes its
program's key beside it.
"""

import asyncio
import os
import secrets
import socket
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Protocol

import asyncpg

from steward.contract.errors import StewardError, StorageError
from steward.storage.database import sql

SQL = sql.load("programs")
SECONDS = 5.0  # between two reports


class Queries(Protocol):
    async def execute(self, query: str, *args: object) -> str: ...

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]: ...


class Program:
    """This one. It is listed from its first `hold` on, and reports until `leave`."""

    def __init__(self, database: Queries, *, seconds: float = SECONDS) -> None:
        self.key = secrets.randbits(62)
        self.unheard: list[tuple[str, datetime]] = []  # what it asked for and may have got: (id, when)
        self._database = database
        self._seconds = seconds
        self._reporting: asyncio.Task[None] | None = None
        self._over = False

    async def hold(self) -> int:
        """The key, listed as a living program's."""
        if self._over:
            raise StorageError("The database is not open.")
        if self._reporting is None:
            await self._report()
            self._reporting = asyncio.create_task(self._report_on(), name="program-reports")
        return self.key

    async def leave(self) -> None:
        self._over = True
        if self._reporting is None:
            return
        self._reporting.cancel()
        await asyncio.gather(self._reporting, return_exceptions=True)
        with suppress(StewardError, TimeoutError):  # it is taken for dead a little later
            async with asyncio.timeout(1):
                await self._database.execute(SQL.programs_ended, [self.key])

    async def bury(self) -> None:
        """Strike programs off the list whose processes are gone from this machine."""
        here = await self._database.fetch(SQL.programs_here, _machine(), self.key)
        gone = [row["id"] for row in here if not _runs(row["pid"], row["born"])]
        if gone:
            await self._database.execute(SQL.programs_ended, gone)

    async def _report_on(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            with suppress(StewardError):  # the next time, then
                await self._report()

    async def _report(self) -> None:
        pid = os.getpid()
        await self._database.execute(SQL.program_reports, self.key, _machine(), pid, _born(pid))


@cache
def _machine() -> str:
    """Where a process id means this process: one boot, one space of ids, what one account sees of it."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}/{os.getuid()}"  # noqa: PTH116 - it is no file
    except OSError:
        return f"{socket.gethostname()}/{os.getuid()}"


def _born(pid: int) -> float | None:
    """When a process began; None where there is none, or only what is left of one."""
    try:
        # Counted from the machine's start, so that a clock that is set changes nothing.
        state, *rest = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return None if state == "Z" else float(rest[18])
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    except ProcessLookupError:
        return None
    import psutil  # noqa: PLC0415 - for systems without /proc only

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.NoSuchProcess:
        return None


def _runs(pid: int, born: float) -> bool:
    found = _born(pid)
    return found is not None and abs(found - born) < 1.0
