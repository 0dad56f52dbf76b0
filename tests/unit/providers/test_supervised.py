"""Commands that cannot outlive Steward."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
from tests.support.waiting import until

from steward.contract.errors import ToolError
from steward.providers import supervised
from steward.providers.supervised import Supervised

# A program that leaves a child in its group and a daemon that left its session and its parent.
LEAVES_CHILDREN = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
away = "import os, time\\nif os.fork(): os._exit(0)\\nos.setsid()\\nprint(os.getpid(), flush=True)\\n"
daemon = subprocess.Popen([sys.executable, "-c", away + "time.sleep(600)"], stdout=subprocess.PIPE, text=True)
print(os.getpid(), child.pid, daemon.stdout.readline().strip(), flush=True)
time.sleep(600)
"""


def runs(pid: int) -> bool:
    """Not one that is dead and merely waits for its new parent to notice."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def pids_printed_by(process: Supervised) -> list[int]:
    return [int(word) for word in (await process.stdout.readline()).split()]


async def test_a_killed_command_takes_its_children_and_its_daemons_with_it() -> None:
    process = await Supervised.start([sys.executable, "-c", LEAVES_CHILDREN])
    pids = await pids_printed_by(process)
    assert len(pids) == 3
    await process.kill()
    assert [pid for pid in (*pids, process.pid) if psutil.pid_exists(pid)] == []


async def test_a_command_that_ends_leaves_nothing_behind() -> None:
    process = await Supervised.start(["sh", "-c", "sleep 600 & echo $!; exit 7"])
    (background,) = await pids_printed_by(process)
    assert await process.wait() == 7
    assert not psutil.pid_exists(background)
    await process.kill()


async def test_the_exit_code_of_a_command_ended_by_a_signal_names_the_signal() -> None:
    process = await Supervised.start(["sh", "-c", "kill -TERM $$"])
    assert await process.wait() == 128 + signal.SIGTERM
    await process.kill()


async def test_a_command_that_does_not_exist_says_so() -> None:
    process = await Supervised.start(["/no/such/program"])
    assert b"No such file" in await process.stderr.read()
    assert await process.wait() == 127
    await process.kill()


async def test_a_folder_that_does_not_exist_is_a_tool_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await Supervised.start(["true"], folder=tmp_path / "missing")
    assert caught.value.code == "TOOL_EXECUTION_ERROR"


async def test_a_supervisor_that_is_stuck_leaves_nothing_running_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervised, "SUPERVISOR_GRACE", 0.1)
    process = await Supervised.start([sys.executable, "-c", LEAVES_CHILDREN])
    pids = await pids_printed_by(process)
    os.kill(process.pid, signal.SIGSTOP)
    await process.kill()
    assert [pid for pid in (*pids, process.pid) if runs(pid)] == []


async def test_killing_twice_is_killing_once() -> None:
    process = await Supervised.start(["sleep", "600"])
    await asyncio.gather(process.kill(), process.kill())
    await process.kill()
    assert not process.alive


@pytest.mark.parametrize("stopped", [False, True], ids=["", "with a supervisor that somebody stopped"])
async def test_nothing_survives_a_kill_9_of_steward(stopped: bool) -> None:
    steward = """
import asyncio, sys
from steward.providers.supervised import Supervised
async def main():
    process = await Supervised.start([sys.executable, "-c", sys.argv[1]])
    print((await process.stdout.readline()).decode(), process.pid, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", steward, LEAVES_CHILDREN, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pids = [int(word) for word in (await parent.stdout.readline()).split()]
    pids.append(int(await parent.stdout.readline()))
    if stopped:
        os.kill(pids[-1], signal.SIGSTOP)
    os.kill(parent.pid, signal.SIGKILL)
    await parent.wait()
    await until(lambda: not any(map(psutil.pid_exists, pids)))
