"""What every request passes before any route: whose page sent it, how large it is, what it is called.

Owns the checks against other people's web pages (DNS rebinding, cross-site requests), the limit on bodies,
request ids and the access log. Plain ASGI: it costs microseconds and wraps mounted applications too.
"""

import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Set
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from steward.contract import linear_re as re
from steward.contract.call import new_id
from steward.contract.errors import ErrorCode
from steward.contract.trace_context import TRACEPARENT, arrived_with, trace_of
from steward.servers.gateway.guard import Standing
from steward.surfaces.api.problems import problem
from steward.telemetry.numbers import Timings

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 8 * 1024 * 1024
# Written to disk as they come, not held: an import, documents for the library.
LARGE_BODIES = (
    (re.compile(r"/v1/import"), 4 * 1024**3),
    (re.compile(r"(?:/v1/knowledge/collections/[^/]+|/documents/in/[^/]+)/files/[^/]+"), 64 * 1024**2),
)
REQUEST_ID = "x-request-id"
_ACCEPTABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class Protection:
    """`any_host`: names of this server are not known (it serves other machines), so any is taken.

    `origins`: pages of other sites that may call. They are marked as guests in the scope: whoever they act
    for must say so with a key, also on this machine.
    """

    def __init__(
        self,
        app: App,
        *,
        any_host: bool = False,
        origins: Set[str] = frozenset(),
        max_body: int = MAX_BODY,
        timings: Timings | None = None,
    ) -> None:
        self._app = app
        self._timings = timings
        self._any_host = any_host
        self._origins = origins
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get(REQUEST_ID, "")
        scope["trace"] = trace = trace_of(headers.get(TRACEPARENT))
        usual = new_id() if trace is None else trace.trace_id
        scope["request_id"] = given if _ACCEPTABLE_ID.fullmatch(given) else usual
        scope["guest"] = headers.get("origin", "").lower() in self._origins
        path = scope.get("path", "")
        largest = next((size for paths, size in LARGE_BODIES if paths.fullmatch(path)), self._max_body)
        refusal = self._refusal(headers, guest=scope["guest"], largest=largest)
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send, refused=refusal is not None)
        else:
            await _Exchange(scope, send, self._timings).run(
                self._handler(scope, bounded(receive, largest), refusal)
            )

    async def _socket(self, scope: Scope, receive: Receive, send: Send, *, refused: bool) -> None:
        if refused:
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)

    def _handler(self, scope: Scope, receive: Receive, refusal: "RequestRefusal | None") -> "Handler":
        async def handle(send: Send) -> None:
            if refusal is not None:
                await refusal.answer(scope, receive, send)
                return
            with arrived_with(scope["trace"]):
                await self._app(scope, receive, send)

        return handle

    def _refusal(self, headers: Mapping[str, str], *, guest: bool, largest: int) -> "RequestRefusal | None":
        host = headers.get("host", "")
        if not self._any_host and not _is_this_machine(host):
            return RequestRefusal(
                421, f"This server is not called '{host}'.", "Use http://127.0.0.1 or localhost."
            )
        if not guest and not _same_site(headers, host):
            return RequestRefusal(
                403,
                "A page of another site may not use this server.",
                "Name its origin in STEWARD_CORS_ORIGINS.",
            )
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > largest:
            return too_large(largest)
        return None


def too_large(largest: int) -> "RequestRefusal":
    return RequestRefusal(413, f"The body is larger than {largest} bytes.", "Send less at once.")


def bounded(receive: Receive, largest: int) -> Receive:
    """A body that is longer than it was announced to be ends here."""
    seen = 0

    async def receive_bounded() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > largest:
            raise HTTPException(413, too_large(largest).detail)
        return message

    return receive_bounded


Handler = Callable[[Send], Awaitable[None]]


class RequestRefusal:
    def __init__(self, status: int, detail: str, fix: str) -> None:
        self._status = status
        self.detail = detail
        self._fix = fix

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        code = ErrorCode.FORBIDDEN if self._status in (403, 421) else ErrorCode.INVALID_INPUT
        response = problem(
            self._status,
            self.detail,
            path=scope.get("path", ""),
            code=code,
            fix=self._fix,
            request_id=scope["request_id"],
        )
        await response(scope, receive, send)


class _Exchange:
    """One request and its answer: names it in the answer, and leaves a line in the log."""

    def __init__(self, scope: Scope, send: Send, timings: Timings | None) -> None:
        self._scope = scope
        self._send = send
        self._timings = timings
        self._started = time.perf_counter()
        self._status = 0

    async def run(self, handler: Handler) -> None:
        try:
            await handler(self._named)
        finally:
            self._count()
            logger.info(
                "request",
                extra={
                    "request_id": self._scope["request_id"],
                    "method": self._scope["method"],
                    "path": self._scope["path"],
                    "status": self._status or None,
                    "ms": round((time.perf_counter() - self._started) * 1000, 2),
                },
            )

    def _count(self) -> None:
        """By the route's pattern: an address with names in it would be a series of its own."""
        if self._timings is not None:
            route = self._scope.get("route")
            values = (self._scope["method"], getattr(route, "path", "-"), str(self._status))
            self._timings.observe(values, time.perf_counter() - self._started)

    def _standing(self) -> list[tuple[bytes, bytes]]:
        standing: Standing | None = self._scope.get("steward.standing")
        if standing is None:
            return []
        numbers = {
            "ratelimit-limit": standing.limit,
            "ratelimit-remaining": standing.remaining,
            "ratelimit-reset": standing.reset,
        }
        return [(header.encode(), b"%d" % number) for header, number in numbers.items()]

    async def _named(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            name = (REQUEST_ID.encode(), self._scope["request_id"].encode())
            message["headers"] = [*message.get("headers", ()), name, *self._standing()]
        await self._send(message)


def _is_this_machine(host: str) -> bool:
    """`localhost` or a loopback address, with any port. A name that merely resolves to us is not ours."""
    name = _host_name(host)
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _same_site(headers: Mapping[str, str], host: str) -> bool:
    """Browsers name the page that sends a request; programs name none.

    Following a link from another site to ours is no request of that site: it reads nothing of the answer.
    """
    followed = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not followed:
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == host.lower() != ""
    except ValueError:
        return False
