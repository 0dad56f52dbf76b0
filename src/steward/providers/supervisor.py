"""A guard program between Steward and a command: nothing the command starts survives either of them.

Run as `python supervisor.py LIFELINE_FD [--plan PLAN] COMMAND ...` with the standard library only. It starts
the command in a session of its own, adopts whatever the command leaves behind (child subreaper), and kills
all of it as soon as the command ends or the lifeline closes, which the kernel does even after `kill -9` of
Steward. With a plan the command is contained first (containment/), or does not run at all.
Owns no policy: when to close the lifeline is decided by `supervised.py`, what a plan holds by `plan.py`.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from steward.providers.containment.shape import Plan

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
COMMAND_NOT_FOUND = 127
NOT_CONTAINED = 126
LOST = 125  # the command's own status could not be learnt
SWEEP_SECONDS = 0.01
WATCH_SECONDS = 0.5  # looking through the machine's processes takes a few milliseconds


def prctl(option: int, value: int) -> None:
    """Linux only; elsewhere the process group alone is what can be killed."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def start(command: list[str], lifeline: int, bell: "tuple[int, int]", inside: "Inside | None") -> int:
    """`bell`: a pipe whose writing end only the supervisor keeps, so that its end can be heard."""
    child = os.fork()
    if child:
        return child
    try:
        signal.set_wakeup_fd(-1)
        os.close(lifeline)
        os.close(bell[1])
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if select.select((bell[0],), (), (), 0)[0]:  # it died before we asked
            os._exit(LOST)
        if inside is not None:
            inside.settle()
        if inside is not None and inside.alone:
            os._exit(inside.be_first(lambda: launch(command)))
        run(command)
    except OSError as error:
        os.write(2, f"Nothing ran, because it could not be contained here: {error.strerror}\n".encode())
    os._exit(NOT_CONTAINED)


def launch(command: list[str]) -> int:
    """The command as a child of the first process of a namespace."""
    child = os.fork()
    if not child:
        os.setsid()
        run(command)
    return child


def run(command: list[str]) -> None:
    """Become the command, or end."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execvp(command[0], command)  # noqa: S606 - the caller chose the command; no shell in between
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(COMMAND_NOT_FOUND)


class Inside:
    """A plan in use. Loaded only with a plan: servers of mcp.json start without."""

    def __init__(self, text: str) -> None:
        import marshal  # noqa: PLC0415 - built in, where json would take 5 ms to import

        # Last on the path, so that nothing of Steward's neighbours shadows the standard library.
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        from steward.providers.containment import confine  # noqa: PLC0415

        self._confine: ModuleType = confine
        self.plan: Plan = marshal.loads(bytes.fromhex(text))  # noqa: S302 - from Steward's own command line
        self.alone = self.plan["mechanism"] == "namespaces"  # its processes are none of the machine's
        self._own_users = False

    def prepare(self, command: list[str]) -> list[str]:
        prepared, self._own_users = self._confine.prepare(self.plan, command)
        return prepared

    def settle(self) -> None:
        self._confine.bind_child(self.plan, own_users=self._own_users)

    def be_first(self, begin: "Callable[[], int]") -> int:
        return self._confine.be_first(self.plan, begin)

    def excess(self) -> str | None:
        """What the run uses too much of, seen from outside; its own first process looks where it is alone."""
        return None if self.alone else self._confine.excess_below(self.plan, descendants(os.getpid()))


def descendants(root: int) -> list[int]:
    """Every process below `root` that still runs, from /proc; empty where there is none."""
    parents: dict[int, int] = {}
    try:
        entries = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []
    for entry in entries:
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The command name may contain anything, so fields count from the last parenthesis.
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                state, parent = stat.read().rpartition(")")[2].split()[:2]
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


def kill_all(command: int, *, alone: bool = False) -> int | None:
    """Kill and reap everything below us; the command's exit status when it was reaped here.

    `alone`: the command is the first of a namespace, and takes all others with it."""
    status: int | None = None
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(command, signal.SIGKILL) if alone else os.killpg(command, signal.SIGKILL)
        if not alone:
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


def watch(inside: "Inside | None", errors: int) -> bool:
    """Whether a contained run uses too much; then it is told so, in its own output."""
    if inside is None or (problem := inside.excess()) is None:
        return False
    os.write(errors, f"{problem}\n".encode())
    return True


def wait_for(command: int, lifeline: int, alarm: int, too_much: "Callable[[], bool] | None") -> int | None:
    """Reap until the command ends (its status), or until it must (None): too much, or a closed lifeline."""
    seconds = None if too_much is None else WATCH_SECONDS
    while True:
        ready, _, _ = select.select((lifeline, alarm), (), (), seconds)
        if lifeline in ready or (not ready and too_much is not None and too_much()):
            return None
        if alarm in ready:
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
    lifeline, command, inside = int(arguments[0]), arguments[1:], None
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)  # stopped by somebody, it would not see the lifeline close
    if command[0] == "--plan":
        try:
            inside = Inside(command[1])
            command = inside.prepare(command[2:])
        except OSError as error:
            os.write(2, f"Nothing ran, because it could not be contained here: {error.strerror}\n".encode())
            return NOT_CONTAINED
    alarm, wakeup = os.pipe()
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, note)
    child = start(command, lifeline, (alarm, wakeup), inside)
    errors = os.dup(2) if inside is not None and not inside.alone else None  # to say why it was stopped
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the command alone holds them, so that their end means its end
        os.dup2(nothing, stream)
    watching = None if errors is None else lambda: watch(inside, errors)
    status = wait_for(child, lifeline, alarm, watching)
    swept = kill_all(child, alone=inside is not None and inside.alone)
    status = swept if status is None else status
    if status is None:
        return LOST
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # nothing is left to tidy up, and an interpreter's end takes milliseconds
