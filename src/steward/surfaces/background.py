"""A Steward in the background, as a command sees it: found, started, replaced and ended.

Owns when a command starts one and when one that runs serves it: the same release, code, settings and, for a
command that reads files, folder. Does not own how it serves (`api/background.py`). One a home: whoever is it
holds a lock for as long as it runs. Nothing heavy is imported: every command comes by here.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import steward
from steward.contract.errors import ConfigError, ConflictError, StewardError, UnavailableError
from steward.contract.release import release
from steward.settings import Settings, variables
from steward.storage import owner_token
from steward.surfaces.instance import Instance, alone, find_running, is_alive, mark, signed, taken
from steward.surfaces.wire import LostError, SocketWire

PROGRAM = (sys.executable, "-m", "steward.surfaces.api.background")
LOG = "background.log"
END = "/background/end"
AGENTS = "steward-agents"  # a header: the agents that a command needs; without it, all
SECONDS_TO_START = 60.0
SECONDS_TO_END = 45.0  # calls in flight have thirty
SECONDS_TO_EXIT = 15.0
SECONDS_BETWEEN_LOOKS = 0.05
ACCEPTED = 202
_BY_HAND = "Look into {log}, or set STEWARD_DAEMON=off to work without one."


async def serving(settings: Settings, *, reads_files: bool) -> Instance | None:
    """Who answers a command: what runs and fits, else a new one in the background.

    None where the command is to do its work itself: by its settings, or because somebody still needs the one
    that runs with others.
    """
    deadline, replaced = time.monotonic() + SECONDS_TO_START, False
    while time.monotonic() < deadline:
        running = await find_running(settings)
        if running is not None and not running.background:
            return running  # what a person started serves in any case: that is what it was started for
        if not settings.daemon:
            return None
        if running is not None:
            if _serves(running, settings, reads_files=reads_files):
                return running
            if replaced or not await _end(settings, running, unless_busy=True):
                return None  # two that keep replacing each other's would get nothing done
            replaced = True
        if not taken(settings.home):
            await asyncio.to_thread(_start, settings)
            continue
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    raise UnavailableError(
        f"Another Steward of {settings.home} is starting or ending, and has been for a minute.",
        fix="Try again, or end it with 'steward down'.",
    )


def _serves(running: Instance, settings: Settings, *, reads_files: bool) -> bool:
    same = running.fits == fitting(settings)
    return same and (not reads_files or running.folder == folder())


def fitting(settings: Settings) -> str:
    """What must be equal for one program to do another's work. Says nothing to whoever lacks the token."""
    told = {"release": release(), "program": sys.executable, "code": _code(), **settings.revealed()}
    told |= {f"${name}": value for name, value in _referred(settings).items()}
    return mark(owner_token.read(settings.home) or "", json.dumps(told, sort_keys=True))


def folder() -> str:
    """Where this program stands; a folder that was made again under its name is another one."""
    try:
        here = Path().stat()
        return f"{Path.cwd()} {here.st_dev}:{here.st_ino}"
    except FileNotFoundError:
        return "gone"


def _code() -> list[int]:
    """How many files the program has and when one changed last: an upgrade need not change the release."""
    count, newest, folders = 0, 0, [str(Path(steward.__file__).parent)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [entry.path] if entry.name != "__pycache__" else []
                else:
                    count, newest = count + 1, max(newest, entry.stat().st_mtime_ns)
    return [count, newest]


def _referred(settings: Settings) -> dict[str, str]:
    """Variables that the home's files refer to: another value makes another server of them."""
    texts = [_text(settings.mcp_file), _text(settings.tools_file)]
    return {name: value for name, value in variables().items() if any(f"${{{name}" in text for text in texts)}


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# --- starting ---


def _start(settings: Settings) -> None:
    """Start one and wait until it answers or says why not. Where another was quicker, that one is found."""
    log = settings.logs_folder / LOG
    try:
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        log.parent.mkdir(exist_ok=True, mode=0o700)
        errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ConfigError(
            f"The folder {settings.home} cannot be used: {error.strerror}.",
            fix="Choose another with STEWARD_HOME, or free space and check its permissions.",
        ) from error
    try:
        # A session of its own: what happens to this terminal is nothing to it.
        process = subprocess.Popen(  # noqa: S603 - our own program
            PROGRAM,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(str(error.strerror), log) from error
    finally:
        os.close(errors)
    assert process.stdout is not None
    with process.stdout:
        said = process.stdout.readline()
    if not said:
        raise _not_started(f"It ended with {process.wait()}", log)
    process.returncode = 0  # it is nobody's child any more
    _understood(json.loads(said), log)


def _understood(told: dict[str, Any], log: Path) -> None:
    problem = told.get("problem")
    if problem is not None:
        fix = problem["fix"] or _BY_HAND.format(log=log)
        raise StewardError(problem["message"], code=problem["code"], fix=fix, retryable=problem["retryable"])


def _not_started(why: str, log: Path) -> UnavailableError:
    return UnavailableError(
        f"Steward could not be started in the background: {why}.", fix=_BY_HAND.format(log=log)
    )


# --- ending ---


async def end(settings: Settings) -> Instance | None:
    """End the Steward of this home, and wait until it is gone. Gives what ended."""
    running = await find_running(settings)
    if running is None:
        return None
    if running.background:
        await _end(settings, running, unless_busy=False)
    else:
        with suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGTERM)
        await gone(settings)
    # Its work is over; the program itself needs a moment more, which nobody waits for without end.
    await _until(lambda: not is_alive(running.pid), SECONDS_TO_EXIT)
    return running


async def _end(settings: Settings, running: Instance, *, unless_busy: bool) -> bool:
    """Whether it goes. Calls in flight are finished first."""
    where = f"{END}?unless_busy={'yes' if unless_busy else 'no'}"
    try:
        async with SocketWire(running.url, signed(settings)).open("POST", where) as answer:
            if answer.status != ACCEPTED:
                return False
    except LostError:
        pass  # it is gone already
    await gone(settings)
    return True


async def gone(settings: Settings) -> None:
    """Wait until no program is the instance of this home."""
    if not await _until(lambda: not taken(settings.home), SECONDS_TO_END):
        raise ConflictError(
            f"The Steward of {settings.home} has not ended within {SECONDS_TO_END:g} seconds.",
            fix="See with 'steward doctor' what it does, or try again.",
        )


async def _until(met: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    return True


@asynccontextmanager
async def claimed(settings: Settings) -> AsyncGenerator[None]:
    """The one instance of this home, for as long as this lasts. One in the background makes room."""
    deadline = time.monotonic() + SECONDS_TO_END
    while True:
        with alone(settings.home) as mine:
            if mine:
                yield
                return
        running = await find_running(settings)
        if running is not None and not running.background:
            raise already_running(running)
        if running is not None:
            await _end(settings, running, unless_busy=False)
        elif time.monotonic() > deadline:
            raise ConflictError(
                f"Another Steward of {settings.home} is starting or ending.", fix="Try again in a minute."
            )
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


def already_running(running: Instance) -> ConflictError:
    return ConflictError(
        f"Steward already runs for this home at {running.url} (process {running.pid}).",
        fix="Use it, end it with 'steward down', or choose another STEWARD_HOME.",
    )
