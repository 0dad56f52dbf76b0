"""What a run may use, and the rights that it gives up for good before its first line.

Owns resource limits, capabilities, `no_new_privs`, the filter's installation, and the watch over what one
run uses in all: a limit of the kernel's counts one process, and does not count root's at all.
"""

import contextlib
import ctypes
import os
import resource
import struct

from steward.providers.containment import kernel, seccomp
from steward.providers.containment.shape import Limits

# Root keeps its way with files (own, read, write, change owners) and nothing else.
_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID, _KILL = 0, 1, 3, 4, 5
KEPT_CAPABILITIES = (_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID, _KILL)
_LAST_CAPABILITY = 63
_FILTER_MODE = 2
PAGE = os.sysconf("SC_PAGE_SIZE")


def bound(limits: Limits, *, own_users: bool) -> None:
    """Limits of each process. `own_users`: processes are counted in this run's own user namespace."""
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, limits["cpu_seconds"])
    lower(resource.RLIMIT_DATA, limits["memory"])
    lower(resource.RLIMIT_FSIZE, limits["file_size"])
    lower(resource.RLIMIT_NOFILE, limits["open_files"])
    if own_users:
        lower(resource.RLIMIT_NPROC, limits["processes"])


def lower(which: int, value: int) -> None:
    """Never above what the account has."""
    _, hard = resource.getrlimit(which)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):  # macOS refuses some
        resource.setrlimit(which, (most, most))


def give_up_capabilities() -> None:
    kept = 0
    with contextlib.suppress(OSError):
        kernel.prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(_LAST_CAPABILITY + 1):
        if capability in KEPT_CAPABILITIES and os.geteuid() == 0:
            kept |= 1 << capability
            continue
        try:
            kernel.prctl(kernel.PR_CAPBSET_READ, capability)
        except OSError:
            break  # past the last that this kernel knows
        with contextlib.suppress(PermissionError):  # an account without rights has none to drop
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
    kernel.capset(kept & _held())


def _held() -> int:
    with open("/proc/self/status", encoding="utf-8", errors="replace") as status:
        return next((int(line.split()[1], 16) for line in status if line.startswith("CapPrm:")), 0)


def no_new_privileges() -> None:
    """A set-uid program gains nothing from here on."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def refuse_calls(*, sockets: "seccomp.Sockets") -> None:
    """After `no_new_privileges`. Where the filter is not known for this machine, nothing happens."""
    code = seccomp.build(sockets=sockets)
    if code is None:
        return
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held))
    kernel.prctl(kernel.PR_SET_SECCOMP, _FILTER_MODE, ctypes.create_string_buffer(program, len(program)))


def excess(limits: Limits, pids: "list[str]") -> str | None:
    """What these processes use too much of in all, as a sentence; None when they keep to the limits."""
    if len(pids) > limits["processes"]:
        return f"It ran more than {limits['processes']} processes at once and was stopped."
    used = 0
    for pid in pids:
        with (
            contextlib.suppress(OSError, ValueError, IndexError),
            open(f"/proc/{pid}/statm", encoding="utf-8") as statm,
        ):
            used += int(statm.read().split()[1]) * PAGE
    if used > limits["memory"]:
        return f"It used more than {limits['memory'] // 2**20} MiB of memory and was stopped."
    return None
