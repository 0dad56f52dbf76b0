"""HTTP requests to the gateway, as far as they are the same whoever answers them.

Owns reading a body within its limit, reading it again, and refusing. Judges nothing that MCP defines.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, cast

import orjson
from mcp.shared.inbound import decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from steward.servers.gateway.guard import GatewayRefusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
MAX_BODY = 4 * 1024 * 1024
JSON_TYPE = (b"content-type", b"application/json")


def trimmed(scope: Scope) -> dict[bytes, bytes]:
    """The headers, without the white space around values that some HTTP parsers leave there."""
    raw: list[tuple[bytes, bytes]] = scope["headers"]
    if any(value != value.strip() for _, value in raw):
        scope["headers"] = raw = [(name, value.strip()) for name, value in raw]
    return dict(raw)


def accepts_both(headers: Mapping[bytes, bytes]) -> bool:
    accept = headers.get(b"accept", b"")
    return b"application/json" in accept and b"text/event-stream" in accept


def parsed(body: bytes) -> Mapping[str, Any] | None:
    try:
        request: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return cast("Mapping[str, Any]", request) if isinstance(request, dict) else None


async def whole_body(receive: Receive) -> bytes | None:
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


def replay(body: bytes, receive: Receive) -> Receive:
    """`receive` as if nobody had read the body yet."""
    left = [body]

    async def again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return again


def names_its_handle(headers: Mapping[bytes, bytes], request: Mapping[str, Any]) -> bool:
    """Whether the header by which proxies route says the same as the body. Older versions have none."""
    version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
    if version not in MODERN_PROTOCOL_VERSIONS:
        return True
    params: Any = request.get("params")
    named = decode_header_value(headers.get(b"mcp-name", b"").decode("latin-1"))
    return isinstance(params, dict) and cast("dict[str, Any]", params).get("taskId") == named


async def refuse(send: Send, refusal: GatewayRefusal, *, request_id: Any = None) -> None:
    error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        error["data"] = refusal.data
    body = orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error})
    headers = [JSON_TYPE, (b"content-length", b"%d" % len(body)), *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
