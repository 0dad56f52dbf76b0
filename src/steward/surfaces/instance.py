"""The running `steward up` of a home: how it makes itself known, and how a command finds it.

The file in the home holds an address and nothing secret. One left behind by a killed process is recognised
and ignored, also when its process number and its port belong to others by now: before a command says anything
of its own, whoever answers there must prove that it knows this home's token, by a word that is new each time.
"""

import asyncio
import fcntl
import hmac
import json
import os
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steward.storage import owner_token
from steward.surfaces.wire import LostError, SocketWire

if TYPE_CHECKING:  # a command that finds a running instance needs nothing of it but the home
    from steward.settings import Settings

FILE = "instance.json"
LOCK = ".instance.lock"
SECONDS_TO_ANSWER = 2.0
# By which our commands tell themselves from other programs that hold the token. Nothing else asks for it.
OF_A_COMMAND = ("X-Steward-Surface", "cli")


@dataclass(frozen=True, slots=True)
class Instance:
    url: str
    pid: int
    fits: str = ""  # a background one: whom it serves (background.py)
    folder: str = ""  # a background one: where it reads files

    @property
    def background(self) -> bool:
        return bool(self.fits)

    def told(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value != ""}


@contextmanager
def announced(settings: "Settings", instance: Instance) -> Generator[None]:
    """Make an instance known for as long as it runs."""
    path = settings.home / FILE
    partial = path.with_name(f".{FILE}.{instance.pid}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(instance.told(), file)
    partial.rename(path)
    try:
        yield
    finally:
        known = read(path)
        if known is not None and known.pid == instance.pid:
            path.unlink(missing_ok=True)


@contextmanager
def alone(home: Path) -> Generator[bool]:
    """Whether this program is the one instance of the home while this lasts.

    The operating system takes the right back however the program ends.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(home / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield _locked(lock, fcntl.LOCK_EX)
    finally:
        os.close(lock)


def _locked(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def taken(home: Path) -> bool:
    """Whether some program is the instance of this home, also one that begins or ends and does not answer."""
    try:
        lock = os.open(home / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _locked(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def is_announced(home: Path, pid: int) -> bool:
    """Whether commands of this home still find the program of this number; not where the home is gone."""
    known = read(home / FILE)
    return known is not None and known.pid == pid


def read(path: Path) -> Instance | None:
    try:
        return Instance(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def proof(token: str, challenge: str) -> str:
    """What only a program of this home can answer to a word it has not heard before."""
    return mark(token, f"steward instance {challenge}")


def mark(token: str, words: str) -> str:
    return hmac.digest(token.encode(), words.encode(), "sha256").hex()


async def find_running(settings: "Settings") -> Instance | None:
    """The instance of this home that answers now, if there is one."""
    instance = read(settings.home / FILE)
    token = owner_token.read(settings.home)
    if instance is None or token is None or not is_alive(instance.pid):
        return None
    challenge = secrets.token_hex(16)
    told = await _ask(instance, f"/healthz?challenge={challenge}")
    given = "" if told is None else str(told.get("proof"))
    return instance if hmac.compare_digest(given.encode(), proof(token, challenge).encode()) else None


def signed(settings: "Settings") -> dict[str, str]:
    """The headers of a request to the running instance of this home, once it has proven to be that."""
    return command_headers(owner_token.read(settings.home))


def command_headers(token: str | None) -> dict[str, str]:
    """What a command sends with everything that it asks for."""
    name, word = OF_A_COMMAND
    return {"Authorization": f"Bearer {token}", name: word}


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


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
