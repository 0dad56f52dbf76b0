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
from steward.servers.gateway.requests import (
    Receive,
    Scope,
    Send,
    accepts_both,
    parsed,
    refuse,
    replay,
    trimmed,
    whole_body,
)
from steward.servers.gateway.server import Gateway
from steward.servers.gateway.sessions import Sessions
from steward.servers.gateway.thin_call import ThinCall, modern_envelope
from steward.servers.gateway.views import Target, acts_for

WATCH_AFTER = 0.05  # a call that takes longer is watched for its client going away
CALLING = frozenset(  # methods that reach a server behind this one with words of the client's
    ("tools/call", "resources/read", "resources/subscribe", "prompts/get", "completion/complete")
)
_THIN_KEYS = frozenset({"name", "arguments", "_meta"})


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
        self._in_flight: dict[tuple[bytes, Any], ThinCall] = {}
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
        if isinstance(admitted, Refusal):
            await refuse(send, admitted)
            return
        scope["steward.member"] = admitted
        scope["user"], owner = self._user(admitted)
        if scope["method"] != "POST":
            await self._sessions.handle_request(scope, receive, send)
            return
        body = await whole_body(receive)
        if body is None:
            await refuse(send, Refusal(413, "The request is too large"))
            return
        request = parsed(body)
        method = None if request is None else request.get("method")
        if method in CALLING and not admitted.may_use:
            await refuse(send, Refusal(403, "This key may look but not call"))
            return
        if request is not None and method == "tools/call":
            if await self._thin(ThinCall(scope, receive, send, headers, body, request), admitted, owner):
                return
        elif request is not None and method == "notifications/cancelled":
            self._cancel(headers, request)
        await self._sessions.handle_request(scope, replay(body, receive), send)

    def _user(self, member: Member) -> tuple[AuthenticatedUser, AuthorizationContext]:
        """Whom the SDK binds a session to."""
        known = self._users.get(member.id)
        if known is None:
            user = AuthenticatedUser(AccessToken(token="", client_id=member.id, scopes=[]))
            known = self._users[member.id] = (user, authorization_context(user))
        return known

    # --- the thin path ---

    async def _thin(self, call: ThinCall, member: Member, owner: AuthorizationContext) -> bool:
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

    def _plain(self, call: ThinCall, owner: AuthorizationContext) -> Target | None:
        params = call.params
        if params is None or not _THIN_KEYS.issuperset(params) or not accepts_both(call.headers):
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
            if not modern_envelope(call):
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

    async def _run(self, call: ThinCall, target: Target, member: Member) -> None:
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
            run=self._gateway.calls.runs.of(call.headers.get(b"mcp-session-id", b"").decode("latin-1")),
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

    def _log_level(self, call: ThinCall) -> str | None:
        if call.modern:
            return wanted_level((call.params or {}).get("_meta"))
        return self._gateway.level_of(call.headers.get(b"mcp-session-id", b"").decode("latin-1"))

    async def _hand_over(self, call: ThinCall, running: Running, link: Link) -> None:
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

    def _cancel(self, headers: Mapping[bytes, bytes], request: Mapping[str, Any]) -> None:
        params = request.get("params")
        request_id = cast("Mapping[str, Any]", params).get("requestId") if isinstance(params, dict) else None
        session = headers.get(b"mcp-session-id")
        if session is None or not isinstance(request_id, str | int):
            return  # on 2026-07-28 a client cancels by closing the stream
        call = self._in_flight.get((session, request_id))
        if call is not None and call.answering is None:
            call.cancel()
