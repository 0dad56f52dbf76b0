"""`request_human_input`: asks the person behind a call, or leaves the question for one.

Owns the tool. Whoever can be reached through the call's channel is asked there and then. Otherwise the
question is stored; a person answers it with the CLI, the page or the API, and asking the same question
again returns that answer. Does not own where questions are kept (storage).
"""

from collections.abc import Sequence
from typing import Any

from steward.contract.call import Done, ElicitAnswer, Failed, ToolCall, ToolResult, current_call
from steward.contract.errors import ErrorCode
from steward.contract.questions import QuestionStore
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.providers.functions import FunctionTool

DECLINED = "HUMAN_INPUT_DECLINED"
UNAVAILABLE = "HUMAN_INPUT_UNAVAILABLE"
MAX_WAIT_SECONDS = 600
NOBODY = "local"

SPEC = ToolSpec(
    name="request_human_input",
    description=(
        "Ask the person a clarifying question and return the answer. Use it when information that only the "
        "person has is missing, or when no other tool can provide it. Never use it to ask for approval."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": 4_000},
            "choices": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "minItems": 2,
                "maxItems": 20,
                "description": "The possible answers, where they are known",
            },
        },
        "required": ["question"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "asked_before": {"type": "boolean", "description": "It was asked and answered a while ago."},
        },
        "required": ["answer"],
    },
    origin=Origin.BUILTIN,
    risk=RiskLevel.REVERSIBLE,
    effect=Effect.WRITES_STORE,
    hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
    timeout=MAX_WAIT_SECONDS,
    category="conversation",
    examples=("ask the user which city they mean", "ask me for the missing date"),
)


def request_human_input_tool(questions: QuestionStore | None) -> FunctionTool:
    """Without a store a question that cannot be asked now is refused."""

    async def request_human_input(*, question: str, choices: Sequence[str] = ()) -> ToolResult:
        call = current_call.get()
        answer = await _ask_now(call, question, choices)
        if answer is not None:
            return _spoken(answer)
        if questions is None:
            return Failed(error="Nobody can be asked here.", code=UNAVAILABLE, data={"question": question})
        asker = (call.user if call else None) or NOBODY
        stored = await questions.ask(asker, question, choices=tuple(choices))
        if stored.answer is not None:
            return Done(data={"answer": stored.answer, "asked_before": True})
        return Failed(
            error=f"Nobody can be asked here, so the question waits for a person as {stored.id}. "
            f"'steward answer {stored.id} TEXT' answers it; then ask again.",
            code=ErrorCode.HUMAN_INPUT_PENDING,
            data={"question_id": stored.id, "question": question},
        )

    return FunctionTool(SPEC, request_human_input)


async def _ask_now(call: ToolCall | None, question: str, choices: Sequence[str]) -> ElicitAnswer | None:
    if call is None or call.channel is None:
        return None
    answer: dict[str, Any] = {"type": "string", "title": "Answer"}
    if choices:
        answer["enum"] = list(choices)
    schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    return await call.channel.elicit(question, schema)


def _spoken(answer: ElicitAnswer) -> ToolResult:
    text = answer.content.get("answer")
    if answer.action == "accept" and isinstance(text, str):
        return Done(data={"answer": text})
    return Failed(error="The person did not answer the question.", code=DECLINED)
