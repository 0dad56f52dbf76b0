"""Asking the person behind a client for a missing word, in both eras of the protocol.

On 2026-07-28 a server answers `InputRequiredResult` and is called again with the reply; before, it asks in
the middle of the call. A client that can do neither leaves the question unanswered, and the tool says what
is missing.
"""

from dataclasses import dataclass

import mcp_types
from fastmcp import Context
from fastmcp.server.elicitation import AcceptedElicitation
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS


@dataclass(frozen=True, slots=True)
class Asked:
    value: str | None  # None: declined, or nobody could be asked
    possible: bool  # whether anybody was asked


async def ask(ctx: Context, key: str, message: str) -> Asked | mcp_types.InputRequiredResult:
    request = ctx.request_context
    capabilities = _capabilities(ctx)
    if request is None or capabilities is None or capabilities.elicitation is None:
        return Asked(None, possible=False)
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        replies = ctx.input_responses or {}
        if key not in replies:
            return mcp_types.InputRequiredResult(input_requests={key: _request(message)})
        reply = replies[key]
        if isinstance(reply, mcp_types.ElicitResult) and reply.action == "accept" and reply.content:
            return Asked(str(reply.content.get("value") or "").strip() or None, possible=True)
        return Asked(None, possible=True)
    return await _ask_at_once(ctx, message)


async def _ask_at_once(ctx: Context, message: str) -> Asked:
    try:
        reply = await ctx.elicit(message, response_type=str)
    except MCPError:
        return Asked(None, possible=False)
    if isinstance(reply, AcceptedElicitation):
        return Asked(str(reply.data).strip() or None, possible=True)
    return Asked(None, possible=True)


def _request(message: str) -> mcp_types.ElicitRequest:
    schema = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
    return mcp_types.ElicitRequest(
        params=mcp_types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def _capabilities(ctx: Context) -> mcp_types.ClientCapabilities | None:
    request = ctx.request_context
    return request.session.client_capabilities if request is not None else None
