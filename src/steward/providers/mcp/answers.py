"""A server's answer to `tools/call`, as a result of ours. Pure.

The raw answer travels along in `native`, so that the gateway forwards it without modelling it again.
"""

from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, URL_ELICITATION_REQUIRED

from steward.contract.call import Done, Failed, ToolResult
from steward.contract.errors import ErrorCode
from steward.providers.mcp import federation
from steward.providers.mcp.wire import BadAnswerError

MAX_ERROR = 2000


def result_of(tool: str, answer: dict[str, Any], *, steward: str | None = None) -> ToolResult:
    """`steward`: the name of the server where it is a Steward, whose word on what waits counts."""
    content: Any = answer.get("content", [] if "structuredContent" in answer else None)
    if not _is_content(content):
        return bad_answer(tool, BadAnswerError("its answer has no content"))
    blocks = cast("list[dict[str, Any]]", content)
    structured: Any = answer.get("structuredContent")
    if answer.get("isError") is True:
        if steward is not None and (waits := federation.waiting(steward, answer)) is not None:
            return waits
        code = None if steward is None else federation.failure_code(answer)
        text = _text(blocks) or "it failed without saying why"
        return Failed(
            error=f"'{tool}' failed: {text[:MAX_ERROR]}",
            code=code or ErrorCode.TOOL_EXECUTION_ERROR,
            data=structured,
            native=answer,
        )
    return Done(data=_data(blocks, structured, answer), native=answer)


def _is_content(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(block, dict) and isinstance(cast("dict[str, Any]", block).get("type"), str)
        for block in cast("list[Any]", content)
    )


def _data(blocks: list[dict[str, Any]], structured: Any, answer: dict[str, Any]) -> Any:
    if "structuredContent" in answer:
        return structured
    if all(block["type"] == "text" for block in blocks):
        return _text(blocks)
    return blocks


def _text(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(str(block.get("text", "")) for block in blocks if block["type"] == "text")


def bad_answer(tool: str, error: BadAnswerError) -> Failed:
    return Failed(
        error=f"'{tool}' was called, but the answer cannot be used: {error.message}.",
        code=ErrorCode.INVALID_OUTPUT,
    )


def refused(tool: str, error: MCPError) -> Failed:
    """The server answered with a JSON-RPC error; the gateway hands it on as it is."""
    code = ErrorCode.INVALID_ARGUMENTS if error.code == INVALID_PARAMS else ErrorCode.TOOL_EXECUTION_ERROR
    where = ""
    if error.code == URL_ELICITATION_REQUIRED:
        where = " It wants you to open a page first; ask again from a client that can."
    return Failed(error=f"'{tool}' failed: {error.message[:MAX_ERROR]}{where}", code=code, native=error)


def lost(tool: str, server: str, reason: str) -> Failed:
    return Failed(
        error=f"Server '{server}' was lost while it ran '{tool}': {reason}. "
        "It may have taken effect; it was not sent again.",
        code=ErrorCode.SERVICE_UNAVAILABLE,
        outcome_unknown=True,
    )
