"""A real `steward up` in a process of its own, for tests that need the whole program."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.owner import owner_headers

UP = (sys.executable, "-m", "steward", "up", "--port", "0")
SECONDS_TO_START = 90


@dataclass(frozen=True, slots=True)
class Running:
    process: asyncio.subprocess.Process
    url: str
    home: Path

    @property
    def owner(self) -> dict[str, str]:
        """What a request of the owner's own programs carries."""
        return owner_headers(self.home)

    async def next_line(self) -> str:
        """What it prints next."""
        assert self.process.stdout is not None
        return (await asyncio.wait_for(self.process.stdout.readline(), SECONDS_TO_START)).decode()


async def command(steward: Running, database_url: str, *arguments: str) -> str:
    """What a command in another terminal of the same home prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "steward", *arguments),
        env=surroundings(steward.home.parent, database_url), cwd=steward.home.parent,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    told, _ = await asyncio.wait_for(process.communicate(), SECONDS_TO_START)
    return told.decode()


def surroundings(folder: Path, database_url: str) -> dict[str, str]:
    return os.environ | {
        "STEWARD_HOME": str(folder / "home"),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }


@asynccontextmanager
async def steward_up(
    folder: Path, database_url: str, *options: str, **variables: str
) -> AsyncGenerator[Running]:
    process = await asyncio.create_subprocess_exec(
        *UP, *options,
        env=surroundings(folder, database_url) | variables, cwd=folder, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), SECONDS_TO_START)).decode()
        url = next(word for word in line.split() if word.startswith("http"))
        yield Running(process, url, folder / "home")
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
