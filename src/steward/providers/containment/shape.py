"""How Steward tells the supervisor what a run may see: one plan on its command line.

Plain dictionaries, marshalled, because the supervisor starts before every run: dataclasses take 10 ms to
import and json takes 5. Both sides are the same Python.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class Limits(TypedDict):
        cpu_seconds: int
        memory: int  # bytes, of one process and of all together
        file_size: int
        open_files: int
        processes: int

    class Plan(TypedDict):
        mechanism: Literal["bubblewrap", "namespaces", "landlock", "seatbelt", "none"]
        hidden: list[str]  # files and folders that are not there
        kept: list[str]  # read-only although below a hidden one
        writable: list[str]  # as they are although below a hidden or read-only one
        read_only: list[str]
        network: bool
        folder: str  # where the command starts
        limits: Limits
else:
    Limits = Plan = dict

RUN = "/run"  # where the services of a machine listen
# Of it only what is no door: programs on NixOS, graphics drivers; and where names are looked up.
RUN_KEPT = ("/run/current-system", "/run/opengl-driver", "/run/booted-system")
RESOLVERS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")


def below_any(path: str, folders: "list[str] | tuple[str, ...]") -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def outermost(paths: "list[str]") -> "list[str]":
    outer: list[str] = []
    for path in sorted(set(paths)):
        if not below_any(path, outer):
            outer.append(path)
    return outer
