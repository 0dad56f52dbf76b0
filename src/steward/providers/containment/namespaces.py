"""Containment by namespaces: other mounts, other processes, another network, made with our own hands.

Owns what a run sees. The supervisor calls `enter` (it stays outside the new process namespace), then its
child calls `settle` and is the first process of that namespace: when it ends, the kernel ends all others.
"""

import contextlib
import os
import stat

from steward.providers.containment import kernel
from steward.providers.containment.shape import RESOLVERS, RUN, RUN_KEPT, Plan, below_any, outermost

_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "dri", "kfd", "pts", "ptmx")
_MANY_DEVICES = "nvidia"
_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs")  # root could change the whole machine through them
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where the kernel has it
_MOST_SOCKETS = 500
_LISTENS = "00010000"  # the flag of a socket that takes connections


def enter(plan: Plan) -> bool:
    """Unshare and arrange the files. True when processes are counted in a user namespace of its own."""
    own_users = os.geteuid() != 0
    sockets = listening()
    spaces = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC
    if not plan["network"]:
        spaces |= kernel.CLONE_NEWNET
    if own_users:
        _unshare_as_user(spaces)
    else:
        kernel.unshare(spaces)
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    _arrange(plan, sockets)
    return own_users


def settle() -> None:
    """The last steps, as the first process of the new namespace: its own /proc, nobody else's."""
    try:
        kernel.mount("proc", "/proc", "proc", _PLAIN | kernel.MS_NOEXEC)
    except OSError:
        # Inside another container the kernel may refuse a fresh one: none at all then.
        kernel.mount("tmpfs", "/proc", "tmpfs", _PLAIN | kernel.MS_NOEXEC | kernel.MS_RDONLY)
        return
    for name in _SETTINGS if os.geteuid() == 0 else ():
        if os.path.exists(f"/proc/{name}"):
            _bind_read_only(f"/proc/{name}")


def listening() -> list[str]:
    """Paths of sockets that somebody listens on: another network namespace does not close those."""
    found: list[str] = []
    with (
        contextlib.suppress(OSError),
        open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as table,
    ):
        for line in table:
            fields = line.split(maxsplit=7)
            if len(fields) == 8 and fields[3] == _LISTENS and fields[7].startswith("/"):
                found.append(fields[7].rstrip("\n"))
    return found[:_MOST_SOCKETS]


def _unshare_as_user(spaces: int) -> None:
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(spaces | kernel.CLONE_NEWUSER)
    for name, text in (
        ("uid_map", f"{user} {user} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as map_file:
            map_file.write(text)


def _arrange(plan: Plan, sockets: list[str]) -> None:
    """Covers go over what is hidden; what is kept is opened before and put back on top."""
    resolvers = RESOLVERS if plan["network"] else ()
    hidden = [path for path in outermost([*plan["hidden"], RUN]) if os.path.exists(path)]
    kept = [(path, True) for path in (*plan["kept"], *RUN_KEPT, *resolvers)]
    kept += [(path, False) for path in plan["writable"]]
    back = [
        (path, alone, _opened(path))
        for path, alone in kept
        if below_any(path, hidden) and os.path.exists(path)
    ]
    for path in plan["read_only"]:
        if os.path.exists(path):
            _bind_read_only(path)
    for path in plan["writable"]:
        if os.path.exists(path) and not below_any(path, hidden) and below_any(path, plan["read_only"]):
            kernel.mount(path, path, None, kernel.MS_BIND)
            _remount(path, 0)
    for path in sockets:
        if os.path.exists(path) and not below_any(path, hidden):
            with contextlib.suppress(OSError):  # another user's, whom we could not reach either
                kernel.mount("/dev/null", path, None, kernel.MS_BIND)
    _arrange_devices()
    covered = [path for path in hidden if os.path.exists(path)]  # a home in shared memory is gone by now
    for path in covered:
        _cover(path)
    for path, alone, handle in sorted(back):
        _put_back(path, handle, alone=alone)
    for path in covered:
        if os.path.isdir(path):
            _remount(path, kernel.MS_RDONLY)


def _cover(path: str) -> None:
    if os.path.isdir(path):
        kernel.mount("tmpfs", path, "tmpfs", _PLAIN, "size=1m,mode=0755")
    else:
        kernel.mount("/dev/null", path, None, kernel.MS_BIND)


def _put_back(path: str, handle: int, *, alone: bool) -> None:
    source = f"/proc/self/fd/{handle}"
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        os.makedirs(path, exist_ok=True)
        kernel.mount(source, path, None, kernel.MS_BIND | kernel.MS_REC)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        kernel.mount(source, path, None, kernel.MS_BIND)
    if alone:
        _remount(path, kernel.MS_RDONLY)
    os.close(handle)


def _arrange_devices() -> None:
    """Root would reach disks and memory through /dev; shared memory belongs to each run alone."""
    if os.geteuid() == 0:
        names = [name for name in os.listdir("/dev") if name in _DEVICES or name.startswith(_MANY_DEVICES)]
        handles = [(name, _opened(f"/dev/{name}")) for name in names]
        kernel.mount("tmpfs", "/dev", "tmpfs", kernel.MS_NOSUID, "size=1m,mode=0755")
        for name, handle in handles:
            _put_back(f"/dev/{name}", handle, alone=False)
        for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
            os.symlink(f"/proc/self/{target}", f"/dev/{name}")
        os.mkdir(_SHARED_MEMORY)
        _read_only_system()
    if os.path.isdir(_SHARED_MEMORY):
        kernel.mount("tmpfs", _SHARED_MEMORY, "tmpfs", _PLAIN, "mode=1777")
    if os.geteuid() == 0:
        _remount("/dev", kernel.MS_RDONLY)


def _read_only_system() -> None:
    try:
        kernel.read_only_below("/sys")
    except OSError:
        kernel.mount("tmpfs", "/sys", "tmpfs", _PLAIN | kernel.MS_RDONLY)


def _bind_read_only(path: str) -> None:
    kernel.mount(path, path, None, kernel.MS_BIND | kernel.MS_REC)
    try:
        kernel.read_only_below(path)
    except OSError:  # before Linux 5.12: the top alone
        _remount(path, kernel.MS_RDONLY)


def _remount(path: str, more: int) -> None:
    """Only flags may be added: those that the mount has must be named again."""
    has = os.statvfs(path).f_flag
    same = has & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.mount("none", path, None, kernel.MS_BIND | kernel.MS_REMOUNT | same | more)


def _opened(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)
