"""`/v1/responses`: OpenAI's newer protocol for the same answers."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any, cast

from fastapi import APIRouter, Request
from pydantic import Field

from steward.contract import linear_re as re
from steward.contract.call import new_id
from steward.contract.errors import StewardError
from steward.models.asking import PlainAsk, SaidCall, SaidMessage, Written
from steward.surfaces.api.identity import Worker
from steward.surfaces.api.openai.answering import AnswerProgress, AnswerWords, Begun, begin, whole
from steward.surfaces.api.openai.asking import (
    MOST_MESSAGES,
    MOST_TOOLS,
    OpenAIPart,
    SamplingSettings,
    Wanted,
    answer_form,
    brought_tools,
    content_of,
    readable,
    refuse_unserved,
    tool_choice,
)
from steward.surfaces.api.openai.wire import ERRORS, STREAMED, Cut, UnservedParameterError, error_body
from steward.surfaces.api.problems import status_of
from steward.surfaces.api.routes.chat import dumped, speaker, stream
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1", tags=["openai"])

_ID = re.compile(r"resp_([0-9a-f]{32})_[0-9a-f]{8}")
_ROLES = ("system", "developer", "user", "assistant")
_UNSERVED: tuple[tuple[str, str], ...] = (
    ("background", "Leave it out: wait for the answer, or follow it with `stream`."),
    ("conversation", "Name the last answer in `previous_response_id`."),
    ("include", "Leave it out."),
    ("max_tool_calls", "Leave it out: an agent has limits of its own."),
    ("prompt", "Send the prompt itself as `instructions`."),
    ("top_logprobs", "Leave it out."),
)


class TextChoices(OpenAIPart):
    format: dict[str, Any] | None = None


class ResponseBody(SamplingSettings):
    model: str = Field(examples=["assistant"])
    input: str | Annotated[list[dict[str, Any]], Field(max_length=MOST_MESSAGES)] = Field(
        examples=["Add buy milk to my tasks."]
    )
    instructions: str | None = None
    previous_response_id: str | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = Field(default=None, max_length=MOST_TOOLS)
    tool_choice: str | dict[str, Any] | None = None
    text: TextChoices | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    reasoning: dict[str, Any] | None = None
    truncation: str | None = None
    background: bool | None = None
    conversation: Any = None
    include: list[str] | None = None
    max_tool_calls: int | None = None
    prompt: dict[str, Any] | None = None
    top_logprobs: int | None = None


@router.post("/responses", response_model=None, responses={**ERRORS, 200: STREAMED})
async def create_response(platform: Here, body: ResponseBody, identity: Worker, *, request: Request) -> Any:
    """A turn with the agent that `model` names; `previous_response_id` goes on with its conversation."""
    wanted = await asyncio.to_thread(_wanted, body)  # schemas are compiled
    begun = await begin(platform, wanted, speaker(request, identity))
    head = _head(body, begun)
    if wanted.stream:
        return stream(_events(begun, head))
    return _finished(head, await whole(begun), new_id())


def _wanted(body: ResponseBody) -> Wanted:
    refuse_unserved(body, _UNSERVED)
    if isinstance(body.input, str):
        said = [SaidMessage(role="user", text=body.input)]
    else:
        said = [_item(item, at) for at, item in enumerate(body.input) if item.get("type") != "reasoning"]
    told = [SaidMessage(role="system", text=body.instructions)] if body.instructions else []
    functions = [_function(tool, at) for at, tool in enumerate(body.tools or [])]
    tools = brought_tools(functions)
    most = {} if body.max_output_tokens is None else {"max_tokens": body.max_output_tokens}
    return Wanted(
        body.model,
        PlainAsk(
            messages=readable(_together([*told, *said]), "input"),
            tools=tools,
            choice=tool_choice(body.tool_choice, tools),
            form=answer_form(None if body.text is None else body.text.format, "text.format"),
            settings=body.sampling() | most,
        ),
        Cut(most=body.max_output_tokens),
        stream=bool(body.stream),
        conversation=_conversation(body.previous_response_id),
    )


def _function(tool: dict[str, Any], at: int) -> dict[str, Any]:
    if tool.get("type") != "function":
        raise UnservedParameterError(
            f"tools[{at}].type",
            f"Tools of the type '{str(tool.get('type'))[:40]}' are not served.",
            fix="Send functions; the agents have tools of their own.",
        )
    return tool


def _item(item: dict[str, Any], at: int) -> SaidMessage:
    where, kind = f"input[{at}]", item.get("type", "message")
    if kind == "function_call":
        called = SaidCall(str(item.get("call_id")), str(item.get("name")), str(item.get("arguments") or "{}"))
        return SaidMessage(role="assistant", calls=(called,))
    if kind == "function_call_output":
        text, _ = content_of(item.get("output"), f"{where}.output")
        return SaidMessage(role="tool", text=text, answers=str(item.get("call_id")))
    role = item.get("role")
    if kind != "message" or role not in _ROLES:
        raise UnservedParameterError(
            where, "This item is not read.", fix="Send messages and calls of functions."
        )
    content: Any = item.get("content")
    if content is not None and not isinstance(content, str | list):
        raise UnservedParameterError(
            f"{where}.content", "This is no content.", fix="Send text, or a list of parts."
        )
    text, images = content_of(cast("str | list[dict[str, Any]] | None", content), f"{where}.content")
    return SaidMessage(role="system" if role == "developer" else role, text=text, images=images)


def _together(messages: Sequence[SaidMessage]) -> list[SaidMessage]:
    """Calls of functions stand as items of their own here; a model said them in one message."""
    kept: list[SaidMessage] = []
    for message in messages:
        before = kept[-1] if kept else None
        if message.calls and before is not None and before.role == "assistant":
            calls = (*before.calls, *message.calls)
            kept[-1] = SaidMessage(role="assistant", text=before.text, calls=calls)
        else:
            kept.append(message)
    return kept


def _conversation(response_id: str | None) -> str | None:
    if response_id is None:
        return None
    found = _ID.fullmatch(response_id)
    if found is None:
        raise UnservedParameterError(
            "previous_response_id", "This is no answer that was kept here.", fix="Leave it out to start anew."
        )
    return str(found[1])


def _head(body: ResponseBody, begun: Begun) -> dict[str, Any]:
    sent = body.model_dump(exclude_none=True)
    kept = ("instructions", "previous_response_id", "max_output_tokens", "temperature", "top_p", "metadata")
    return {
        "id": f"resp_{begun.conversation or new_id()}_{new_id()[:8]}",
        "object": "response",
        "created_at": int(time.time()),
        "model": body.model,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "tool_choice": sent.get("tool_choice", "auto"),
        "tools": sent.get("tools", []),
        **{name: sent.get(name) for name in kept},
    }


def _finished(head: dict[str, Any], written: Written, message: str) -> dict[str, Any]:
    read, made = written.tokens
    cut = written.finish == "length"
    return {
        **head,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": [
            *([_message(message, written.text, "completed")] if written.text or not written.calls else []),
            *(_call(call) for call in written.calls),
        ],
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + made,
        },
    }


def _message(name: str, text: str, status: str) -> dict[str, Any]:
    content = [] if status == "in_progress" else [_text(text)]
    return {"id": f"msg_{name}", "type": "message", "role": "assistant", "status": status, "content": content}


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _call(call: SaidCall) -> dict[str, Any]:
    return {
        "id": f"fc_{call.id}",
        "type": "function_call",
        "call_id": call.id,
        "name": call.tool,
        "arguments": call.arguments,
        "status": "completed",
    }


class _Numbered:
    """Events of one answer, in the order in which they are numbered."""

    def __init__(self) -> None:
        self._number = -1

    def __call__(self, kind: str, **data: Any) -> bytes:
        self._number += 1
        body = {"type": kind, "sequence_number": self._number, **data}
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), dumped(body))


async def _events(begun: Begun, head: dict[str, Any]) -> AsyncGenerator[bytes]:
    event, name = _Numbered(), new_id()
    started: dict[str, Any] = {**head, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=started)
    yield event("response.in_progress", response=started)
    open_item = False
    try:
        async for step in begun.steps:
            match step:
                case None | AnswerProgress():
                    yield b": waiting\n\n"
                case AnswerWords(text=text):
                    if not open_item:
                        open_item = True
                        for each in _opening(event, name):
                            yield each
                    where = {"item_id": f"msg_{name}", "output_index": 0, "content_index": 0}
                    yield event("response.output_text.delta", **where, delta=text, logprobs=[])
                case Written():
                    for each in _closing(event, name, step, opened=open_item):
                        yield each
                    done = _finished(head, step, name)
                    kind = "response.completed" if done["status"] == "completed" else "response.incomplete"
                    yield event(kind, response=done)
    except StewardError as problem:  # the status is sent already
        told = error_body(status_of(problem), problem.explain(), code=problem.code)["error"]
        failed = {"code": "server_error", "message": told["message"]}
        yield event("response.failed", response={**started, "status": "failed", "error": failed})


def _opening(event: _Numbered, name: str) -> list[bytes]:
    where = {"item_id": f"msg_{name}", "output_index": 0, "content_index": 0}
    return [
        event("response.output_item.added", output_index=0, item=_message(name, "", "in_progress")),
        event("response.content_part.added", **where, part=_text("")),
    ]


def _closing(event: _Numbered, name: str, written: Written, *, opened: bool) -> list[bytes]:
    where = {"item_id": f"msg_{name}", "output_index": 0, "content_index": 0}
    closing: list[bytes] = []
    if opened:
        closing = [
            event("response.output_text.done", **where, text=written.text, logprobs=[]),
            event("response.content_part.done", **where, part=_text(written.text)),
            event(
                "response.output_item.done", output_index=0, item=_message(name, written.text, "completed")
            ),
        ]
    for at, call in enumerate(written.calls, 1 if opened else 0):
        item = _call(call)
        here = {"item_id": item["id"], "output_index": at}
        closing += [
            event(
                "response.output_item.added",
                output_index=at,
                item={**item, "arguments": "", "status": "in_progress"},
            ),
            event("response.function_call_arguments.delta", **here, delta=call.arguments),
            event("response.function_call_arguments.done", **here, name=call.tool, arguments=call.arguments),
            event("response.output_item.done", output_index=at, item=item),
        ]
    return closing
