"""The embedded PostgreSQL: one server in one folder, shared by every program that uses that folder.

Owns the server's process and data folder: making, starting, adopting, reviving and stopping them. Does not
own connections or schema (postgres.py, migrate.py).

Every program holds a shared lock on `programs.lock` for as long as it uses the server, and the operating
system lets go of it however the program ends. Whoever leaves and then gets that lock alone was the last one,
and stops the server. `door.lock` lets programs come and go one at a time. Only the wheel's binaries are
used: its own bookkeeping remembers process ids, and a killed program stays in it for ever.
"""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from steward.contract import linear_re as re
from steward.contract.errors import ConflictError, ErrorCode, StorageError
from steward.storage.database import host
from steward.storage.database.failures import explain_os_error

SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": "",
        "port": "5432",
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "128MB",
        "maintenance_work_mem": "128MB",
        "min_dynamic_shared_memory": "160MB",  # so that parallel index builds fit where /dev/shm is small
        "max_wal_size": "1GB",
        "random_page_cost": "1.1",
        "client_connection_check_interval": "5s",  # a query whose program is gone ends as well
        "jit": "off",
        "io_method": "sync",
        "log_checkpoints": "off",
        "log_error_verbosity": "terse",
    }
)
START_DEADLINE = 60.0
STOP_DEADLINE = 30.0
LOOKS = 0.003  # seconds between two looks whether the server has come up or gone: pg_ctl looks every 0.1 s
_LOG_LIMIT = 1_000_000
_LOST_WAL = (  # what PostgreSQL says when pg_wal, or what it points to, is gone
    "could not locate a valid checkpoint record",
    "could not locate required checkpoint record",
    "invalid primary checkpoint record",
    'required WAL directory "pg_wal" does not exist',
)


class EmbeddedServer:
    """A program's share in the server of `folder`. Every method blocks: async callers use a thread."""

    def __init__(self, folder: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self._folder = folder.expanduser().resolve()
        self._data = self._folder / "data"
        self._settings = {**SETTINGS, **(settings or {})}
        self._share: int | None = None
        self._socket_folder = self._data
        self._pid: int | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self._socket_folder), safe='')}&port=5432"

    def join(self) -> None:
        """Take a share; the server runs when this returns."""
        with explain_os_error(f"The database folder {self._folder} cannot be used."):
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._door():
                share = os.open(self._folder / "programs.lock", os.O_RDWR | os.O_CREAT, 0o600)
                try:
                    fcntl.flock(share, fcntl.LOCK_SH)
                    self._ensure_running()
                except BaseException:
                    os.close(share)
                    raise
                self._share = share

    def revive(self) -> None:
        """Start the server again when it died under us."""
        with explain_os_error(f"The database folder {self._folder} cannot be used."), self._door():
            self._ensure_running()

    def leave(self) -> None:
        """Give the share back; the last one out stops the server."""
        share, self._share = self._share, None
        if share is None:
            return
        try:
            with self._door():
                fcntl.flock(share, fcntl.LOCK_UN)
                try:
                    fcntl.flock(share, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return
                self._stop()
        except FileNotFoundError:  # the folder was deleted under us: the server serves nobody any more
            if self._pid is not None and host.is_postgres(self._pid):
                os.kill(self._pid, signal.SIGQUIT)
        finally:
            os.close(share)

    @contextmanager
    def retired(self) -> Generator[None]:
        """Nobody uses the server while this lasts, and it does not run: its folder may be moved away."""
        with explain_os_error(f"The database folder {self._folder} cannot be used."):
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._door():
                share = os.open(self._folder / "programs.lock", os.O_RDWR | os.O_CREAT, 0o600)
                try:
                    fcntl.flock(share, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._stop()
                    yield
                except BlockingIOError:
                    raise ConflictError(
                        f"Another program uses the database in {self._folder}.", fix="Stop it and try again."
                    ) from None
                finally:
                    os.close(share)

    @contextmanager
    def _door(self) -> Generator[None]:
        door = os.open(self._folder / "door.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(door, fcntl.LOCK_EX)
            yield
        finally:
            os.close(door)

    def _ensure_running(self) -> None:
        postmaster = host.Postmaster.read(self._data)
        if postmaster is None or not postmaster.answers():
            postmaster = self._start()
        self._socket_folder, self._pid = postmaster.socket_folder, postmaster.pid

    def _start(self) -> host.Postmaster:
        if os.geteuid() == 0:
            host.let_through(self._folder / "data")
            host.let_through(host.binaries())
        if not self._data.exists():
            self._initialise()
        self._check_version()
        self._trim_log()
        self._drop_stale_locks()
        deadline = time.monotonic() + START_DEADLINE
        while not self._try_start(deadline):
            time.sleep(0.1)
        postmaster = host.Postmaster.read(self._data)
        if postmaster is None:
            raise self._start_failed()
        return postmaster

    def _try_start(self, deadline: float) -> bool:
        sockets = host.socket_folder(self._data)
        settings = {**self._settings, "unix_socket_directories": f'"{sockets}"'}
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
        log = self._data / "server.log"
        before = log.stat().st_size if log.exists() else 0
        # pg_ctl pastes -D and -l into a shell command: relative names keep odd characters out of it.
        arguments = ["start", "-w", "-t", str(int(START_DEADLINE)), "-D", "data", "-l", "data/server.log"]
        with tempfile.TemporaryFile() as output:
            if self._run("pg_ctl", *arguments, "-o", options, output=output.fileno(), until=self._is_up) == 0:
                return True
            output.seek(0)
            starter = output.read().decode(errors="replace")
        said = log.read_text(encoding="utf-8", errors="replace")[before:] if log.exists() else ""
        # A killed server's children need a moment to notice; until then its memory and pid file are taken.
        fading = "pre-existing shared memory block" in said or "lock file" in said
        if fading and time.monotonic() < deadline:
            return False
        raise self._start_failed(said, starter=starter)

    def _start_failed(self, said: str = "", *, starter: str = "") -> StorageError:
        """`said`: by the server, in its log; `starter`: by the program that was to start it."""
        if "No space left on device" in said or "Disk quota exceeded" in said:
            return StorageError(
                f"The disk that holds the database folder {self._folder} is full.",
                code=ErrorCode.STORAGE_FULL,
                fix="Free some space and start again; nothing stored was lost.",
            )
        if any(sign in said for sign in _LOST_WAL):
            return StorageError(
                f"The database in {self._folder} lost its write-ahead log and cannot start.",
                code=ErrorCode.STORAGE_FAILED,
                fix="Bring back your last backup with 'steward restore FILE --force'.",
                retryable=False,
            )
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        reason = next((line for line in lines if "FATAL" in line or "PANIC" in line), "")
        reason = re.sub(r"^.*?(FATAL|PANIC):\s*", "", reason)
        # It was killed, or never began: the last words say how far it came.
        reason = reason or next(reversed(lines or starter.strip().splitlines()), "")
        return StorageError(
            f"The embedded PostgreSQL did not start{': ' + reason if reason else ''}.",
            fix=f"See {self._data / 'server.log'}, or set DATABASE_URL to another PostgreSQL 15+.",
        )

    def _initialise(self) -> None:
        """Make the data folder beside its place, then move it there: a killed start leaves none half-made."""
        made = self._folder / "data.new"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(mode=0o700)
        owner = host.owner()
        if owner is not None:
            os.chown(made, owner.pw_uid, owner.pw_gid)
        arguments = ["--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--username=postgres"]
        arguments += ["--locale-provider=builtin", "--locale=C.UTF-8", "--pgdata=data.new"]
        if self._settings.get("fsync") == "off":
            arguments.append("--no-sync")
        with tempfile.TemporaryFile() as said:
            failed = self._run("initdb", *arguments, output=said.fileno())
            said.seek(0)
            text = said.read().decode(errors="replace")
        if failed:
            shutil.rmtree(made, ignore_errors=True)
            raise self._start_failed("\n".join(text.replace("error:", "FATAL:").splitlines()))
        made.rename(self._data)

    def _check_version(self) -> None:
        theirs = (self._data / "PG_VERSION").read_text(encoding="utf-8").strip()
        ours = host.binaries().parent.name.removeprefix("pginstall")
        if theirs != ours:
            raise StorageError(
                f"The database folder {self._data} belongs to PostgreSQL {theirs}, and this is {ours}.",
                code=ErrorCode.STORAGE_FAILED,
                fix="Move the data with pg_dump of that version, or set DATABASE_URL to such a server.",
                retryable=False,
            )

    def _drop_stale_locks(self) -> None:
        """Lock files whose pid now belongs to another program would stop PostgreSQL from starting."""
        for lock in (self._data / "postmaster.pid", host.socket_folder(self._data) / ".s.PGSQL.5432.lock"):
            if host.pid_of_postgres(lock) is None:
                lock.unlink(missing_ok=True)

    def _trim_log(self) -> None:
        log = self._data / "server.log"
        if log.exists() and log.stat().st_size > _LOG_LIMIT:
            os.truncate(log, 0)

    def _stop(self) -> None:
        if host.pid_of_postgres(self._data / "postmaster.pid") is None:
            return
        arguments = ["stop", "-w", "-t", str(int(STOP_DEADLINE)), "-D", "data", "-m"]
        if self._run("pg_ctl", *arguments, "fast", until=self._is_gone) != 0:
            self._run("pg_ctl", *arguments, "immediate")
        if self._socket_folder != self._data:
            with suppress(OSError):
                self._socket_folder.rmdir()

    def _is_up(self) -> bool:
        postmaster = host.Postmaster.read(self._data)
        return postmaster is not None and postmaster.ready and postmaster.answers()

    def _is_gone(self) -> bool:
        """PostgreSQL takes its file away as the last thing it does."""
        return not (self._data / "postmaster.pid").exists()

    def _run(
        self,
        program: str,
        *arguments: str,
        output: int = subprocess.DEVNULL,
        until: Callable[[], bool] | None = None,
    ) -> int:
        """`until`: what the program waits for; when it has come about, its end is not waited for."""
        owner = host.owner()
        running = subprocess.Popen(  # noqa: S603 (the wheel's own binary, no shell)
            [str(host.binaries() / program), *arguments],
            cwd=self._folder,
            env=host.plain_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            umask=0o077,
            user=owner.pw_uid if owner else None,
            group=owner.pw_gid if owner else None,
            extra_groups=[] if owner else None,
        )
        while until is not None and running.poll() is None:
            if until():
                threading.Thread(target=running.wait, daemon=True).start()  # so that nothing of it is left
                return 0
            time.sleep(LOOKS)
        return running.wait()
