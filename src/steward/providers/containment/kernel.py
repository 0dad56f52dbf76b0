"""The system calls that Python does not have: namespaces, mounts, prctl, Landlock, seccomp.

Owns the calls and their constants. Which of them a run needs is decided in namespaces.py, landlock.py and
limits.py. Each raises OSError with the kernel's reason.
"""

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

# The same number on every architecture.
SYS_MOUNT_SETATTR = 442
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_ADD_RULE = 445
SYS_LANDLOCK_RESTRICT_SELF = 446

AT_FDCWD = -100
AT_RECURSIVE = 0x8000
MOUNT_ATTR_RDONLY = 0x1

_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int, third: int | ctypes.Array[ctypes.c_char] | None = 0) -> int:
    # Every argument is as wide as the kernel's: what ctypes passes as an int is only half of it.
    wide = ctypes.c_ulong
    last = wide(third) if isinstance(third, int) else third
    return check(_libc.prctl(option, wide(value), last, wide(0), wide(0)), f"prctl {option}")


def syscall(number: int, *arguments: object) -> int:
    return check(_libc.syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def unshare(flags: int) -> None:
    check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    given = (_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(options))
    check(_libc.mount(*given), f"mount {target}")


def read_only_below(target: str) -> None:
    """Make a mount and all mounts below it read-only. Linux 5.12 and newer."""
    attributes = ctypes.create_string_buffer(MOUNT_ATTR_RDONLY.to_bytes(8, "little") + bytes(24), 32)
    given = (ctypes.c_int(AT_FDCWD), _bytes(target), ctypes.c_uint(AT_RECURSIVE), attributes)
    syscall(SYS_MOUNT_SETATTR, *given, ctypes.c_size_t(32))


def capset(kept: int) -> None:
    """This process's capabilities become those of the mask, and none are handed on."""
    header = ctypes.create_string_buffer((0x20080522).to_bytes(4, "little") + bytes(4), 8)
    low, high = kept & 0xFFFFFFFF, kept >> 32
    words = (low, low, 0, high, high, 0)  # effective, permitted, inheritable; twice 32 bits
    data = ctypes.create_string_buffer(b"".join(word.to_bytes(4, "little") for word in words), 24)
    check(_libc.capset(header, data), "capset")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)
