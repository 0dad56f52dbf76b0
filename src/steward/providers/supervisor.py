"""A guard program between Steward and a command: nothing the command starts survives either of them.

Run as `python supervisor.py LIFELINE_FD COMMAND ...` with the standard library only. It starts the command
in a session of its own, adopts whatever the command leaves behind (child subreaper), and kills all of it
as soon as the command ends or the lifeline closes, which the kernel does even after `kill -9` of Steward.
Owns no policy: when to close the lifeline is decided by `supervised.py`.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
COMMAND_NOT_FOUND = 127
LOST = 125  # the command's own status could not be learnt
SWEEP_SECONDS = 0.01


def prctl(option: int, value: int) -> None:
    """Linux only; elsewhere the process group alone is what can be killed."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def start(command: list[str], lifeline: int) -> int:
    supervisor = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        os.close(lifeline)
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if os.getppid() == supervisor:
            os.execvp(command[0], command)  # noqa: S606 - the caller chose the command; no shell in between
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(COMMAND_NOT_FOUND)


def descendants(root: int) -> list[int]:
    """Every process below `root` that still runs, from /proc; empty where there is none."""
    parents: dict[int, int] = {}
    try:
        entries = [entry for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208 - start-up time
    except OSError:
        return []
    for entry in entries:
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The command name may contain anything, so fields count from the last parenthesis.
            stat = Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace")
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state != "Z":  # dead already, and its children have another parent
                parents[int(entry)] = int(parent)
    below: list[int] = []
    frontier = {root}
    while frontier:
        frontier = {pid for pid, parent in parents.items() if parent in frontier}
        below.extend(frontier)
    return below


def kill_below(root: int) -> None:
    for pid in descendants(root):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def kill_all(command: int) -> int | None:
    """Kill and reap everything below us; the command's exit status when it was reaped here."""
    status: int | None = None
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(command, signal.SIGKILL)
        kill_below(os.getpid())
        try:
            while True:
                pid, raw = os.waitpid(-1, os.WNOHANG)
                if pid == command:
                    status = raw
                if pid == 0:
                    break
        except ChildProcessError:
            return status
        select.select((), (), (), SWEEP_SECONDS)


def wait_for(command: int, lifeline: int, alarm: int) -> int | None:
    """Reap until the command ends (its status) or the lifeline closes (None)."""
    while True:
        ready, _, _ = select.select((lifeline, alarm), (), ())
        if lifeline in ready:
            return None
        os.read(alarm, 4096)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == command:
                    return status
                if pid == 0:
                    break


def note(_signal: int, _frame: object) -> None:
    """Having a handler is what makes SIGCHLD arrive at the wakeup descriptor."""


def main(arguments: list[str]) -> int:
    lifeline, command = int(arguments[0]), arguments[1:]
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    alarm, wakeup = os.pipe()
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, note)
    child = start(command, lifeline)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the command alone holds them, so that their end means its end
        os.dup2(nothing, stream)
    status = wait_for(child, lifeline, alarm)
    swept = kill_all(child)
    status = swept if status is None else status
    if status is None:
        return LOST
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
