"""`/v1/chat/completions`: each agent is a model, so that chat programs just work."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Request

from steward.contract.call import new_id
from steward.contract.errors import StewardError
from steward.models.asking import SaidCall, Written
from steward.surfaces.api.identity import Worker
from steward.surfaces.api.openai.answering import (
    AnswerProgress,
    AnswerWords,
    Begun,
    begin,
    require_model,
    whole,
)
from steward.surfaces.api.openai.asking import CompletionBody, Wanted, completion_wanted
from steward.surfaces.api.openai.chores import chore_answer
from steward.surfaces.api.openai.wire import ERRORS, STREAMED, count, error_body
from steward.surfaces.api.problems import status_of
from steward.surfaces.api.routes.chat import dumped, speaker, stream
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1", tags=["openai"])


@router.post("/chat/completions", response_model=None, responses={**ERRORS, 200: STREAMED})
async def create_chat_completion(
    platform: Here, body: CompletionBody, identity: Worker, *, request: Request
) -> Any:
    """A turn with the agent that `model` names; with `tools` or a `response_format` the model answers."""
    wanted = await asyncio.to_thread(completion_wanted, body)  # schemas are compiled
    chore = _chore(wanted)
    if chore is not None:
        require_model(platform, wanted.model)
        begun = Begun(None, _said_at_once(chore))
    else:
        begun = await begin(platform, wanted, speaker(request, identity))
    head = {
        "id": f"chatcmpl-{begun.conversation or new_id()}",
        "created": int(time.time()),
        "model": body.model,
    }
    if wanted.stream:
        return stream(_chunks(begun, head, usage=wanted.usage))
    return _completion(head, await whole(begun))


def _chore(wanted: Wanted) -> str | None:
    spoken = [each.text for each in wanted.asked.messages if each.role in ("user", "assistant")]
    return chore_answer(spoken[0]) if len(spoken) == 1 and not wanted.brings_its_own else None


async def _said_at_once(text: str) -> AsyncGenerator[AnswerWords | Written]:
    yield AnswerWords(text)
    yield Written(text, tokens=(0, count(text)))


async def _chunks(begun: Begun, head: dict[str, Any], *, usage: bool) -> AsyncGenerator[bytes]:
    """What the agent does comes as `reasoning_content`, which chat programs show while they wait."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _data(head, [{"index": 0, "delta": delta, "finish_reason": finish}])

    yield chunk({"role": "assistant", "content": ""})
    try:
        async for step in begun.steps:
            match step:
                case None:
                    yield b": waiting\n\n"
                case AnswerProgress(text=text):
                    yield chunk({"reasoning_content": f"{text}\n"})
                case AnswerWords(text=text):
                    yield chunk({"content": text})
                case Written():
                    if step.calls:
                        calls = [{"index": at, **_call(call)} for at, call in enumerate(step.calls)]
                        yield chunk({"tool_calls": calls})
                    yield chunk({}, step.finish)
                    if usage:
                        yield _data(head, [], usage=_usage(step))
    except StewardError as problem:  # the status is sent already
        yield (
            b"data: " + dumped(error_body(status_of(problem), problem.explain(), code=problem.code)) + b"\n\n"
        )
    yield b"data: [DONE]\n\n"


def _data(head: dict[str, Any], choices: list[Any], **more: Any) -> bytes:
    body = {**head, "object": "chat.completion.chunk", "choices": choices, **more}
    return b"data: " + dumped(body) + b"\n\n"


def _call(call: SaidCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}}


def _completion(head: dict[str, Any], written: Written) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": written.text or None, "refusal": None}
    if written.calls:
        message["tool_calls"] = [_call(call) for call in written.calls]
    else:
        message["content"] = written.text
    choices = [{"index": 0, "message": message, "finish_reason": written.finish, "logprobs": None}]
    return {**head, "object": "chat.completion", "choices": choices, "usage": _usage(written)}


def _usage(written: Written) -> dict[str, int]:
    read, made = written.tokens
    return {"prompt_tokens": read, "completion_tokens": made, "total_tokens": read + made}
