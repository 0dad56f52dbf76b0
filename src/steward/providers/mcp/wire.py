"""What can go wrong on the way to a server and back, and what that says about a call.

Every transport raises these, so that one place decides about retries: a call that was surely not sent may
be sent again, one that may have run may not.
"""

from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR


class ConnectionLostError(MCPError):
    """No answer will come. `sent` says whether the server may have seen the request."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(CONNECTION_CLOSED, reason)
        self.sent = sent


class BadAnswerError(MCPError):
    """The server answered with something that is not an answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(PARSE_ERROR, reason)


def server_error(raw: Any) -> MCPError:
    """The error object of a response, whatever the server put there."""
    if not isinstance(raw, dict):
        return BadAnswerError("the server answered with an error that is not an object")
    body = cast("dict[str, Any]", raw)
    code, message = body.get("code"), body.get("message")
    if not isinstance(code, int) or not isinstance(message, str):
        return BadAnswerError("the server answered with an error that has no code or message")
    return MCPError(code, message, body.get("data"))
