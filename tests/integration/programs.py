"""Other programs that use the same database: real processes, told what to do line by line."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

PROGRAM = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from steward.contract.errors import StorageError
from steward.orchestrator.proposals import Receipt
from steward.storage.database.postgres import Database, Embedded, External
from steward.storage.proposals import PostgresProposalStore

async def main():
    place = External(sys.argv[1]) if "://" in sys.argv[1] else Embedded(Path(sys.argv[1]))
    async with Database(place) as database:
        print("open", flush=True)
        while (line := await asyncio.to_thread(sys.stdin.readline)):
            word, _, rest = line.strip().partition(" ")
            if word == "query":
                try:
                    print(await database.fetchval(rest), flush=True)
                except StorageError as error:
                    print(error.code, flush=True)
            elif word == "claim":
                store = PostgresProposalStore(database)
                found = await store.get(rest)
                receipt = Receipt(approver="ana", approved_at=datetime.now(UTC), via="cli",
                                  arguments=found.arguments, digest=found.digest,
                                  definition_hash=found.definition_hash)
                print(await store.claim(rest, receipt), flush=True)
            elif word == "finish":
                await PostgresProposalStore(database).finish(rest, {"status": "done"}, at=datetime.now(UTC))
                print("finished", flush=True)

asyncio.run(main())
"""


class Program:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def tell(self, line: str) -> str:
        self.process.stdin.write(f"{line}\n".encode())
        return await self.hears()

    async def hears(self) -> str:
        async with asyncio.timeout(60):
            return (await self.process.stdout.readline()).decode().strip()

    async def leave(self) -> int:
        self.process.stdin.close()
        async with asyncio.timeout(60):
            return await self.process.wait()

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def program(place: Path | str) -> AsyncIterator[Program]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(place), stdin=pipe, stdout=pipe
    )
    started = Program(process)
    try:
        assert await started.hears() == "open"
        yield started
    finally:
        if process.returncode is None:
            await started.kill()


def servers(folder: Path) -> list[int]:
    """The PostgreSQL processes that live in this folder; one that only waits to be reaped lives no more."""
    found: list[int] = []
    for process in psutil.process_iter(["name", "status"]):
        try:
            alive = process.info["status"] != psutil.STATUS_ZOMBIE
            if (
                process.info["name"] == "postgres"
                and alive
                and Path(process.cwd()) == folder.resolve() / "data"
            ):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
