"""A tool result in the protocol's shape, forwarded untouched where the provider answered in it.

Owns the wording of what is not done: failed, waiting, declined. Such an answer is text that a person can
act on, marked `isError`; the envelope travels in `_meta`, because clients hold `structuredContent` against
the tool's own output schema, also where nothing was done. A failure is a result, so that a model reads it.
A JSON-RPC error is kept for a tool that is not there, and for tools whose contract wants one.
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
from steward.contract.federation import RESULT
from steward.contract.schema import CompiledSchema
from steward.servers.knowledge_codes import wire_number
from steward.tasks.envelopes import TaskCode, failure


def answer(
    result: ToolResult, *, as_error: bool = False, as_task: bool = False, output: CompiledSchema | None = None
) -> dict[str, Any]:
    """The `CallToolResult` on the wire. Raises `MCPError` where the protocol wants an error instead.

    `as_error`: this tool's contract wants its failures as JSON-RPC errors. `as_task`: it answers in the
    tasks' envelope. `output`: what the tool promises.
    """
    match result:
        case Done():
            native = _native(result.native)
            return native if native is not None else from_data(result.data)
        case Failed():
            known = as_task and result.code in frozenset(TaskCode)
            refused = _task_refusal(TaskCode(result.code), result.error) if known else None
            return _failure(result, as_error=as_error, output=output, promised=refused)
        case PendingApproval():
            return pending(result)
        case _:
            assert_never(result)


def _native(native: Any) -> dict[str, Any] | None:
    """What a provider answered, where it is an answer of the protocol."""
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


def _failure(
    failed: Failed,
    *,
    as_error: bool,
    output: CompiledSchema | None,
    promised: Mapping[str, Any] | None,
) -> dict[str, Any]:
    if failed.code == ErrorCode.TOOL_NOT_FOUND:
        raise unknown_tool(failed.error)
    if failed.code == ErrorCode.INVALID_ARGUMENTS and isinstance(failed.native, MCPError):
        return _problem(failed.error, envelope(failed))  # however its server says so
    if isinstance(failed.native, MCPError):
        raise failed.native
    native = _native(failed.native)
    if native is not None:
        return _without_misfit(native, failed, output)
    if as_error and failed.code != ErrorCode.INVALID_ARGUMENTS:
        guidance = failed.fix or "'steward log' has this call."
        details = failed.error.removesuffix(guidance).rstrip()
        data = {
            "details": details,
            "guidance": guidance,
            "error_code": failed.code,
            "retryable": failed.retryable,
            "outcome_unknown": failed.outcome_unknown,
        }
        raise MCPError(wire_number(failed.code), f"{details} {guidance}", data)
    text = failed.error if promised is None else f"**{failed.code}**: {failed.error}"
    return _problem(text, envelope(failed), promised=promised)


def unknown_tool(message: str) -> MCPError:
    guidance = "Call tools/list and use one of the names there."
    data = {"details": message, "guidance": guidance, "error_code": ErrorCode.TOOL_NOT_FOUND}
    return MCPError(INVALID_PARAMS, f"{message.rstrip('.')}. {guidance}", data)


def _without_misfit(native: dict[str, Any], failed: Failed, output: CompiledSchema | None) -> dict[str, Any]:
    """A server's own failure, without structured content that its tool never promised."""
    if output is None or "structuredContent" not in native or output.accepts(native["structuredContent"]):
        return native
    kept = {key: value for key, value in native.items() if key != "structuredContent"}
    return {**kept, "_meta": {**kept.get("_meta", {}), RESULT: envelope(failed)}}


def contents(shape: Mapping[str, Any], *, not_found: int = INVALID_PARAMS) -> dict[str, Any]:
    """What `resources/read` and `prompts/get` answer, from the answer of the call that stands for them.

    Raises `MCPError` for what was not done; questions to the client pass as they are.
    """
    if "content" not in shape:
        return dict(shape)
    if not shape.get("isError"):
        return dict(shape.get("structuredContent") or {})
    said: Mapping[str, Any] = shape.get("_meta", {}).get(RESULT) or {}
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
    refusal = _task_refusal(TaskCode.CONFIRMATION_REQUIRED, text) if as_task else None
    return _problem(text, envelope(waiting), promised=refusal)


def declined(waiting: PendingApproval, *, as_task: bool = False) -> dict[str, Any]:
    text = f"Nothing was run: the person declined this call (proposal {waiting.proposal_id})."
    refusal = _task_refusal(TaskCode.CONFIRMATION_DECLINED, text) if as_task else None
    shape = {**envelope(waiting), "status": "failed", "error": text, "error_code": "DECLINED"}
    return _problem(text, shape, promised=refusal)


def _task_refusal(code: TaskCode, message: str) -> dict[str, Any]:
    return failure(code, message, at=datetime.now(UTC))


def _problem(
    text: str, shape: Mapping[str, Any], *, promised: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """`promised`: what the tool's own output schema foresees for a refusal."""
    problem = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {RESULT: shape}}
    return problem if promised is None else {**problem, "structuredContent": promised}
