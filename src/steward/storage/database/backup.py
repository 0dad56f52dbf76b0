"""The embedded database as one dump, and a database made from a dump.

Owns running PostgreSQL's own pg_dump and pg_restore, which come with the embedded server. A dump is of one
moment, while other programs go on. Every method blocks: async callers use a thread.
"""

import subprocess
from pathlib import Path

from steward.contract.errors import ErrorCode, InputError, StorageError
from steward.storage.database import host
from steward.storage.database.embedded import EmbeddedServer
from steward.storage.database.failures import explain_os_error


def dump(database: Path, file: Path) -> None:
    """Write the database of this folder into a file."""
    server = EmbeddedServer(database)
    server.join()
    try:
        said = _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", server.url, output=file)
    finally:
        server.leave()
    if said:
        raise StorageError(
            f"The database could not be dumped: {said}.", code=ErrorCode.STORAGE_FAILED, retryable=False
        )


def load(file: Path, database: Path) -> None:
    """Make a database in a folder that has none; the folder is left without a running server."""
    server = EmbeddedServer(database)
    server.join()
    try:
        options = ("--no-owner", "--no-privileges", "--exit-on-error", "--dbname", server.url)
        said = _run("pg_restore", *options, str(file))
    finally:
        server.leave()
    if said:
        raise InputError(
            f"The dump could not be loaded: {said}.",
            code=ErrorCode.ARCHIVE_INVALID,
            fix="Use a backup that Steward wrote, whole.",
        )


def _run(program: str, *arguments: str, output: Path | None = None) -> str:
    """What it complained about; empty when it did its work."""
    with explain_os_error(f"{program} cannot be run."):
        command = [str(host.binaries() / program), *(["--file", str(output)] if output else []), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 (the wheel's own binary, no shell)
    if ran.returncode == 0:
        return ""
    lines = [line for line in ran.stderr.splitlines() if line.strip()]
    return lines[0].partition("error: ")[2] or lines[0] if lines else f"{program} ended with {ran.returncode}"
