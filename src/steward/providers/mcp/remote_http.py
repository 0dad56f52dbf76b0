"""HTTP to a remote server, told as it is: whether a failed request reached it, answers never too large.

The SDK ends a whole session when one request fails, and reads a JSON answer of any size. Here a failed
request is answered in the server's place with an error that says whether it was sent; bodies are bounded.
"""

import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

from steward.providers.mcp.wire import BadAnswerError, ConnectionLostError

_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_TURNED_AWAY = {429, 503}  # the server says that it did not take the request
_LOST_ON_THE_WAY = {502, 504}
SESSION_HEADER = "mcp-session-id"
READ_SECONDS = 300.0


class CandidTransport(httpx2.AsyncBaseTransport):
    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        *,
        endpoint: str,
        max_bytes: int,
        on_lost: Callable[[str], None],
    ) -> None:
        self._inner = inner
        self._endpoint = httpx2.URL(endpoint)
        self._max_bytes = max_bytes
        self._on_lost = on_lost
        self._seal = secrets.token_hex(8)  # so that no server can write such an error itself

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        place = (request.url.host, request.url.path)
        message = request.method == "POST" and place == (self._endpoint.host, self._endpoint.path)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if not message:
                raise
            return self._in_its_place(request, _words(error), sent=not isinstance(error, _NOT_SENT))
        if response.status_code in _TURNED_AWAY | _LOST_ON_THE_WAY and message:
            await response.aclose()
            sent = response.status_code in _LOST_ON_THE_WAY
            return self._in_its_place(request, f"it answers with HTTP {response.status_code}", sent=sent)
        if response.status_code == 404 and message and SESSION_HEADER in request.headers:
            await response.aclose()
            return self._in_its_place(request, "it ended the session", sent=False)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream, self._max_bytes)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _in_its_place(self, request: httpx2.Request, reason: str, *, sent: bool) -> httpx2.Response:
        self._on_lost(reason)
        data = {"seal": self._seal, "sent": sent}
        error = {"code": CONNECTION_CLOSED, "message": reason, "data": data}
        return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)

    def honest(self, error: MCPError) -> MCPError:
        """The error as it should be judged, when it is one of ours."""
        match error.data:
            case {"seal": self._seal, "sent": bool() as sent}:
                return ConnectionLostError(error.message, sent=sent)
            case _:
                pass
        if error.code == PARSE_ERROR:
            return BadAnswerError(error.message)
        return error


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._limit:
                raise httpx2.StreamError(f"the answer is larger than {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def make_client(
    transport: CandidTransport, *, headers: dict[str, str], timeout: float, auth: httpx2.Auth | None
) -> httpx2.AsyncClient:
    # Unpacking could make a small answer large, so servers are asked not to pack.
    return httpx2.AsyncClient(
        transport=transport,
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx2.Timeout(timeout, read=READ_SECONDS),
        auth=auth,
    )


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
