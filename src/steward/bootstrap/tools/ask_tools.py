"""Each agent that people talk to as a tool, so that others reach it through the one door."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from steward.contract.call import Failed, current_call
from steward.contract.errors import ErrorCode, InputError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.conversations.model import Answer, AnswerStatus
from steward.conversations.shapes import source_shape
from steward.policy.access import LOCAL_USER
from steward.providers.functions import FunctionTool

if TYPE_CHECKING:  # Pydantic AI takes seconds to import
    from steward.agents.chat import Chat

ASK = "ask_"


def ask_tool(
    open_chat: "Callable[[], Awaitable[Chat]]", name: str, about: str, *, timeout: float
) -> FunctionTool:
    async def ask(request: str) -> Any:
        call = current_call.get()
        if call is None:
            raise InputError("An agent is asked through the door.")
        chat = await open_chat()
        answer = await chat.consult(
            name, request, user=call.user or LOCAL_USER, asked_by=call.caller, within=call.run
        )
        return _told(answer)

    spec = ToolSpec(
        name=f"{ASK}{name}",
        description=f"Ask the agent '{name}'. {about} Use it for requests of several steps.",
        input_schema={
            "type": "object",
            "properties": {"request": {"type": "string", "description": "What it should do or find out."}},
            "required": ["request"],
            "additionalProperties": False,
        },
        origin=Origin.BUILTIN,
        risk=RiskLevel.REVERSIBLE,
        # It touches nothing itself: what it calls passes the door on its own.
        effect=Effect.READS,
        hints=ToolHints(read_only=False, destructive=False, idempotent=False, open_world=True),
        timeout=timeout,
        category="agents",
    )
    return FunctionTool(spec, ask)


def _told(answer: Answer) -> Any:
    data = {
        "status": answer.status.value,
        "answer": answer.answer,
        "confidence": answer.confidence,
        "sources": [source_shape(source) for source in answer.sources],
        "proposal_id": answer.proposal_id,
        "missing_tools": list(answer.missing_tools),
    }
    if answer.status is AnswerStatus.FAILED:
        return Failed(error=answer.answer, code=ErrorCode.TOOL_EXECUTION_ERROR, data=data)
    return data
