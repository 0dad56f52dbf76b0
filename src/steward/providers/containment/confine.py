"""What the supervisor does with a plan: before it starts the command, in the child, and while it runs.

Owns the order of the steps for each mechanism. A step that fails ends the run before its first line: code
that was to be contained never runs uncontained.
"""

import os
import signal

from steward.providers.containment import kernel, landlock, limits, namespaces, wrappers
from steward.providers.containment.shape import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WATCH_SECONDS = 0.1
TOO_MUCH = 128 + signal.SIGKILL


def prepare(plan: Plan, command: "list[str]") -> "tuple[list[str], bool]":
    """In the supervisor: the command to start, and whether processes count in a user namespace of its own."""
    match plan["mechanism"]:
        case "bubblewrap":
            return wrappers.bubblewrap(plan, command), False
        case "seatbelt":
            return wrappers.seatbelt(plan, command), False
        case "namespaces":
            return command, namespaces.enter(plan)
        case "landlock" | "none":
            return command, False


def bind_child(plan: Plan, *, own_users: bool) -> None:
    """In the child, before the command: what it can never get back."""
    mechanism = plan["mechanism"]
    if mechanism == "namespaces":
        namespaces.settle()
    limits.bound(plan["limits"], own_users=own_users)
    if mechanism in ("bubblewrap", "seatbelt"):  # those do the rest themselves
        return
    if mechanism == "none":
        if hasattr(os, "memfd_create"):  # Linux
            limits.no_new_privileges()
        return
    limits.give_up_capabilities()
    limits.no_new_privileges()
    if mechanism == "landlock":
        landlock.restrict(plan)
        limits.refuse_calls(sockets="network" if plan["network"] else "none")
    else:
        limits.refuse_calls(sockets="all")
    os.chdir(plan["folder"])


def be_first(plan: Plan, start: "Callable[[], int]") -> int:
    """As the first process of a namespace: start the command, reap, watch. Its end ends all others."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # the command may not look into this process
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    command = start()
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code
        if pid:
            continue
        signal.sigtimedwait((signal.SIGCHLD,), WATCH_SECONDS)
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
        if (problem := limits.excess(plan["limits"], pids)) is not None:
            os.write(2, f"{problem}\n".encode())
            return TOO_MUCH


def excess_below(plan: Plan, pids: "list[int]") -> str | None:
    return limits.excess(plan["limits"], [str(pid) for pid in pids])
