"""The gateway over Streamable HTTP, with a thin path for the one method that matters for speed.

`tools/call` is parsed once, taken through the door and answered as one JSON body; nothing is modelled on
the way. Everything else, and a call that turns out to need a conversation (progress, questions, an
approval), is the SDK's: the thin path hands the running call over and the SDK answers its request. What
looks odd goes to the SDK unseen, so that there is one place that says what is wrong with a request.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import orjson
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    AuthorizationContext,
    authorization_context,
)
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventStore
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, SERVER_INFO_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from steward.contract.call import Caller, CallerKind, PendingApproval, ToolCall, new_id
from steward.contract.errors import ErrorCode
from steward.contract.federation import decides
from steward.contract.tool import ToolSpec
from steward.contract.trace_context import arrived_with
from steward.orchestrator.orchestrator import Orchestrator
from steward.servers.gateway.callers import SessionKey, holder, session_of
from steward.servers.gateway.calls import HANDOVER, Handover
from steward.servers.gateway.guard import GatewayGuard, GatewayRefusal
from steward.servers.gateway.link import Link, RunningWork, wanted_level
from steward.servers.gateway.long_calls import NAMED, declares
from steward.servers.gateway.ports import Member
from steward.servers.gateway.requests import (
    Receive,
    Scope,
    Send,
    accepts_both,
    names_its_handle,
    parsed,
    refuse,
    replay,
    trimmed,
    whole_body,
)
from steward.servers.gateway.server import CALLING, Gateway
from steward.servers.gateway.sessions import Sessions
from steward.servers.gateway.thin_call import ThinCall, modern_envelope
from steward.servers.gateway.views import Target

WATCH_AFTER = 0.05  # a call that takes longer is watched for its client going away
# 404, so that a client opens a new session, as the protocol says.
ELSEWHERE = GatewayRefusal(
    404,
    "Session not found here: it was opened at another instance of Steward, or it is over",
    data={
        "code": ErrorCode.SESSION_UNKNOWN,
        "fix": "Initialize again. Behind a proxy, keep a client at one instance by its Mcp-Session-Id, or "
        "speak 2026-07-28, which has no sessions.",
    },
)
READS_ONLY = GatewayRefusal(403, "This key may look but not call")
OTHER_HANDLE = GatewayRefusal(400, "Mcp-Name and params.taskId name different tasks", code=HEADER_MISMATCH)
_THIN_KEYS = frozenset({"name", "arguments", "_meta"})


class HttpGateway:
    """An ASGI application for one gateway. `run()` must be entered while it serves."""

    def __init__(
        self, gateway: Gateway, door: Orchestrator, *, guard: GatewayGuard, events: EventStore | None = None
    ) -> None:
        self._gateway = gateway
        self._door = door
        self._guard = guard
        self._sessions = Sessions(gateway, events=events)
        # Without the icon, which would make every answer longer than it need be.
        self._stamp = {
            key: value for key, value in gateway.server.server_info_stamp.items() if key != "icons"
        }
        self._in_flight: dict[tuple[SessionKey, Any], ThinCall] = {}
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
        headers = trimmed(scope)
        admitted = await self._guard.admit(headers, scope)
        if isinstance(admitted, GatewayRefusal):
            await refuse(send, admitted)
            return
        scope["steward.member"] = admitted
        scope["user"], owner = self._user(admitted)
        if self._of_another(headers, owner):
            await refuse(send, ELSEWHERE)
            return
        if scope["method"] != "POST":
            key = _session_key(headers, admitted)
            ends = scope["method"] == "DELETE" and self._sessions.serves(key.session, owner)
            await self._sessions.handle_request(scope, receive, send)
            if ends:
                self._end(key)
            return
        body = await whole_body(receive)
        if body is None:
            await refuse(send, GatewayRefusal(413, "The request is too large"))
            return
        request = parsed(body)
        method = None if request is None else request.get("method")
        refusal = _refusal(request or {}, headers, admitted)
        if refusal is not None:
            await refuse(send, refusal, request_id=(request or {}).get("id"))
            return
        if request is not None and method == "tools/call":
            if await self._thin(ThinCall(scope, receive, send, headers, body, request), admitted, owner):
                return
        elif request is not None and method == "notifications/cancelled":
            self._cancel(_session_key(headers, admitted), request)
        await self._sessions.handle_request(scope, replay(body, receive), send)

    def _of_another(self, headers: Mapping[bytes, bytes], owner: AuthorizationContext) -> bool:
        """Whether a request belongs to a session that was opened at another instance, or is over."""
        session = headers.get(b"mcp-session-id")
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        if session is None or (version and version not in HANDSHAKE_PROTOCOL_VERSIONS):
            return False
        return not self._sessions.opened(session.decode("latin-1"), owner)

    def _user(self, member: Member) -> tuple[AuthenticatedUser, AuthorizationContext]:
        """Whom the SDK binds a session to."""
        name = holder(member.id, member.user)
        known = self._users.get(name)
        if known is None:
            user = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
            known = self._users[name] = (user, authorization_context(user))
        return known

    # --- the thin path ---

    async def _thin(self, call: ThinCall, member: Member, owner: AuthorizationContext) -> bool:
        """Answer a plain call; False for whatever is not plain, before anything was run."""
        target = self._plain(call, owner)
        if target is None:
            return False
        key = (_session_key(call.headers, member), call.id)
        self._in_flight[key] = call
        watch = asyncio.get_running_loop().call_later(WATCH_AFTER, call.watch) if call.modern else None
        try:
            with arrived_with(call.trace):
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

    def _plain(self, call: ThinCall, owner: AuthorizationContext) -> Target | None:
        params = call.params
        if params is None or not _THIN_KEYS.issuperset(params) or not accepts_both(call.headers):
            return None
        is_json = call.headers.get(b"content-type", b"").startswith(b"application/json")
        if not is_json or decides(params.get("_meta")) is not None:  # who decides makes no new call
            return None
        version = call.headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        if not version or version in HANDSHAKE_PROTOCOL_VERSIONS:
            session = call.headers.get(b"mcp-session-id", b"").decode("latin-1")
            if not self._sessions.serves(session, owner):
                return None
        else:
            call.modern = True
            if self._may_outlast(params) or not modern_envelope(call):
                return None
        name, arguments = params["name"], params.get("arguments")
        spec = self._gateway.catalogue.find(name)
        if spec is None or (call.modern and self._mirrors_parameters(spec)):
            return None
        return Target(spec.name, arguments or {})

    def _may_outlast(self, params: Mapping[str, Any]) -> bool:
        """Whether this call may be answered with a handle before it is over; the SDK's path knows how."""
        return self._gateway.long_calls is not None and declares(params.get("_meta"))

    def _mirrors_parameters(self, spec: ToolSpec) -> bool:
        """Whether a tool wants arguments repeated in headers, which the SDK checks."""
        known = self._mirroring.get(spec.definition_hash)
        if known is None:
            known = b'"x-mcp-header"' in orjson.dumps(spec.input_schema, option=orjson.OPT_NON_STR_KEYS)
            self._mirroring[spec.definition_hash] = known
        return known

    async def _run(self, call: ThinCall, target: Target, member: Member) -> None:
        running = RunningWork(outcome=asyncio.get_running_loop().create_future(), cancel=call.cancel)
        key = _session_key(call.headers, member)
        link = Link(
            lambda: self._hand_over(call, running, link),
            wants_progress=call.wants_progress,
            log_level=self._log_level(call, key),
        )
        work = ToolCall(
            tool=target.tool,
            arguments=target.arguments,
            caller=Caller(CallerKind.CLIENT, member.id),
            user=self._gateway.calls.acts_for(target, member.user),
            channel=link,
            run=self._gateway.calls.runs.of(key),
            session=session_of(key.session, member.id),
            correlation_id=new_id() if call.trace is None else call.trace.trace_id,
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
            shape = self._gateway.calls.answer(target.tool, result)
        except MCPError as error:
            await call.fail(error)
            return
        await call.finish(self._stamped(shape) if call.modern else shape)

    def _log_level(self, call: ThinCall, key: SessionKey) -> str | None:
        if call.modern:
            return wanted_level((call.params or {}).get("_meta"))
        return self._gateway.level_of(key)

    async def _hand_over(self, call: ThinCall, running: RunningWork, link: Link) -> None:
        """From here on the SDK answers this request; the call goes on where it is."""
        call.unwatch()
        attached = asyncio.Event()
        call.scope[HANDOVER] = Handover(running, link, attached)
        call.answering = asyncio.create_task(
            self._sessions.handle_request(call.scope, replay(call.body, call.receive), call.send)
        )
        waiting = asyncio.ensure_future(attached.wait())
        await asyncio.wait((waiting, call.answering), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    def _stamped(self, shape: dict[str, Any]) -> dict[str, Any]:
        meta = {**cast("dict[str, Any]", shape.get("_meta") or {}), SERVER_INFO_META_KEY: self._stamp}
        return {**shape, "resultType": "complete", "_meta": meta}

    def _end(self, session: SessionKey) -> None:
        """Whoever ends a session reads no more answers; many clients say nothing else when they give up."""
        for (whose, _), call in tuple(self._in_flight.items()):
            if whose == session and call.answering is None:
                call.cancel()

    def _cancel(self, session: SessionKey, request: Mapping[str, Any]) -> None:
        params = request.get("params")
        request_id = cast("Mapping[str, Any]", params).get("requestId") if isinstance(params, dict) else None
        if not session.session or not isinstance(request_id, str | int):
            return  # on 2026-07-28 a client cancels by closing the stream
        call = self._in_flight.get((session, request_id))
        if call is not None and call.answering is None:
            call.cancel()


def _session_key(headers: Mapping[bytes, bytes], member: Member) -> SessionKey:
    session = headers.get(b"mcp-session-id", b"").decode("latin-1")
    return SessionKey(holder(member.id, member.user), session)


def _refusal(
    request: Mapping[str, Any], headers: Mapping[bytes, bytes], member: Member
) -> GatewayRefusal | None:
    method = request.get("method")
    if method in CALLING and not member.may_use:
        return READS_ONLY
    return OTHER_HANDLE if method in NAMED and not names_its_handle(headers, request) else None
