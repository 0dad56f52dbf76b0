"""A real pgbouncer in transaction mode in front of the test run's PostgreSQL."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin") or "pgbouncer"  # `make bouncer`
SERVERS = 5  # fewer than one instance has connections
SECONDS_TO_START = 60


@contextmanager
def bouncer(database_url: str) -> Iterator[str]:
    """The address of this database behind it."""
    parts = urlsplit(database_url)
    [server] = parse_qs(parts.query)["host"]
    with tempfile.TemporaryDirectory(prefix="bouncer-") as name:
        folder = Path(name)
        user = pwd.getpwuid(Path(server).stat().st_uid).pw_name  # the socket is its own; and never root
        (folder / "users").write_text('"postgres" ""\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = host={server} port=5432 user=postgres\n[pgbouncer]\npool_mode = transaction\n"
            f"listen_addr =\nlisten_port = 6432\nunix_socket_dir = {folder}\nauth_type = trust\n"
            f"auth_file = {folder}/users\ndefault_pool_size = {SERVERS}\nmax_client_conn = 200\n"
            f"logfile = {folder}/log\n"
        )
        for place in (folder, *folder.iterdir()):
            shutil.chown(place, user)
        command = [
            PGBOUNCER,
            "-q",
            *(["-u", user] if os.getuid() == 0 else []),
            str(folder / "pgbouncer.ini"),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_for(folder / ".s.PGSQL.6432", process, folder / "log")
            yield f"postgresql://postgres@{parts.path}?host={folder}&port=6432"
        finally:
            process.kill()
            process.wait()


def _wait_for(socket: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"pgbouncer did not start: {log.read_text() if log.exists() else 'no log'}")
        time.sleep(0.01)
