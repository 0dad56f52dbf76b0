"""Answers, calls and events as JSON, the same on every wire and in the store."""

from collections.abc import Mapping
from typing import Any, assert_never

from steward.conversations.model import (
    Answer,
    AnswerStatus,
    ApprovalWanted,
    CallEnded,
    CallRecord,
    CallStarted,
    CallStatus,
    PendingCall,
    Progress,
    Source,
    TextWritten,
    TurnEvent,
    TurnFinished,
)

Json = dict[str, Any]


def call_shape(record: CallRecord) -> Json:
    return {
        "tool": record.tool,
        "arguments": dict(record.arguments),
        "status": record.status.value,
        "data": record.data,
        "error": record.error,
        "error_code": record.error_code,
        "outcome_unknown": record.outcome_unknown,
        "risk": record.risk,
        "proposal_id": record.proposal_id,
        "call_id": record.call_id,
        "duration_ms": round(record.duration_ms, 3),
    }


def source_shape(source: Source) -> Json:
    return {
        "title": source.title,
        "location": source.location,
        "kind": source.kind,
        "date": source.date,
        "detail": source.detail,
    }


def answer_shape(answer: Answer) -> Json:
    return {
        "status": answer.status.value,
        "agent": answer.agent,
        "conversation": answer.conversation,
        "answer": answer.answer,
        "reasoning": answer.reasoning,
        "confidence": answer.confidence,
        "tool_calls": [call_shape(record) for record in answer.tool_calls],
        "sources": [source_shape(source) for source in answer.sources],
        "proposal_id": answer.proposal_id,
        "missing_tools": list(answer.missing_tools),
    }


def read_answer(shape: Mapping[str, Any]) -> Answer:
    """The other way, for what was stored."""
    read: Json = {
        **shape,
        "status": AnswerStatus(shape["status"]),
        "tool_calls": tuple(read_call(call) for call in shape["tool_calls"]),
        "sources": tuple(Source(**source) for source in shape["sources"]),
        "missing_tools": tuple(shape["missing_tools"]),
    }
    return Answer(**read)


def read_call(shape: Mapping[str, Any]) -> CallRecord:
    read: Json = {**shape, "status": CallStatus(shape["status"])}
    return CallRecord(**read)


def pending_shape(call: PendingCall) -> Json:
    return {
        "tool_call_id": call.tool_call_id,
        "proposal_id": call.proposal_id,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "risk": call.risk,
        "reason": call.reason,
        "question": call.question,
    }


def event_shape(event: TurnEvent) -> tuple[str, Json]:
    """An event's name and data on `POST /v1/chat`."""
    match event:
        case TextWritten(text=text):
            return "text", {"text": text}
        case CallStarted():
            return "tool_call", {
                "call_id": event.call_id,
                "tool": event.tool,
                "arguments": dict(event.arguments),
            }
        case CallEnded(record=record):
            return "tool_result", call_shape(record)
        case ApprovalWanted():
            return "approval_wanted", {
                "proposal_id": event.proposal_id,
                "tool": event.tool,
                "arguments": dict(event.arguments),
                "risk": event.risk,
                "reason": event.reason,
                "question": event.question,
            }
        case Progress(text=text):
            return "progress", {"text": text}
        case TurnFinished(answer=answer):
            return "done", answer_shape(answer)
        case _:
            assert_never(event)
