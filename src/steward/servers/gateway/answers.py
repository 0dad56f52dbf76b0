"""A tool result in the protocol's shape, forwarded untouched where the provider answered in it.

Owns the wording of what is not done: failed, waiting, declined.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, assert_never, cast

import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, SERVER_INFO_META_KEY
from pydantic import BaseModel

from steward.contract.call import Done, Failed, PendingApproval, ToolResult, envelope
from steward.contract.errors import ErrorCode
from steward.tasks.envelopes import TaskCode, failure

SYSTEM_ERROR = -32000


def answer(result: ToolResult, *, as_error: bool = False) -> dict[str, Any]:
    """The `CallToolResult` on the wire. Raises `MCPError` where the protocol wants an error instead.

    `as_error`: this tool's contract wants every failure as a JSON-RPC error.
    """
    native = _native(result)
    match result:
        case Done():
            return native if native is not None else from_data(result.data)
        case Failed():
            return native if native is not None else _failure(result, as_error)
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
        native = native.model_dump(by_alias=True, mode="json", exclude_none=True)
    if not isinstance(native, dict) or "content" not in native:
        return None
    return _ours(cast("dict[str, Any]", native))


def _ours(native: dict[str, Any]) -> dict[str, Any]:
    """Without what a 2026-07-28 server says of itself: this answer is the gateway's."""
    meta: Any = native.get("_meta")
    if "resultType" not in native and not (meta and SERVER_INFO_META_KEY in meta):
        return native
    shape = {key: value for key, value in native.items() if key not in ("resultType", "_meta")}
    told = cast("dict[str, Any]", meta or {})
    kept = {key: value for key, value in told.items() if key != SERVER_INFO_META_KEY}
    return {**shape, "_meta": kept} if kept else shape


def from_data(data: Any) -> dict[str, Any]:
    if isinstance(data, str):
        return {"content": [{"type": "text", "text": data}]}
    text = orjson.dumps(data, default=str).decode()
    shape: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if isinstance(data, Mapping):
        shape["structuredContent"] = data
    return shape


def _failure(failed: Failed, as_error: bool) -> dict[str, Any]:
    if failed.code == ErrorCode.TOOL_NOT_FOUND:
        raise MCPError(INVALID_PARAMS, failed.error)
    if as_error:
        wrong = failed.code == ErrorCode.INVALID_ARGUMENTS
        data = {
            "details": failed.error,
            "guidance": "See the tool's input schema." if wrong else "'steward log' has this call.",
            "error_code": failed.code,
            "retryable": failed.retryable,
        }
        raise MCPError(INVALID_PARAMS if wrong else SYSTEM_ERROR, failed.error, data)
    return _problem(failed.error, envelope(failed))


def contents(shape: Mapping[str, Any], *, not_found: int = INVALID_PARAMS) -> dict[str, Any]:
    """What `resources/read` and `prompts/get` answer, from the answer of the call that stands for them.

    Raises `MCPError` for what was not done; questions to the client pass as they are.
    """
    if "content" not in shape:
        return dict(shape)
    said: Mapping[str, Any] = shape.get("structuredContent") or {}
    if not shape.get("isError"):
        return dict(said)
    code = said.get("error_code") or said.get("status")
    number = not_found if code == ErrorCode.NOT_FOUND else INTERNAL_ERROR
    data = {"code": code, "proposal_id": said.get("proposal_id")}
    raise MCPError(number, shape["content"][0]["text"], {key: value for key, value in data.items() if value})


def pending(waiting: PendingApproval, *, as_task: bool = False, too_long: bool = False) -> dict[str, Any]:
    """`as_task`: this tool's contract answers in the tasks' envelope.

    `too_long`: the call is more than can be shown in the client, so nobody can approve it there.
    """
    here = " It is too long to be shown and approved here." if too_long else ""
    text = (
        f"Nothing was run yet: this call waits for a person ({waiting.reason}).{here} "
        f"Proposal {waiting.proposal_id}. A person approves it with 'steward approve {waiting.proposal_id}' "
        "or on the page; do not send the call again."
    )
    shape = _task_refusal(TaskCode.CONFIRMATION_REQUIRED, text) if as_task else envelope(waiting)
    return _problem(text, shape)


def declined(waiting: PendingApproval, *, as_task: bool = False) -> dict[str, Any]:
    text = f"Nothing was run: the person declined this call (proposal {waiting.proposal_id})."
    if as_task:
        return _problem(text, _task_refusal(TaskCode.CONFIRMATION_DECLINED, text))
    return _problem(text, {**envelope(waiting), "status": "failed", "error": text, "error_code": "DECLINED"})


def _task_refusal(code: TaskCode, message: str) -> dict[str, Any]:
    return failure(code, message, at=datetime.now(UTC))


def _problem(text: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    # isError, so that a client does not hold the envelope against the tool's own output schema.
    return {"content": [{"type": "text", "text": text}], "structuredContent": shape, "isError": True}
