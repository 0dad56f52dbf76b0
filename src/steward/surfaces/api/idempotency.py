"""`Idempotency-Key`: a request that is sent again is answered as the first time, and nothing runs twice.

A key belongs to its caller and to one request. What was refused before anything ran leaves it free. A request
whose answer nobody knows (its program died, its client left) is not run again: whoever sends it hears that.
Plain ASGI, inside the protection. Does not look at requests without the header.
"""

import hashlib

from starlette.requests import Request

from steward.contract import linear_re as re
from steward.contract.errors import ErrorCode, ForbiddenError, StewardError
from steward.policy.access import Holder, came_through_a_proxy
from steward.storage.replays import KeptAnswer, ReplayStore
from steward.surfaces.api.identity import bearer
from steward.surfaces.api.problems import explained, problem
from steward.surfaces.api.protection import LARGE_BODIES, App, Message, Receive, Scope, Send
from steward.surfaces.api.state import platform_of

HEADER = "idempotency-key"
REPLAYED = (b"idempotency-replayed", b"true")
METHODS = frozenset(("POST", "PUT", "PATCH", "DELETE"))
NOTHING_RAN = frozenset((400, 401, 403, 404, 405, 413, 415, 421, 422, 429, 503))
MOST_KEPT = 8 * 1024 * 1024
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
# Their answers hold what opens Steward, shown once: the request is known again, its answer is not kept.
SECRET_ANSWERS = re.compile(r"/v1/(?:keys|sign-in-links)/?")
_KEPT_HEADERS = frozenset((b"content-type", b"location", b"x-conversation-id"))


class Idempotency:
    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _concerns(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        key = request.headers[HEADER]
        if not _KEY.fullmatch(key):
            await _refuse(
                scope, send, 400, "This Idempotency-Key cannot be used.", "Send 1 to 255 visible characters."
            )
            return
        store = ReplayStore(platform_of(request).database)
        try:
            holder = await _holder(request)
            body = b"" if holder is None else await _whole(receive)
            digest = _digest(scope, body)
            known = holder and await store.claim(_whose(holder), key, user=holder.user, request=digest)
        except StewardError as error:  # nothing ran: the database is away
            await explained(request, error)(scope, receive, send)
            return
        if holder is None:
            await self._app(scope, receive, send)  # it says what is wrong
        elif known is None:
            kept = _Kept(store, _whose(holder), key, digest, send)
            may_keep = not SECRET_ANSWERS.fullmatch(scope["path"])
            await kept.run(self._app, scope, _again(body, receive), may_keep=may_keep)
        else:
            await _answer(known, digest, scope, send)


def _concerns(scope: Scope) -> bool:
    path: str = scope.get("path", "")
    named = any(name == HEADER.encode() for name, _ in scope["headers"])
    return (
        named
        and scope["method"] in METHODS
        and path.startswith("/v1/")
        and not any(paths.fullmatch(path) for paths, _ in LARGE_BODIES)
    )


async def _holder(request: Request) -> Holder | None:
    try:
        passed_on = came_through_a_proxy(request.headers.keys())
        return await platform_of(request).keys.admit(bearer(request), passed_on=passed_on)
    except ForbiddenError:
        return None


def _whose(holder: Holder) -> str:
    """A later key of the same name is told nothing that was said to another user's."""
    return f"{holder.name} of {holder.user}"


async def _whole(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return b"".join(parts)


def _again(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _digest(scope: Scope, body: bytes) -> str:
    head = f"{scope['method']} {scope['path']}?".encode() + scope.get("query_string", b"")
    return hashlib.sha256(head + b"\n" + body).hexdigest()


class _Kept:
    """The first of its kind: passes its answer on, and keeps it."""

    def __init__(self, store: ReplayStore, caller: str, key: str, digest: str, send: Send) -> None:
        self._store = store
        self._caller = caller
        self._key = key
        self._digest = digest
        self._send = send
        self._status = 0
        self._headers: list[tuple[str, str]] = []
        self._parts: list[bytes] = []
        self._whole = False

    async def run(self, app: App, scope: Scope, receive: Receive, *, may_keep: bool) -> None:
        await app(scope, receive, self._pass_on)
        if self._status in NOTHING_RAN:
            await self._store.release(self._caller, self._key)
        elif may_keep and self._whole and sum(map(len, self._parts)) <= MOST_KEPT:
            replay = KeptAnswer(self._digest, self._status, self._headers, b"".join(self._parts))
            await self._store.keep(self._caller, self._key, replay)

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in message.get("headers", ())
                if name.lower() in _KEPT_HEADERS
            ]
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))
            self._whole = not message.get("more_body")
        await self._send(message)


async def _answer(known: KeptAnswer, digest: str, scope: Scope, send: Send) -> None:
    if known.request != digest:
        await _refuse(
            scope,
            send,
            422,
            "This Idempotency-Key was used for another request.",
            "Use a new key for each request.",
        )
        return
    if known.status is None:
        await _refuse(
            scope,
            send,
            409,
            "The first request with this Idempotency-Key has no answer that is kept; it may have run.",
            "Wait for it. If it never answers, look into /v1/executions, and send it under a new key.",
        )
        return
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in known.headers]
    length = (b"content-length", b"%d" % len(known.body))
    await send(
        {"type": "http.response.start", "status": known.status, "headers": [*headers, length, REPLAYED]}
    )
    await send({"type": "http.response.body", "body": known.body})


async def _refuse(scope: Scope, send: Send, status: int, detail: str, fix: str) -> None:
    code = ErrorCode.CONFLICT if status == 409 else ErrorCode.INVALID_INPUT
    response = problem(
        status, detail, path=scope["path"], code=code, fix=fix, request_id=scope.get("request_id")
    )

    async def nothing() -> Message:
        return {"type": "http.disconnect"}

    await response(scope, nothing, send)
