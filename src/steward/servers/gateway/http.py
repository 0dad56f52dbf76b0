"""The gateway over Streamable HTTP, with a thin path for the one method that matters for speed.

`tools/call` is parsed once, taken through the door and answered as one JSON body; nothing is modelled on
the way. Everything else, and a call that turns out to need a conversation (progress, questions, an
approval), is the SDK's: the thin path hands the running call over and the SDK answers its request. What
looks odd goes to the SDK unseen, so that there is one place that says what is wrong with a request.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    AuthorizationContext,
    authorization_context,
)
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, InboundLadderRejection, classify_inbound_request
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from steward.contract.call import Caller, CallerKind, PendingApproval, ToolCall
from steward.contract.tool import ToolSpec
from steward.orchestrator.orchestrator import Orchestrator
from steward.servers.gateway import answers
from steward.servers.gateway.calls import HANDOVER, Handover
from steward.servers.gateway.guard import Guard, Refusal
from steward.servers.gateway.link import Link, Running, wanted_level
from steward.servers.gateway.ports import Member
from steward.servers.gateway.server import Gateway
from steward.servers.gateway.views import Target, acts_for

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MAX_BODY = 4 * 1024 * 1024
IDLE_SECONDS = 30 * 60
IDLE_SLACK = 60  # seconds by which a session may look idle longer than it is
WATCH_AFTER = 0.05  # a call that takes longer is watched for its client going away
_JSON = (b"content-type", b"application/json")
REQUEST_CANCELLED = 0  # as the SDK answers a request that its client gave up
_THIN_KEYS = frozenset({"name", "arguments", "_meta"})


class Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions of the handshake era, with one question more."""

    def __init__(self, gateway: Gateway, *, events: EventStore | None) -> None:
        super().__init__(
            gateway.server,
            event_store=events,
            retry_interval=None if events is None else 500,
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=MAX_BODY,
        )
        self._gateway = gateway

    def serves(self, session_id: str, user: AuthorizationContext) -> bool:
        """Whether this session is open and this user's own; using it keeps it open."""
        transport = self._server_instances.get(session_id)
        if transport is None or self._session_owners.get(session_id) != user:
            return False
        idle = transport.idle_scope
        if idle is None or idle.cancel_called or transport.is_terminated:
            return False
        ends = asyncio.get_running_loop().time() + IDLE_SECONDS
        if ends - IDLE_SLACK > idle.deadline:
            idle.deadline = ends
        return True

    async def _discard_session(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        self._gateway.forget(session_id)
        await super()._discard_session(session_id, transport)


@dataclass(slots=True, eq=False)
class _Call:
    """One `tools/call` on the thin path and its HTTP request."""

    scope: Scope
    receive: Receive
    send: Send
    headers: Mapping[bytes, bytes]
    body: bytes
    request: Mapping[str, Any]
    modern: bool = False
    cancelled: bool = False
    answering: asyncio.Task[None] | None = None  # the SDK, once it was handed over
    task: asyncio.Task[Any] = field(init=False)
    id: Any = field(init=False)
    params: dict[str, Any] | None = field(init=False)
    _watching: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.task = cast("asyncio.Task[Any]", asyncio.current_task())
        self.id = self.request.get("id")
        self.params = _params(self.request)

    @property
    def wants_progress(self) -> bool:
        meta = (self.params or {}).get("_meta")
        return isinstance(meta, dict) and "progressToken" in meta

    def cancel(self) -> None:
        self.cancelled = True
        self.task.cancel()

    def watch(self) -> None:
        """Cancel the call when its client closes the connection, as 2026-07-28 wants."""
        if self.answering is None:
            self._watching = asyncio.ensure_future(self._until_gone())

    async def _until_gone(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.cancel()

    def unwatch(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def give_up(self) -> None:
        if self.answering is not None:
            await asyncio.wait((self.answering,))
        else:
            await self.fail(MCPError(REQUEST_CANCELLED, "Request cancelled"))

    async def finish(self, result: Mapping[str, Any]) -> None:
        await self._write(200, {"jsonrpc": "2.0", "id": self.id, "result": result})

    async def fail(self, error: MCPError) -> None:
        shape: dict[str, Any] = {"code": error.error.code, "message": error.error.message}
        if error.error.data is not None:
            shape["data"] = error.error.data
        status = ERROR_CODE_HTTP_STATUS.get(error.error.code, 200) if self.modern else 200
        await self._write(status, {"jsonrpc": "2.0", "id": self.id, "error": shape})

    async def _write(self, status: int, message: Mapping[str, Any]) -> None:
        body = orjson.dumps(message, option=orjson.OPT_NON_STR_KEYS)
        await self.send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [_JSON, (b"content-length", b"%d" % len(body))],
            }
        )
        await self.send({"type": "http.response.body", "body": body})


class HttpGateway:
    """An ASGI application for one gateway. `run()` must be entered while it serves."""

    def __init__(
        self, gateway: Gateway, door: Orchestrator, *, guard: Guard, events: EventStore | None = None
    ) -> None:
        self._gateway = gateway
        self._door = door
        self._guard = guard
        self._sessions = Sessions(gateway, events=events)
        self._stamp = gateway.server.server_info_stamp
        self._in_flight: dict[tuple[bytes, Any], _Call] = {}
        self._users: dict[str, tuple[AuthenticatedUser, AuthorizationContext]] = {}
        self._mirroring: dict[str, bool] = {}

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        async with self._sessions.run():
            try:
                yield
            finally:
                self._gateway.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _trimmed(scope)
        admitted = await self._guard.admit(headers, scope)
        if isinstance(admitted, Refusal):
            await _refuse(send, admitted)
            return
        scope["steward.member"] = admitted
        scope["user"], owner = self._user(admitted)
        if scope["method"] != "POST":
            await self._sessions.handle_request(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            await _refuse(send, Refusal(413, "The request is too large"))
            return
        request = _parsed(body)
        method = None if request is None else request.get("method")
        if request is not None and method == "tools/call":
            if not admitted.may_use:
                await _refuse(send, Refusal(403, "This key may look but not call"))
                return
            if await self._thin(_Call(scope, receive, send, headers, body, request), admitted, owner):
                return
        elif request is not None and method == "notifications/cancelled":
            self._cancel(headers, request)
        await self._sessions.handle_request(scope, _replay(body, receive), send)

    def _user(self, member: Member) -> tuple[AuthenticatedUser, AuthorizationContext]:
        """Whom the SDK binds a session to."""
        known = self._users.get(member.id)
        if known is None:
            user = AuthenticatedUser(AccessToken(token="", client_id=member.id, scopes=[]))
            known = self._users[member.id] = (user, authorization_context(user))
        return known

    # --- the thin path ---

    async def _thin(self, call: _Call, member: Member, owner: AuthorizationContext) -> bool:
        """Answer a plain call; False for whatever is not plain, before anything was run."""
        target = self._plain(call, owner)
        if target is None:
            return False
        key = (call.headers.get(b"mcp-session-id", b""), call.id)
        self._in_flight[key] = call
        watch = asyncio.get_running_loop().call_later(WATCH_AFTER, call.watch) if call.modern else None
        try:
            await self._run(call, target, member)
        except asyncio.CancelledError:
            if not call.cancelled:
                raise
            call.task.uncancel()
            await call.give_up()
        finally:
            if watch is not None:
                watch.cancel()
            call.unwatch()
            self._in_flight.pop(key, None)
        return True

    def _plain(self, call: _Call, owner: AuthorizationContext) -> Target | None:
        params = call.params
        if params is None or not _THIN_KEYS.issuperset(params) or not _accepts_both(call.headers):
            return None
        if not call.headers.get(b"content-type", b"").startswith(b"application/json"):
            return None
        version = call.headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        if not version or version in HANDSHAKE_PROTOCOL_VERSIONS:
            session = call.headers.get(b"mcp-session-id", b"").decode("latin-1")
            if not self._sessions.serves(session, owner):
                return None
        else:
            call.modern = True
            if not _modern_envelope(call):
                return None
        name, arguments = params["name"], params.get("arguments")
        spec = self._gateway.catalogue.find(name)
        if spec is None or (call.modern and self._mirrors_parameters(spec)):
            return None
        return Target(spec.name, arguments or {})

    def _mirrors_parameters(self, spec: ToolSpec) -> bool:
        """Whether a tool wants arguments repeated in headers, which the SDK checks."""
        known = self._mirroring.get(spec.definition_hash)
        if known is None:
            known = b'"x-mcp-header"' in orjson.dumps(spec.input_schema, option=orjson.OPT_NON_STR_KEYS)
            self._mirroring[spec.definition_hash] = known
        return known

    async def _run(self, call: _Call, target: Target, member: Member) -> None:
        running = Running(outcome=asyncio.get_running_loop().create_future(), cancel=call.cancel)
        link = Link(
            lambda: self._hand_over(call, running, link),
            wants_progress=call.wants_progress,
            log_level=self._log_level(call),
        )
        work = ToolCall(
            tool=target.tool,
            arguments=target.arguments,
            caller=Caller(CallerKind.CLIENT, member.id),
            user=acts_for(self._door, target, member.user),
            channel=link,
        )
        try:
            result = await self._door.execute(work)
        except asyncio.CancelledError:
            running.outcome.cancel()
            raise
        if call.answering is None and isinstance(result, PendingApproval):
            await self._hand_over(call, running, link)
        if call.answering is not None:
            running.outcome.set_result(result)
            await call.answering
            return
        try:
            as_error = target.tool in self._gateway.view.failures_as_errors
            shape = answers.answer(result, as_error=as_error)
        except MCPError as error:
            await call.fail(error)
            return
        await call.finish(self._stamped(shape) if call.modern else shape)

    def _log_level(self, call: _Call) -> str | None:
        if call.modern:
            return wanted_level((call.params or {}).get("_meta"))
        return self._gateway.level_of(call.headers.get(b"mcp-session-id", b"").decode("latin-1"))

    async def _hand_over(self, call: _Call, running: Running, link: Link) -> None:
        """From here on the SDK answers this request; the call goes on where it is."""
        call.unwatch()
        attached = asyncio.Event()
        call.scope[HANDOVER] = Handover(running, link, attached)
        call.answering = asyncio.create_task(
            self._sessions.handle_request(call.scope, _replay(call.body, call.receive), call.send)
        )
        waiting = asyncio.ensure_future(attached.wait())
        await asyncio.wait((waiting, call.answering), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    def _stamped(self, shape: dict[str, Any]) -> dict[str, Any]:
        meta = {**cast("dict[str, Any]", shape.get("_meta") or {}), SERVER_INFO_META_KEY: self._stamp}
        return {**shape, "resultType": "complete", "_meta": meta}

    def _cancel(self, headers: Mapping[bytes, bytes], request: Mapping[str, Any]) -> None:
        params = request.get("params")
        request_id = cast("Mapping[str, Any]", params).get("requestId") if isinstance(params, dict) else None
        session = headers.get(b"mcp-session-id")
        if session is None or not isinstance(request_id, str | int):
            return  # on 2026-07-28 a client cancels by closing the stream
        call = self._in_flight.get((session, request_id))
        if call is not None and call.answering is None:
            call.cancel()


def _trimmed(scope: Scope) -> dict[bytes, bytes]:
    """The headers, without the white space around values that some HTTP parsers leave there."""
    raw: list[tuple[bytes, bytes]] = scope["headers"]
    if any(value != value.strip() for _, value in raw):
        scope["headers"] = raw = [(name, value.strip()) for name, value in raw]
    return dict(raw)


def _params(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters of a request that is a proper `tools/call` in every respect, else None."""
    request_id, params = request.get("id"), request.get("params")
    if (
        request.get("jsonrpc") != "2.0"
        or isinstance(request_id, bool)
        or not isinstance(request_id, str | int)
    ):
        return None
    if not isinstance(params, dict):
        return None
    found = cast("dict[str, Any]", params)
    arguments: Any = found.get("arguments")
    if not isinstance(found.get("name"), str) or not (arguments is None or isinstance(arguments, dict)):
        return None
    return found


def _modern_envelope(call: _Call) -> bool:
    """Whether headers and body of a 2026-07-28 request agree; the SDK explains it when they do not."""
    raw: list[tuple[bytes, bytes]] = call.scope["headers"]
    if len(raw) != len(call.headers) or any(name.startswith(b"mcp-param-") for name in call.headers):
        return False
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in call.headers.items()}
    return not isinstance(classify_inbound_request(call.request, headers=headers), InboundLadderRejection)


def _accepts_both(headers: Mapping[bytes, bytes]) -> bool:
    accept = headers.get(b"accept", b"")
    return b"application/json" in accept and b"text/event-stream" in accept


def _parsed(body: bytes) -> Mapping[str, Any] | None:
    try:
        request: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return cast("Mapping[str, Any]", request) if isinstance(request, dict) else None


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None when it is too large."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body if len(body) <= MAX_BODY else None
    parts, size = [body], len(body)
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """`receive` as if nobody had read the body yet."""
    left = [body]

    async def again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return again


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": refusal.message}})
    headers = [_JSON, (b"content-length", b"%d" % len(body)), *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
