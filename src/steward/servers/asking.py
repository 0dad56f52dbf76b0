"""Asking the person behind a client for a missing word, in both eras of the protocol.

On 2026-07-28 a server answers `InputRequiredResult` and is called again with the reply; before, it asks in
the middle of the call. A client that can do neither leaves the question unanswered, and the tool says what
is missing.
"""

from collections.abc import Mapping

import mcp_types
from fastmcp import Context
from fastmcp.server.elicitation import AcceptedElicitation
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Answers = dict[str, str | None]
"""By the question's key; None where it was declined or nobody could be asked."""


async def ask(ctx: Context, questions: Mapping[str, str]) -> Answers | mcp_types.InputRequiredResult:
    """Everything that is missing at once: on 2026-07-28 each round brings only its own answers."""
    request = ctx.request_context
    capabilities = None if request is None else request.session.client_capabilities
    if request is None or capabilities is None or capabilities.elicitation is None:
        return dict.fromkeys(questions)
    if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return {key: await _ask_at_once(ctx, message) for key, message in questions.items()}
    replies = ctx.input_responses or {}
    if not replies.keys() >= questions.keys():
        asked: dict[str, mcp_types.InputRequest] = {
            key: _request(message) for key, message in questions.items()
        }
        return mcp_types.InputRequiredResult(input_requests=asked)
    return {key: _said(replies[key]) for key in questions}


def _said(reply: object) -> str | None:
    if isinstance(reply, mcp_types.ElicitResult) and reply.action == "accept" and reply.content:
        return str(reply.content.get("value") or "").strip() or None
    return None


async def _ask_at_once(ctx: Context, message: str) -> str | None:
    try:
        reply = await ctx.elicit(message, response_type=str)
    except MCPError:
        return None
    return str(reply.data).strip() or None if isinstance(reply, AcceptedElicitation) else None


def _request(message: str) -> mcp_types.ElicitRequest:
    schema = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
    return mcp_types.ElicitRequest(
        params=mcp_types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )
