"""`python -m steward.surfaces.api.background`: the Steward that a command starts for those that follow.

Owns who may use it (the owner's own programs, by the token, and nobody else), when nobody needs it any more,
and what it tells whoever started it. Does not own how it is found and replaced (`surfaces/background.py`).
"""

import asyncio
import hmac
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from steward.contract.errors import StewardError
from steward.settings import Settings, load_settings
from steward.surfaces.background import AGENTS, END, folder
from steward.surfaces.collector import spare_the_collector
from steward.surfaces.instance import alone
from steward.surfaces.loops import runner

IDLE_SECONDS = 15 * 60.0
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_OF_QUIET = 0.3  # after an answer, before loading begins: the next command comes first

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Starting = Callable[[Collection[str] | None], Awaitable[None]]


class Attendance:
    """The API for the owner's programs alone; knows who is being answered and since when nobody is.

    `starting` returns when the agents are there that a request needs.
    """

    def __init__(self, app: App, *, token: str, starting: Starting) -> None:
        self._app = app
        self._token = token.encode()
        self._starting = starting
        self._present = 0
        self._left = time.monotonic()
        self._ending = asyncio.Event()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/healthz":
            await self._app(scope, receive, send)  # which proves whose Steward this is, and is no use of it
            return
        headers = dict(scope["headers"])
        if scope["type"] != "http" or not self._is_owner(headers):
            await _refuse(scope, send)
            return
        if scope["path"] == END:
            await self._end(scope, send)
            return
        self._present += 1
        try:
            await self._starting(_needed(headers))
            await self._app(scope, receive, send)
        finally:
            self._present -= 1
            self._left = time.monotonic()

    async def over(
        self, *, idle: float, found: Callable[[], bool], working: Callable[[], Awaitable[bool]]
    ) -> None:
        """Returns when it is to end: told to, needed by nobody for so long, or found by nobody any more."""
        while not self._ending.is_set():
            if not await asyncio.to_thread(found):
                return
            if not self._present and time.monotonic() - self._left >= idle:
                if not await working():
                    return
                self._left = time.monotonic()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), min(idle, SECONDS_BETWEEN_LOOKS))

    async def quiet(self) -> None:
        """Returns when nobody is being answered, and nobody has been for a moment."""
        rest = SECONDS_OF_QUIET
        while rest > 0:
            await asyncio.sleep(rest)
            quiet = 0 if self._present else time.monotonic() - self._left
            rest = SECONDS_OF_QUIET - quiet

    def _is_owner(self, headers: Mapping[bytes, bytes]) -> bool:
        return hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + self._token)

    async def _end(self, scope: Message, send: Send) -> None:
        busy = self._present > 0 and scope["query_string"] == b"unless_busy=yes"
        await _answer(send, 409 if busy else 202)
        if not busy:
            self._ending.set()


def _needed(headers: Mapping[bytes, bytes]) -> Collection[str] | None:
    told = headers.get(AGENTS.encode())
    return None if told is None else [name for name in told.decode("latin-1").split(",") if name]


async def _refuse(scope: Message, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, 401)


async def _answer(send: Send, status: int) -> None:
    told = {
        "title": {202: "It ends.", 401: "Only its owner's token opens this.", 409: "It is in use."}[status]
    }
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(told).encode()})


# --- the program ---


async def run(settings: Settings, *, folder: str, idle: float = IDLE_SECONDS) -> None:
    # Here, so that one that finds another in its place has cost next to nothing.
    from steward.surfaces.api.serve import serve_in_background  # noqa: PLC0415

    await serve_in_background(settings, folder=folder, idle=idle, ready=lambda url: _tell({"url": url}))


def _tell(told: Mapping[str, Any]) -> None:
    """To whoever started this, once; who may have gone since."""
    with suppress(OSError, ValueError):
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def main() -> int:
    spare_the_collector()
    try:
        here, settings = folder(), load_settings()
        with alone(settings.home) as mine:
            if mine:
                runner()(run(settings, folder=here))
            else:
                _tell({"taken": True})
    except StewardError as error:
        problem = {"message": error.message, "code": error.code, "fix": error.fix}
        _tell({"problem": {**problem, "retryable": error.retryable}})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
