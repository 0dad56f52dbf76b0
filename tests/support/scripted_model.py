"""A real HTTP server that speaks OpenAI's chat protocol and says what a test scripted, in order.

Owns the wire: status codes, JSON, server-sent events. A test scripts answers (`Say`, `CallTools`,
`Refuse`, `Garbage`, `Hang`, or a function of the request) and reads `requests` afterwards.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True)
class Say:
    text: str
    input_tokens: int = 11
    output_tokens: int = 7


@dataclass(frozen=True)
class CallTools:
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...]  # arguments as text are sent as they are

    before: str  # words in front of the calls

    def __init__(self, *calls: tuple[str, Mapping[str, Any] | str], before: str = "") -> None:
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "before", before)


@dataclass(frozen=True)
class Refuse:
    status: int
    error: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Garbage:
    body: bytes = b"<html>this is not a model</html>"
    content_type: str = "application/json"


@dataclass(frozen=True)
class BreakOff:
    """Streams these words and then cuts the connection."""

    text: str


@dataclass(frozen=True)
class Hang:
    """Accepts the request and never answers it."""


QUOTA = Refuse(
    429,
    {
        "message": "You exceeded your current quota",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    },
)
RATE_LIMIT = Refuse(429, {"message": "Too many requests", "type": "requests", "code": "rate_limit_exceeded"})
BAD_KEY = Refuse(401, {"message": "Incorrect API key provided: sk-secret", "code": "invalid_api_key"})
SERVER_ERROR = Refuse(500, {"message": "boom"})

Answer = Say | CallTools | Refuse | Garbage | BreakOff | Hang
Scripted = Answer | Callable[[Request], Answer]


class ScriptedModel:
    def __init__(self, *script: Scripted) -> None:
        self.script: list[Scripted] = list(script)
        self.requests: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.hanging = asyncio.Event()
        self.serving: set[asyncio.Task[Any]] = set()
        self.address = ""

    def answer(self, *script: Scripted) -> None:
        self.script.extend(script)

    def _next(self, request: Request) -> Answer:
        if not self.script:
            return Refuse(400, {"message": "the test scripted no further answer"})
        scripted = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return scripted(request) if callable(scripted) else scripted

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One exchange a connection, so that no client holds one open when its test ends."""
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            await self._exchange(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self.serving.discard(task)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request: Request = json.loads(body)
        self.paths.append(head[0].split(" ")[1])
        self.requests.append(request)
        self.headers.append(headers)
        answer = self._next(request)
        match answer:
            case Hang():
                self.hanging.set()
                await reader.read()  # until the client gives up
            case Refuse():
                _write(
                    writer,
                    answer.status,
                    json.dumps({"error": answer.error}).encode(),
                    headers=answer.headers,
                )
            case Garbage():
                _write(writer, 200, answer.body, content_type=answer.content_type)
            case Say() | CallTools() | BreakOff() if request.get("stream") or isinstance(answer, BreakOff):
                _write_stream(writer, answer, request["model"])
            case _:
                _write(writer, 200, json.dumps(_completion(answer, request["model"])).encode())
        await writer.drain()


@asynccontextmanager
async def scripted_model(*script: Scripted) -> AsyncIterator[ScriptedModel]:
    """The server, listening on loopback; `address` is its base URL."""
    model = ScriptedModel(*script)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield model
    finally:
        server.close()
        for task in list(model.serving):
            task.cancel()
        if model.serving:
            await asyncio.wait(model.serving)


def _write(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> None:
    lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {content_type}", f"content-length: {len(body)}"]
    lines.append("connection: close")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def _completion(answer: Answer, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    if isinstance(answer, Say):
        message["content"] = answer.text
        usage = {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
        }
    elif isinstance(answer, CallTools):
        message["content"] = answer.before or None
        message["tool_calls"] = _tool_calls(answer)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(answer)}],
        "usage": usage,
    }


def _finish(answer: Answer) -> str:
    return "tool_calls" if isinstance(answer, CallTools) else "stop"


def _tool_calls(answer: CallTools) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{index}_{name}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for index, (name, arguments) in enumerate(answer.calls)
    ]


def _write_stream(writer: asyncio.StreamWriter, answer: Say | CallTools | BreakOff, model: str) -> None:
    writer.write(b"HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\nconnection: close\r\n")
    writer.write(b"content-length: 100000\r\n\r\n" if isinstance(answer, BreakOff) else b"\r\n")
    for delta in _deltas(answer):
        _event(writer, model, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    if isinstance(answer, BreakOff):
        return
    _event(writer, model, {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]})
    _event(
        writer, {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}
    )
    writer.write(b"data: [DONE]\n\n")


def _deltas(answer: Say | CallTools | BreakOff) -> list[dict[str, Any]]:
    if isinstance(answer, CallTools):
        calls = [call | {"index": index} for index, call in enumerate(_tool_calls(answer))]
        said = [{"role": "assistant", "content": answer.before}] if answer.before else []
        return [*said, *({"role": "assistant", "tool_calls": [call]} for call in calls)]
    words = answer.text.split(" ")
    return [{"role": "assistant", "content": word if not i else f" {word}"} for i, word in enumerate(words)]


def _event(writer: asyncio.StreamWriter, model: str, chunk: dict[str, Any]) -> None:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    writer.write(b"data: " + json.dumps(base | chunk).encode() + b"\n\n")
