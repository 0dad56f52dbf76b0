"""What Steward costs before it does anything: the first line of the command, and the memory of a server.

Budgets: `steward --help` under 0.4 s, beside a Python that does nothing; the first command of a home, which
starts Steward in the background, under 2 s, and the next one under 0.25 s; `steward tasks list` without one
(its own database, the whole way through the API and the door) at most twice what it takes to load the
libraries it stands on; `steward up` with its page under 250 MB once it is warm and idle, with every process
it started, and under 350 MB with its PostgreSQL.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

STEWARD = (sys.executable, "-m", "steward")
LIBRARIES = (sys.executable, "-c", "import asyncpg, fastapi, mcp, numpy, fastmcp; fastmcp.FastMCP('none')")
ROUNDS = 10
COMMAND_ROUNDS = 5
COMMAND_RATIO = 2.0
HELP_SECONDS = 0.4
FIRST_SECONDS, NEXT_SECONDS = 2.0, 0.25
WARM_SECONDS = 4.0  # by then it has loaded what was left for later
IDLE_MEGABYTES, WITH_DATABASE_MEGABYTES = 250.0, 350.0
SETTLED_SECONDS = 15.0  # warming up in the background is over by then


async def seconds(*command: str, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.DEVNULL
    )
    await process.wait()
    return time.perf_counter() - began


def megabytes(process: psutil.Process) -> float:
    """Its share of memory: pages that several processes share count once among them."""
    return process.memory_full_info().pss / 2**20


def of_database(home: Path) -> list[psutil.Process]:
    """The embedded server's processes: it does not run below `steward up`, so that others may use it."""
    [pid_file] = home.rglob("postmaster.pid")
    server = psutil.Process(int(pid_file.read_text().splitlines()[0]))
    return [server, *server.children(recursive=True)]


async def idle_memory(environment: dict[str, str], home: Path) -> tuple[float, float]:
    process = await asyncio.create_subprocess_exec(
        *STEWARD, "up", "--port", "0", env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        await asyncio.sleep(SETTLED_SECONDS)
        own = psutil.Process(process.pid)
        ours = [own, *own.children(recursive=True)]
        database = of_database(home)
        outside = [each for each in ours if each not in database]
        return sum(map(megabytes, outside)), sum(map(megabytes, database))
    finally:
        process.terminate()
        await process.wait()


async def one_command(environment: dict[str, str]) -> bool:
    await seconds(*STEWARD, "tasks", "list", environment=environment)  # the first one makes the database
    loaded, listed = [], []
    for _ in range(COMMAND_ROUNDS):
        loaded.append(await seconds(*LIBRARIES, environment=environment))
        listed.append(await seconds(*STEWARD, "tasks", "list", environment=environment))
    libraries, command = statistics.median(loaded), statistics.median(listed)
    print(f"its libraries alone   {libraries * 1000:7.0f} ms")
    print(f"steward tasks list    {command * 1000:7.0f} ms  {command / libraries:5.1f} times")
    return command / libraries < COMMAND_RATIO


async def in_background(environment: dict[str, str]) -> bool:
    """The first command of a home whose database is there, and those that follow."""
    environment = environment | {"STEWARD_DAEMON": "on"}
    first, following = [], []
    for _ in range(COMMAND_ROUNDS):
        first.append(await seconds(*STEWARD, "tasks", "list", environment=environment))
        await asyncio.sleep(WARM_SECONDS)
        following += [await seconds(*STEWARD, "tasks", "list", environment=environment) for _ in range(3)]
        await seconds(*STEWARD, "down", environment=environment)
    begun, answered = statistics.median(first), statistics.median(following)
    print(f"the first command     {begun * 1000:7.0f} ms")
    print(f"the next one          {answered * 1000:7.0f} ms")
    return begun < FIRST_SECONDS and answered < NEXT_SECONDS


async def measure(home: Path) -> bool:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"STEWARD_HOME": str(home), "STEWARD_MODEL": "planner"}
    environment |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "none", "DATABASE_URL": "", "STEWARD_DAEMON": "off"}
    bare, helped = [], []
    for _ in range(ROUNDS):
        bare.append(await seconds(sys.executable, "-c", "pass", environment=environment))
        helped.append(await seconds(*STEWARD, "--help", environment=environment))
    nothing, shown = statistics.median(bare), statistics.median(helped)
    print(f"python -c pass        {nothing * 1000:7.0f} ms")
    print(f"steward --help        {shown * 1000:7.0f} ms  {shown / nothing:5.1f} times")
    short = await one_command(environment)
    short = await in_background(environment) and short
    ours, database = await idle_memory(environment, home)
    print(f"steward up, idle      {ours:7.0f} MB")
    print(f"its PostgreSQL        {database:7.0f} MB")
    small = ours < IDLE_MEGABYTES and ours + database < WITH_DATABASE_MEGABYTES
    return short and shown < HELP_SECONDS and small


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        kept = asyncio.run(measure(Path(folder)))
    commands = f"{FIRST_SECONDS:g} and {NEXT_SECONDS:g} s"
    memory = f"{IDLE_MEGABYTES:.0f} and {WITH_DATABASE_MEGABYTES:.0f} MB"
    budgets = f"{HELP_SECONDS} s, {commands}, {COMMAND_RATIO:.0f} times, {memory}"
    print(f"budgets {budgets}: {'kept' if kept else 'MISSED'}")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
