"""The running `steward up` of a home: how it makes itself known, and how a command finds it.

The file in the home holds an address and nothing secret. One left behind by a killed process is recognised
and ignored, also when its process number and its port belong to others by now: before a command says anything
of its own, whoever answers there must prove that it knows this home's token, by a word that is new each time.
"""

import asyncio
import hmac
import json
import os
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steward.contract.errors import ConflictError
from steward.storage import owner_token
from steward.surfaces.wire import LostError, SocketWire

if TYPE_CHECKING:  # a command that finds a running instance needs nothing of it but the home
    from steward.settings import Settings

FILE = "instance.json"
SECONDS_TO_ANSWER = 2.0


@dataclass(frozen=True, slots=True)
class Instance:
    url: str
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


def proof(token: str, challenge: str) -> str:
    """What only a program of this home can answer to a word it has not heard before."""
    return hmac.digest(token.encode(), f"steward instance {challenge}".encode(), "sha256").hex()


async def find_running(settings: "Settings") -> Instance | None:
    """The instance of this home that answers now, if there is one."""
    instance = read(settings.home / FILE)
    token = owner_token.read(settings.home)
    if instance is None or token is None or not _alive(instance.pid):
        return None
    challenge = secrets.token_hex(16)
    told = await _ask(instance, f"/healthz?challenge={challenge}")
    given = "" if told is None else str(told.get("proof"))
    return instance if hmac.compare_digest(given.encode(), proof(token, challenge).encode()) else None


def signed(settings: "Settings") -> dict[str, str]:
    """The headers of a request to the running instance of this home, once it has proven to be that."""
    return {"Authorization": f"Bearer {owner_token.read(settings.home)}"}


async def agents_away(settings: "Settings", instance: Instance) -> dict[str, str]:
    """The agents of a running Steward that do not run, and why."""
    told = await _ask(instance, "/readyz", signed(settings))
    agents = None if told is None else told.get("agents")
    return dict(agents) if isinstance(agents, dict) else {"Steward": "It answers too slowly to say."}  # pyright: ignore[reportUnknownArgumentType]


async def _ask(
    instance: Instance, path: str, headers: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """What it says about itself; None when nobody answers in time, or not as Steward would."""
    try:
        async with (
            asyncio.timeout(SECONDS_TO_ANSWER),
            SocketWire(instance.url, headers).open("GET", path) as answer,
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
