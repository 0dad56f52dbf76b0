"""One plain `tools/call` and its HTTP request: what it asks for, how it is answered or given up.

Does not run the call (http.py does), and knows nothing of the door.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, InboundLadderRejection, classify_inbound_request

from steward.contract.trace_context import TRACEPARENT, TraceContext, trace_of
from steward.servers.gateway.requests import (
    JSON_TYPE,
    Receive,
    Scope,
    Send,
)

REQUEST_CANCELLED = 0  # as the SDK answers a request that its client gave up


@dataclass(slots=True, eq=False)
class ThinCall:
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

    @property
    def trace(self) -> TraceContext | None:
        """The trace that it belongs to: as MCP says it, else as its HTTP request does."""
        meta: Any = (self.params or {}).get("_meta")
        said = cast("dict[str, Any]", meta).get(TRACEPARENT) if isinstance(meta, dict) else None
        return trace_of(said) or trace_of(self.headers.get(TRACEPARENT.encode(), b"").decode("latin-1"))

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
                "headers": [JSON_TYPE, (b"content-length", b"%d" % len(body))],
            }
        )
        await self.send({"type": "http.response.body", "body": body})


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


def modern_envelope(call: ThinCall) -> bool:
    """Whether headers and body of a 2026-07-28 request agree; the SDK explains it when they do not."""
    raw: list[tuple[bytes, bytes]] = call.scope["headers"]
    if len(raw) != len(call.headers) or any(name.startswith(b"mcp-param-") for name in call.headers):
        return False
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in call.headers.items()}
    return not isinstance(classify_inbound_request(call.request, headers=headers), InboundLadderRejection)
