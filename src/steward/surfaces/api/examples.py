"""What answers look like, for the documentation: one story, told in the API's main shapes."""

from typing import Any

TASK = "task_7k2m9x4c8v1b5n3z6q0w"
PROPOSAL = "4f1c2a9e7b3d5f60"
CALL, CORRELATION = "9a3b5c7d1e2f4a6b", "0c9d8e7f6a5b4c3d"
CONVERSATION = "c1d2e3f4a5b6c7d8"

_DELETION: dict[str, Any] = {
    "tool": "delete_task",
    "arguments": {"task_id": TASK},
    "status": "pending_approval",
    "data": None,
    "error": None,
    "error_code": None,
    "outcome_unknown": False,
    "risk": "irreversible",
    "proposal_id": PROPOSAL,
    "call_id": CALL,
    "duration_ms": 4.2,
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "TaskShape": {
        "id": TASK,
        "title": "Call Ana",
        "description": None,
        "due_date": "2026-11-20T17:00:00+01:00",
        "priority": "high",
        "completed": False,
        "recurrence": None,
        "notify": False,
        "notify_at": None,
        "created_at": "2026-11-15T09:30:00+00:00",
        "completed_at": None,
        "due_words": "Friday 17:00",
        "overdue": False,
    },
    "ToolResultShape": {
        "status": "pending_approval",
        "success": False,
        "data": None,
        "error": "It cannot be taken back. Steward rates 'delete_task' irreversible.",
        "error_code": None,
        "retryable": False,
        "proposal_id": PROPOSAL,
        "call_id": CALL,
        "correlation_id": CORRELATION,
        "duration_ms": 4.2,
        "outcome_unknown": False,
    },
    "AnswerShape": {
        "status": "pending_approval",
        "agent": "tasks",
        "conversation": CONVERSATION,
        "answer": "Are you sure you want to delete 'Call Ana'? This cannot be undone.",
        "reasoning": "Looked for 'Call Ana' among your tasks and found one.",
        "confidence": 0.95,
        "tool_calls": [_DELETION],
        "sources": [],
        "proposal_id": PROPOSAL,
        "missing_tools": [],
    },
    "ProposalShape": {
        "id": PROPOSAL,
        "state": "waiting",
        "tool": "delete_task",
        "arguments": {"task_id": TASK, "user_id": "local"},
        "digest": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
        "definition_hash": "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730",
        "risk": "irreversible",
        "confidence": 0.95,
        "reason": "It cannot be taken back. Steward rates 'delete_task' irreversible.",
        "caller": "agent:tasks",
        "user": "local",
        "utterance": "Delete Call Ana",
        "call_id": CALL,
        "correlation_id": CORRELATION,
        "created_at": "2026-11-15T09:31:00Z",
        "expires_at": None,
        "effect": None,
        "elsewhere": None,
        "shown": None,
        "always": [],
        "not_always": "It cannot be taken back, so each call is asked about.",
        "receipt": None,
        "result": None,
        "finished_at": None,
        "rejected_by": None,
        "rejected_at": None,
        "rejected_why": None,
    },
}
