"""Containment by Landlock alone, where namespaces are not allowed: a container, or a careful distribution.

Owns the rules. Landlock allows by folder and cannot take away below one: so everything is allowed but the
folders on the way to what is hidden, of which each other entry is. What stands directly in such a folder
can be used, a new entry cannot be made there. Sockets are closed by the filter (seccomp.py).
"""

import ctypes
import os
import stat
import struct

from steward.providers.containment import kernel
from steward.providers.containment.shape import RESOLVERS, RUN, RUN_KEPT, Plan, below_any, outermost

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_RIGHTS = {1: _REFER - 1, 2: (_REFER << 1) - 1, 3: (_TRUNCATE << 1) - 1, 4: (_TRUNCATE << 1) - 1}
_NEWEST_RIGHTS = (_IOCTL << 1) - 1
_TCP = 3  # bind and connect
_SCOPES = 3  # abstract sockets and signals of others
_VERSION_FLAG, _BENEATH = 1, 1
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6


def version() -> int:
    """Which Landlock this kernel has. Raises OSError when it has none."""
    none = ctypes.c_void_p(None)
    return kernel.syscall(
        kernel.SYS_LANDLOCK_CREATE_RULESET, none, ctypes.c_size_t(0), ctypes.c_uint(_VERSION_FLAG)
    )


def restrict(plan: Plan) -> None:
    """After `no_new_privileges`: from here on this process and its children see only what the plan shows."""
    known = version()
    rules = _Rules(known, network=plan["network"])
    hidden = outermost([*plan["hidden"], RUN, "/proc"])
    rules.walk("/", hidden, plan["read_only"])
    # What the machine says of itself, but of none of its processes.
    for name in os.listdir("/proc"):
        if not name.isdigit():
            rules.allow(f"/proc/{name}", reading=True)
    for path in (*plan["kept"], *RUN_KEPT, *(RESOLVERS if plan["network"] else ())):
        rules.allow(path, reading=True)
    for path in plan["writable"]:
        rules.allow(path)
    rules.enforce()


class _Rules:
    def __init__(self, known: int, *, network: bool) -> None:
        self._rights = _RIGHTS.get(known, _NEWEST_RIGHTS)
        words = [self._rights]
        if known >= _NETWORK_SINCE:
            words.append(0 if network else _TCP)
        if known >= _SCOPES_SINCE:
            words.append(_SCOPES)
        wanted = ctypes.create_string_buffer(struct.pack(f"={len(words)}Q", *words), 8 * len(words))
        size, flags = ctypes.c_size_t(8 * len(words)), ctypes.c_uint(0)
        self._set = kernel.syscall(kernel.SYS_LANDLOCK_CREATE_RULESET, wanted, size, flags)

    def walk(
        self, folder: str, hidden: "list[str]", read_only: "list[str]", *, reading: bool = False
    ) -> None:
        """Allow every entry, and go into those that have something special below them."""
        special = (*hidden, *read_only)
        for entry in os.scandir(folder):
            path = entry.path
            if path in hidden or entry.is_symlink():
                continue
            alone = reading or path in read_only
            if any(below_any(one, [path]) and one != path for one in special):
                self.walk(path, hidden, read_only, reading=alone)
            else:
                self.allow(path, reading=alone)

    def allow(self, path: str, *, reading: bool = False) -> None:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # what cannot be opened need not be allowed
        try:
            rights = self._rights & (_READING if reading else ~0)
            if not stat.S_ISDIR(os.fstat(handle).st_mode):
                rights &= _OF_FILES
            rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, handle), 12)
            given = (ctypes.c_int(self._set), ctypes.c_int(_BENEATH), rule, ctypes.c_uint(0))
            kernel.syscall(kernel.SYS_LANDLOCK_ADD_RULE, *given)
        finally:
            os.close(handle)

    def enforce(self) -> None:
        kernel.syscall(kernel.SYS_LANDLOCK_RESTRICT_SELF, ctypes.c_int(self._set), ctypes.c_uint(0))
        os.close(self._set)
