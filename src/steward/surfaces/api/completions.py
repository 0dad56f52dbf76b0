"""OpenAI's chat protocol in front of the agents: each agent is a model, so that chat programs just work.

Such a program keeps the conversation itself and sends all of it every time. What was said so far is its
fingerprint: it finds the stored conversation, with the calls and approvals that the program knows nothing
of. One that matches none (edited, regenerated, from elsewhere) starts a new one from the words it brings.
"""

import hashlib
import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from steward.bootstrap import Platform
from steward.contract import linear_re as re
from steward.contract.call import new_id
from steward.contract.errors import InputError, StewardError
from steward.conversations.model import Finished, Speaker, TextWritten
from steward.conversations.turns import title_of
from steward.surfaces.api.chat import dumped, follow, speaker, stream
from steward.surfaces.api.identity import Reader, Worker
from steward.surfaces.api.problems import status_of
from steward.surfaces.api.state import Here

if TYPE_CHECKING:
    from steward.agents.chat import StartedTurn

router = APIRouter(prefix="/v1", tags=["openai"])

OWNER = "steward"
MADE = 1_767_225_600  # when these models were "created": a client only wants a number
_SPACE = re.compile(r"\s+")


class Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(
                str(part.get("text") or "") for part in self.content if part.get("type") == "text"
            )
        return self.content or ""


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class CompletionBody(BaseModel):
    """What we read of it; sampling and tools of the client mean nothing to an agent and are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(examples=["assistant"])
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None


# Clients of this protocol understand its own shape; who may not come in hears of a problem, as elsewhere.
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "The request cannot be served.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {
                            "type": "object",
                            "required": ["message", "type", "code"],
                            "properties": {
                                "message": {"type": "string"},
                                "type": {"type": "string"},
                                "param": {"type": ["string", "null"]},
                                "code": {"type": "string"},
                            },
                        }
                    },
                }
            },
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
        },
    }
}


@router.get("/models")
async def list_models(platform: Here, _: Reader) -> dict[str, Any]:
    """The agents, as models."""
    return {"object": "list", "data": [_model(kind.name) for kind in platform.agents.kinds]}


@router.get("/models/{name}", responses=ERRORS)
async def get_model(platform: Here, name: str, _: Reader) -> Any:
    if all(kind.name != name for kind in platform.agents.kinds):
        return _error(404, f"The model '{name}' does not exist.", "model_not_found")
    return _model(name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": MADE, "owned_by": OWNER}


@router.post("/chat/completions", response_model=None, responses=ERRORS)
async def complete(platform: Here, body: CompletionBody, identity: Worker, *, request: Request) -> Any:
    """A turn with the agent that `model` names."""
    who = speaker(request, identity)
    try:
        said = _said(body.messages)
        chore = chore_answer(said[-1][1]) if len(said) == 1 else None
        if chore is not None:
            return _plainly(body, chore)
        started = await _begin(platform, body.model, said, who)
    except StewardError as error:
        return _error(status_of(error), error.explain(), error.code)
    head = {"id": f"chatcmpl-{started.conversation}", "created": int(time.time()), "model": body.model}
    if body.stream:
        usage = body.stream_options is not None and body.stream_options.include_usage
        return stream(_chunks(started, head, usage=usage))
    answer = ""
    async for event in follow(started):
        if isinstance(event, Finished):
            answer = event.answer.answer
    return _completion(head, answer, started.tokens)


def _said(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The words of both sides. A client's own instructions are not the agent's and are left out."""
    said = [(each.role, each.text.strip()) for each in messages if each.role in ("user", "assistant")]
    if not said or said[-1][0] != "user":
        raise InputError("The last message is not the user's.", fix="Send one with the role 'user'.")
    return said


async def _begin(
    platform: Platform, agent: str, said: Sequence[tuple[str, str]], who: Speaker
) -> "StartedTurn":
    past, (_, message) = said[:-1], said[-1]
    talking = await platform.agents.chat()
    known = await platform.agents.conversations.find(thread_of(agent, past), user=who.user) if past else None

    def thread(answer: str) -> str:
        return thread_of(agent, [*said, ("assistant", answer)])

    begin: Callable[..., Any] = talking.begin
    if known is not None:
        return await begin(message, speaker=who, agent=agent, conversation=known, thread=thread)
    return await begin(message, speaker=who, agent=agent, past=past, thread=thread)


def thread_of(agent: str, said: Sequence[tuple[str, str]]) -> str:
    """The same words give the same fingerprint, however a client treats their spaces."""
    words = [agent, *([role, _SPACE.sub(" ", text).strip()] for role, text in said)]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


async def _chunks(started: "StartedTurn", head: dict[str, Any], *, usage: bool) -> AsyncGenerator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _data(head, [{"index": 0, "delta": delta, "finish_reason": finish}])

    yield chunk({"role": "assistant", "content": ""})
    async for event in follow(started):
        if event is None:
            yield b": waiting\n\n"
        elif isinstance(event, TextWritten):
            yield chunk({"content": event.text})
    yield chunk({}, "stop")
    if usage:
        yield _data(head, [], usage=_usage(started.tokens))
    yield b"data: [DONE]\n\n"


def _data(head: dict[str, Any], choices: list[Any], **more: Any) -> bytes:
    body = {**head, "object": "chat.completion.chunk", "choices": choices, **more}
    return b"data: " + dumped(body) + b"\n\n"


def _completion(head: dict[str, Any], text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}]
    return {**head, "object": "chat.completion", "choices": choices, "usage": _usage(tokens)}


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    read, written = tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _error(status: int, message: str, code: str) -> JSONResponse:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse(
        {"error": {"message": message, "type": kind, "param": None, "code": code}}, status_code=status
    )


# --- what chat programs ask in the background ------------------------------------------------------

_CHORE = re.compile(r"^\s*### Task:", re.IGNORECASE)
_HISTORY = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL | re.IGNORECASE)
_SPOKEN = re.compile(r"^\s*(?:USER|user|User):\s*(.+)$", re.MULTILINE)
_WANTED: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("follow_ups", lambda _: []),
    ("queries", lambda _: []),
    ("tags", lambda _: ["General"]),
    ("title", lambda first: title_of(first)[:60]),
    ("text", lambda _: ""),
)


def chore_answer(message: str) -> str | None:
    """Open WebUI asks its models for titles, tags and the like of a chat. No agent runs for that.

    Its prompts name the JSON they want and carry the chat, whose words must not be taken for a request.
    """
    if not _CHORE.search(message):
        return None
    history = _HISTORY.search(message)
    frame = _HISTORY.sub("", message)
    spoken = _SPOKEN.search(history[1] if history else "")
    for name, make in _WANTED:
        if re.search(rf'"{name}"\s*:', frame):
            return json.dumps({name: make(spoken[1] if spoken else "New chat")}, ensure_ascii=False)
    return "" if history else None


def _plainly(body: CompletionBody, text: str) -> Any:
    head = {"id": f"chatcmpl-{new_id()}", "created": int(time.time()), "model": body.model}
    if not body.stream:
        return _completion(head, text, (0, 0))

    async def chunks() -> AsyncGenerator[bytes]:
        delta = {"role": "assistant", "content": text}
        yield _data(head, [{"index": 0, "delta": delta, "finish_reason": None}])
        yield _data(head, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
        yield b"data: [DONE]\n\n"

    return stream(chunks())
