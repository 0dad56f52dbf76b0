"""What the driver and the operating system say, in words a person can act on.

The one place where their exceptions become ours. Nothing here repeats an argument, a password or a URL.
"""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

import asyncpg

from steward.contract.errors import ConflictError, ErrorCode, InputError, StewardError, StorageError

FOREIGN = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""Everything a database call may raise; `TimeoutError` and connection errors are `OSError`."""

LOST_CONNECTION = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.InternalClientError,  # the server's goodbye arrived between two calls
    OSError,
)
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FULL_FIX = "Free some space on its disk and try again; nothing stored was lost."


@dataclass(frozen=True, slots=True)
class _Told:
    message: str
    fix: str
    code: ErrorCode = ErrorCode.STORAGE_UNAVAILABLE
    retryable: bool = True

    def error(self) -> StorageError:
        return StorageError(self.message, code=self.code, fix=self.fix, retryable=self.retryable)


_FULL = _Told("The database's disk is full.", _FULL_FIX, ErrorCode.STORAGE_FULL)
_TOLD: tuple[tuple[type[BaseException], _Told], ...] = (
    (asyncpg.DiskFullError, _FULL),
    (
        asyncpg.TooManyConnectionsError,
        _Told(
            "The database has no connection left.",
            "Close other programs that use it, or raise its max_connections.",
        ),
    ),
    (
        asyncpg.InvalidAuthorizationSpecificationError,
        _Told(
            "The database refused the user or the password.",
            "Check the user and the password in DATABASE_URL.",
            retryable=False,
        ),
    ),
    (
        asyncpg.InvalidCatalogNameError,
        _Told(
            "The database that DATABASE_URL names does not exist.",
            "Create it with createdb, or correct the name at the end of DATABASE_URL.",
            retryable=False,
        ),
    ),
    (
        asyncpg.InsufficientPrivilegeError,
        _Told(
            "The database user may not do this.",
            "Let it create tables in its database, and let an administrator create the extension 'vector'.",
            ErrorCode.STORAGE_FAILED,
            retryable=False,
        ),
    ),
    *(
        (
            lost,
            _Told(
                "The database cannot be reached.",
                "Try again in a moment; if it stays away, run 'steward doctor'.",
            ),
        )
        for lost in LOST_CONNECTION
    ),
)
_UNSTORABLE = (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)
_QUOTES_VALUES = (asyncpg.DataError, asyncpg.InterfaceError)  # what was sent must not end up in a log
_COLLISION = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)


def explain(error: BaseException, *, changing: bool = False) -> StewardError:
    """The error to raise instead of this one. `changing`: the server was asked for a change by then."""
    if changing and _lost(error):
        return StorageError(
            "The connection to the database was lost in the middle of a change. "
            "Whether it took effect is unknown.",
            fix="Look at what it would have changed before you try again.",
            in_doubt=True,
        )
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return _FULL.error()
    for kind, told in _TOLD:
        if isinstance(error, kind) or (kind is OSError and _closed(error)):
            return told.error()
    return _refused(error)


def _refused(error: BaseException) -> StewardError:
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return ConflictError(
            "This does not fit with what is already stored.",
            details={"constraint": error.constraint_name, "sqlstate": error.sqlstate},
        )
    if isinstance(error, _UNSTORABLE):
        return InputError(
            "The text holds a NUL character, which PostgreSQL cannot store.",
            fix="Remove it and send the text again.",
        )
    state = getattr(error, "sqlstate", None)
    return StorageError(
        f"The database could not do this ({state or type(error).__name__}).",
        code=ErrorCode.STORAGE_FAILED,
        fix="Please report this with the lines around it in the log.",
        retryable=isinstance(error, _COLLISION),
        details={"sqlstate": state} if state else None,
    )


def _closed(error: BaseException) -> bool:
    """asyncpg tells a connection or pool that is gone from a programming mistake only by its words."""
    return isinstance(error, asyncpg.InterfaceError) and ("clos" in str(error) or "released" in str(error))


def _lost(error: BaseException) -> bool:
    """Whether the server may have done what it did not answer. One that comes up or is full says so."""
    if isinstance(error, asyncpg.CannotConnectNowError):
        return False
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return False
    return isinstance(error, LOST_CONNECTION) or _closed(error)


class _Explained:
    """`with explained:` around every call of the driver. No generator: it is on the way of each call."""

    def __init__(self, *, changing: bool) -> None:
        self._changing = changing

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, FOREIGN):
            raise explain(error, changing=self._changing) from (
                None if isinstance(error, _QUOTES_VALUES) else error
            )


explained = _Explained(changing=False)
explained_change = _Explained(changing=True)
"""Around what the server carries out by itself once it has it: a change of one statement, or a commit."""


def explain_connecting(error: BaseException, place: str) -> StewardError:
    """Like `explain`, and says where nobody answered: at the start this is mostly a setting."""
    told = explain(error)
    if isinstance(error, OSError) and told.code == ErrorCode.STORAGE_UNAVAILABLE:
        return StorageError(
            f"No PostgreSQL answers at {place}.",
            fix="Start it, or correct DATABASE_URL; without DATABASE_URL Steward runs a database of its own.",
        )
    return told


@contextmanager
def explain_os_error(doing: str) -> Generator[None]:
    """For work with files: a full disk and a folder that may not be written have their own fixes."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise StorageError(
                f"{doing} The disk is full.", code=ErrorCode.STORAGE_FULL, fix=_FULL_FIX
            ) from error
        raise StorageError(
            f"{doing} {error.strerror or 'The operating system refused'}.",
            code=ErrorCode.STORAGE_FAILED,
            fix="Choose a folder that can be written with STEWARD_HOME, or set DATABASE_URL.",
            retryable=False,
        ) from error
