"""A tool result in the protocol's shape, forwarded untouched where the provider answered in it.

Owns the wording of what is not done: failed, waiting, declined. Pure.
"""

from collections.abc import Mapping
from typing import Any, assert_never, cast

import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel

from steward.contract.call import Done, Failed, PendingApproval, ToolResult, envelope
from steward.contract.errors import ErrorCode


def answer(result: ToolResult) -> dict[str, Any]:
    """The `CallToolResult` on the wire. Raises `MCPError` where the protocol wants an error instead."""
    native = _native(result)
    match result:
        case Done():
            return native if native is not None else from_data(result.data)
        case Failed():
            return native if native is not None else _failure(result)
        case PendingApproval():
            return pending(result)
        case _:
            assert_never(result)


def _native(result: ToolResult) -> dict[str, Any] | None:
    if isinstance(result, PendingApproval):
        return None
    native = result.native
    if isinstance(native, MCPError):
        raise native
    if isinstance(native, BaseModel):
        return native.model_dump(by_alias=True, mode="json", exclude_none=True)
    if isinstance(native, dict) and "content" in native:
        return cast("dict[str, Any]", native)
    return None


def from_data(data: Any) -> dict[str, Any]:
    if isinstance(data, str):
        return {"content": [{"type": "text", "text": data}]}
    text = orjson.dumps(data, default=str).decode()
    shape: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if isinstance(data, Mapping):
        shape["structuredContent"] = data
    return shape


def _failure(failed: Failed) -> dict[str, Any]:
    if failed.code == ErrorCode.TOOL_NOT_FOUND:
        raise MCPError(INVALID_PARAMS, failed.error)
    return _problem(failed.error, envelope(failed))


def pending(waiting: PendingApproval) -> dict[str, Any]:
    text = (
        f"Nothing was run yet: this call waits for a person ({waiting.reason}). "
        f"Proposal {waiting.proposal_id}. A person approves it with 'steward approve {waiting.proposal_id}' "
        "or on the page; do not send the call again."
    )
    return _problem(text, envelope(waiting))


def declined(waiting: PendingApproval) -> dict[str, Any]:
    text = f"Nothing was run: the person declined this call (proposal {waiting.proposal_id})."
    return _problem(text, {**envelope(waiting), "status": "failed", "error": text, "error_code": "DECLINED"})


def _problem(text: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    # isError, so that a client does not hold the envelope against the tool's own output schema.
    return {"content": [{"type": "text", "text": text}], "structuredContent": shape, "isError": True}
