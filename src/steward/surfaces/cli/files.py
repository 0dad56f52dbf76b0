"""Files that commands write for their person: whole or not at all, and for nobody else to read."""

import errno
from pathlib import Path

from steward.contract.errors import ErrorCode, InputError, StorageError


def write_private(path: Path, data: bytes) -> int:
    """A pipe or a device takes it as it comes and is never replaced. Gives the number of bytes."""
    special = path.exists() and not path.is_file()
    target = path if special else path.resolve()
    partial = path if special else target.with_name(f".{target.name}.partial")
    try:
        if not special:
            partial.touch(mode=0o600)  # before anything is in it: what comes may be private
        partial.write_bytes(data)
        if not special:
            partial.rename(target)
    except OSError as error:
        if not special:
            partial.unlink(missing_ok=True)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        kind, code = (StorageError, ErrorCode.STORAGE_FULL) if full else (InputError, ErrorCode.INVALID_INPUT)
        raise kind(
            f"{path} cannot be written: {error.strerror}.", code=code, fix="Choose another place."
        ) from error
    return len(data)
