"""Containment by another program: bubblewrap where it is installed, sandbox-exec on macOS.

Owns the words that each of them is given. Both get the same plan as our own namespaces do.
"""

import os

from steward.providers.containment import namespaces, seccomp
from steward.providers.containment.shape import RESOLVERS, RUN, RUN_KEPT, Plan, below_any, outermost

_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL")
SEATBELT = "/usr/bin/sandbox-exec"
# The system's own only: code that ran before could have left one of its making in the account's folders.
_BUBBLEWRAPS = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")


def find_bubblewrap() -> str | None:
    return next((path for path in _BUBBLEWRAPS if os.access(path, os.X_OK)), None)


def bubblewrap(plan: Plan, command: "list[str]") -> "list[str]":
    """The command behind `bwrap`. Leaves a descriptor with the filter open for it."""
    root = os.geteuid() == 0
    words = [
        find_bubblewrap() or "bwrap",
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-ipc",
        "--cap-drop",
        "ALL",
    ]
    words += [] if plan["network"] else ["--unshare-net"]
    words += [word for name in _CAPABILITIES if root for word in ("--cap-add", name)]
    words += ["--bind", "/", "/", *(("--dev", "/dev") if root else ("--dev-bind", "/dev", "/dev"))]
    words += ["--tmpfs", "/dev/shm", "--proc", "/proc", *(("--ro-bind", "/sys", "/sys") if root else ())]  # noqa: S108
    hidden = [path for path in outermost([*plan["hidden"], RUN]) if os.path.exists(path)]
    for path in plan["read_only"]:
        words += ["--ro-bind-try", path, path]
    for path in namespaces.listening():
        if os.path.exists(path) and not below_any(path, hidden):
            words += ["--ro-bind", "/dev/null", path]
    folders = [path for path in hidden if os.path.isdir(path)]
    for path in hidden:
        words += ["--tmpfs", path] if path in folders else ["--ro-bind", "/dev/null", path]
    for path in (*plan["kept"], *RUN_KEPT, *(RESOLVERS if plan["network"] else ())):
        if below_any(path, hidden):
            words += ["--ro-bind-try", path, path]
    for path in plan["writable"]:
        words += ["--bind-try", path, path]
    for path in folders:
        words += ["--remount-ro", path]
    code = seccomp.build()
    if code is not None:
        words += ["--seccomp", str(_readable(code))]
    return [*words, "--chdir", plan["folder"], "--", *command]


def seatbelt(plan: Plan, command: "list[str]") -> "list[str]":
    """The command behind macOS's sandbox-exec, with a profile of its own."""
    rules = [
        "(version 1)",
        "(allow default)",
        "(deny process-info* (target others))",
        "(deny signal (target others))",
    ]
    rules += [] if plan["network"] else ["(deny network*)"]
    for path in plan["read_only"]:
        rules.append(f"(deny file-write* (subpath {_quoted(path)}))")
    for path in plan["hidden"]:
        rules.append(f"(deny file* (subpath {_quoted(path)}))")
        rules.append(f"(deny network-outbound (subpath {_quoted(path)}))")
    for path in plan["kept"]:  # the last rule that fits is the one that counts
        rules.append(f"(allow file-read* (subpath {_quoted(path)}))")
    for path in plan["writable"]:
        rules.append(f"(allow file* (subpath {_quoted(path)}))")
    return [SEATBELT, "-p", "\n".join(rules), *command]


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _readable(content: bytes) -> int:
    """A descriptor that the next program reads this from."""
    there, here = os.pipe()
    os.write(here, content)
    os.close(here)
    os.set_inheritable(there, True)
    return there
