"""One PostgreSQL for a test run, shared by its workers, and a fresh database for each test that wants one.

The server's folder is fixed for a checkout, so that a run that was killed leaves nothing behind for good: the
next run adopts its server, drops its databases and stops it at the end.
"""

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg
import psutil
from filelock import FileLock

from steward.contract.errors import StorageError
from steward.storage.database.embedded import EmbeddedServer
from steward.storage.database.migrate import read_migrations
from steward.storage.database.postgres import Database, External

ROOT = Path(__file__).parents[2]
# A test's data need not survive a power cut.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "300"}


@contextmanager
def scratch_folder() -> Generator[Path]:
    """A short-lived folder, in memory where there is room: a database syncs to its disk often."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 2 * 2**30
    with tempfile.TemporaryDirectory(prefix="steward-", dir=memory if roomy else None) as folder:
        yield Path(folder)


class TestServer:
    __test__ = False

    def __init__(self, server: EmbeddedServer, template: str) -> None:
        self.server = server
        self.template = template

    def url(self, name: str) -> str:
        return self.server.url.replace("/postgres?", f"/{name}?")

    @asynccontextmanager
    async def database_url(self, *, template: str | None = None) -> AsyncIterator[str]:
        """The address of a fresh, migrated database that is gone afterwards."""
        name = f"test_{os.getpid()}_{uuid4().hex[:12]}"
        admin = await asyncpg.connect(self.server.url)
        try:
            # Copied as files: less work than through the log, whose safety a test does not need.
            await admin.execute(
                f'CREATE DATABASE "{name}" TEMPLATE "{template or self.template}" STRATEGY FILE_COPY'
            )
            try:
                yield self.url(name)
            finally:
                await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        finally:
            await admin.close()


@contextmanager
def running_server() -> Generator[TestServer]:
    folder = Path(tempfile.gettempdir()) / f"steward-tests-{os.getuid()}-{_short(str(ROOT))}"
    folder.mkdir(exist_ok=True)
    server = EmbeddedServer(folder, settings=FAST)
    template = f"template_{_short(''.join(m.sha256 for m in read_migrations()))}"
    try:
        with FileLock(folder / "setup.lock"):
            try:
                server.join()
            except StorageError:  # the folder of a machine that crashed: nothing in it is worth keeping
                shutil.rmtree(folder / "data", ignore_errors=True)
                server.join()
            with ThreadPoolExecutor(1) as thread:  # the first test to ask may run an event loop already
                thread.submit(asyncio.run, _set_up(server, template)).result()
        yield TestServer(server, template)
    finally:
        server.leave()


async def _set_up(server: EmbeddedServer, template: str) -> None:
    admin = await asyncpg.connect(server.url)
    try:
        names = [row["datname"] for row in await admin.fetch("SELECT datname FROM pg_database")]
        for name in names:
            if name.startswith("test_") and not psutil.pid_exists(int(name.split("_")[1])):
                await admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        if template in names:
            return
        # Migrated under another name: a template is complete or not there.
        fresh = f"{template}_new"
        await admin.execute(f'DROP DATABASE IF EXISTS "{fresh}" WITH (FORCE)')
        await admin.execute(f'CREATE DATABASE "{fresh}"')
        async with Database(External(server.url.replace("/postgres?", f"/{fresh}?"))):
            pass
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", fresh
        )
        await admin.execute(f'ALTER DATABASE "{fresh}" RENAME TO "{template}"')
    finally:
        await admin.close()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
