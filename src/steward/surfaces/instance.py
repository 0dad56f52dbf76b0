"""The running `steward up` of a home: how it makes itself known, and how a command finds it.

The file in the home holds the address and a token that only its owner can read; whoever can read it is the
person this home belongs to. A file left behind by a killed process is recognised and ignored, also when its
process number and its port belong to others by now: whoever answers must know the token's fingerprint.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steward.contract.errors import ConflictError
from steward.surfaces.wire import LostError, SocketWire

if TYPE_CHECKING:  # a command that finds a running instance needs nothing of it but the home
    from steward.settings import Settings

FILE = "instance.json"
SECONDS_TO_ANSWER = 2.0


@dataclass(frozen=True, slots=True)
class Instance:
    url: str
    token: str
    pid: int


@contextmanager
def announced(settings: "Settings", instance: Instance) -> Generator[None]:
    """Make an instance known for as long as it runs."""
    path = settings.home / FILE
    partial = path.with_name(f".{FILE}.{instance.pid}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(instance), file)
    partial.rename(path)
    try:
        yield
    finally:
        known = read(path)
        if known is not None and known.pid == instance.pid:
            path.unlink(missing_ok=True)


def read(path: Path) -> Instance | None:
    try:
        return Instance(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def fingerprint(token: str) -> str:
    """What `/healthz` shows of the token: enough to recognise an instance, nothing to come in with."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


async def find_running(settings: "Settings") -> Instance | None:
    """The instance of this home that answers now, if there is one."""
    instance = read(settings.home / FILE)
    if instance is None or not _alive(instance.pid):
        return None
    told = await _ask(instance, "/healthz")
    known = None if told is None else told.get("instance")
    return instance if known == fingerprint(instance.token) else None


async def agents_away(instance: Instance) -> dict[str, str]:
    """The agents of a running Steward that do not run, and why."""
    told = await _ask(instance, "/readyz")
    agents = None if told is None else told.get("agents")
    return dict(agents) if isinstance(agents, dict) else {"Steward": "It answers too slowly to say."}  # pyright: ignore[reportUnknownArgumentType]


async def _ask(instance: Instance, path: str) -> dict[str, Any] | None:
    """What it says about itself; None when nobody answers in time, or not as Steward would."""
    try:
        async with (
            asyncio.timeout(SECONDS_TO_ANSWER),
            SocketWire(instance.url).open("GET", path) as answer,
        ):
            told = json.loads(await answer.read())
    except (LostError, TimeoutError, ValueError):
        return None
    return told if isinstance(told, dict) else None  # pyright: ignore[reportUnknownVariableType]


async def require_none(settings: "Settings") -> None:
    running = await find_running(settings)
    if running is not None:
        raise ConflictError(
            f"Steward already runs for this home at {running.url} (process {running.pid}).",
            fix="Use it, stop it, or choose another STEWARD_HOME.",
        )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
