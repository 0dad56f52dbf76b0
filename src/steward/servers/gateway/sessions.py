"""The SDK's sessions over HTTP, told apart by whose they are."""

import asyncio

from mcp.server.auth.middleware.bearer_auth import (
    AuthorizationContext,
)
from mcp.server.streamable_http import EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from steward.servers.gateway.requests import (
    MAX_BODY,
)
from steward.servers.gateway.server import Gateway

IDLE_SECONDS = 30 * 60
IDLE_SLACK = 60  # seconds by which a session may look idle longer than it is


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

    def opened(self, session_id: str, user: AuthorizationContext) -> bool:
        """Whether it was opened here, by this user; somebody else's is as unknown as one that never was."""
        return session_id in self._server_instances and self._session_owners.get(session_id) == user

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
