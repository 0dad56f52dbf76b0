"""Ingests a folder in a process that may not grow by more than so many megabytes while it does."""

import asyncio
import re
import resource
import sys
from pathlib import Path

from tests.support.library import open_base

from steward.storage.database.postgres import Database, External


def data_bytes() -> int:
    found = re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


async def main(url: str, folder: Path, megabytes: int) -> None:
    async with Database(External(url)) as database, open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")
        await base.ingest(folder, "papers")  # the model, the threads and the readers are there now
        limit = data_bytes() + megabytes * 1024**2
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        report = await base.ingest(folder, "papers", recursive=True)
        print("added", report.added, "failures", report.failures, "named", len(report.failed))


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
