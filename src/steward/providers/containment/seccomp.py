"""A filter that refuses the system calls which lead out of a container, or to the network.

Owns the list and the filter's code. Needs no rights but `no_new_privs`, so that it holds everywhere on
Linux; an architecture whose numbers are not listed gets no filter, and `build` says so with None.
"""

import errno
import os
import struct

from steward.providers.containment import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Sockets = Literal["none", "network", "all"]

# Calls that reach other processes' memory, kernel keys, mounts, modules or tracing; no plain program needs
# them. io_uring would go around the filter. clone3 hides its flags, so libraries are sent back to clone.
_X86_64 = (
    101, 134, 139, 155, 161, 163, 165, 166, 167, 168, 169, 175, 176, 246, 248, 249, 250, 272, 298, 304,
    308, 310, 311, 313, 320, 321, 323, 425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442,
)  # fmt: skip
_AARCH64 = (
    39, 40, 41, 51, 97, 104, 105, 106, 117, 142, 217, 218, 219, 224, 225, 241, 265, 268, 270, 271,
    273, 280, 282, 294, 425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442,
)  # fmt: skip
# The architecture as the kernel names it, the refused calls, and the numbers of clone and socket.
_MACHINES = {"x86_64": (0xC000003E, _X86_64, 56, 41), "aarch64": (0xC00000B7, _AARCH64, 220, 198)}
_CLONE3 = 435

_LOAD, _EQUAL, _AT_LEAST, _BITS, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in the kernel's seccomp_data
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_OTHER_TABLE = 0x40000000  # x32 numbers on x86_64: other calls under other numbers
# IPv4, IPv6 and what names the interfaces; the many odd families are wide doors that nobody needs.
_NETWORK_FAMILIES = (2, 10, 16)
_LOCAL_FAMILY = 1


def _line(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def build(*, sockets: "Sockets" = "all") -> bytes | None:
    """The filter's code. Without namespaces, sockets are closed here: "network" leaves out local ones."""
    known = _MACHINES.get(os.uname().machine)
    if known is None:
        return None
    architecture, refused, clone, socket = known
    refuse, absent = _line(_ANSWER, _ERRNO | errno.EPERM), _line(_ANSWER, _ERRNO | errno.ENOSYS)
    code = [
        _line(_LOAD, _ARCHITECTURE), _line(_EQUAL, architecture, yes=1), refuse,
        _line(_LOAD, _NUMBER), _line(_AT_LEAST, _OTHER_TABLE, no=1), refuse,
    ]  # fmt: skip
    for number in refused:
        code += [_line(_EQUAL, number, no=1), refuse]
    code += [_line(_EQUAL, _CLONE3, no=1), absent]
    code += [_line(_EQUAL, clone, no=4), _line(_LOAD, _FIRST_ARGUMENT)]
    code += [_line(_BITS, kernel.CLONE_NEWUSER, no=1), refuse, _line(_ANSWER, _ALLOW)]
    families = {"none": (), "network": _NETWORK_FAMILIES, "all": (_LOCAL_FAMILY, *_NETWORK_FAMILIES)}[sockets]
    code += [_line(_EQUAL, socket, no=2 + 2 * len(families)), _line(_LOAD, _FIRST_ARGUMENT)]
    for family in families:
        code += [_line(_EQUAL, family, no=1), _line(_ANSWER, _ALLOW)]
    code += [refuse, _line(_ANSWER, _ALLOW)]
    return b"".join(code)
