"""A minute of the soak: everything is harmed while clients ask, and nothing that was acknowledged is lost."""

import asyncio
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = "-m tests.soak --seconds 60 --instances 3 --seed 20"


@pytest.mark.alone
@pytest.mark.timeout(1200)  # starting everything and coming to rest again take longer than the minute itself
async def test_three_instances_lose_and_double_nothing_in_a_minute_of_harm() -> None:
    soak = await asyncio.create_subprocess_exec(
        sys.executable, *COMMAND.split(), cwd=ROOT,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    table, _ = await soak.communicate()
    assert soak.returncode == 0, table.decode()[-30_000:]
