"""A model's messages between two turns: read from the store, closed, corrected, cut, and written back.

Owns what a model is shown of the past. What the person saw is what the history says was said.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)

from steward.conversations.model import PendingCall

LONGEST = 60_000  # characters of stored history, about fifteen thousand tokens
CUT_TO = 30_000
TURNS_KEPT = 2

Messages = Sequence[ModelMessage]


def read(history: str) -> list[ModelMessage]:
    return list(ModelMessagesTypeAdapter.validate_json(history))


def write(messages: Messages) -> str:
    return ModelMessagesTypeAdapter.dump_json(list(messages)).decode()


def of_words(said: Sequence[tuple[str, str]]) -> list[ModelMessage]:
    """A history from (role, text), as a client that keeps it sends it along."""
    messages: list[ModelMessage] = []
    for role, text in said:
        if role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(text)]))
        elif role == "assistant":
            messages.append(ModelResponse(parts=[TextPart(text)]))
        elif role == "system":
            messages.append(ModelRequest(parts=[SystemPromptPart(text)]))
    return messages


def answered(messages: Messages, shown: str) -> list[ModelMessage]:
    """The history with the latest answer as the person saw it. Marks that ride along stay."""
    kept = list(messages)
    latest = kept[-1] if kept else None
    if not isinstance(latest, ModelResponse) or latest.tool_calls:
        return [*kept, ModelResponse(parts=[TextPart(shown)])]
    if latest.text != shown:
        kept[-1] = replace(latest, parts=[TextPart(shown)])
    return kept


def told(messages: Messages, said: str, shown: str) -> list[ModelMessage]:
    """A turn that no model took part in."""
    request = ModelRequest(parts=[UserPromptPart(said)])
    return [*messages, request, ModelResponse(parts=[TextPart(shown)])]


def broken_off(messages: Messages, said: str | None, shown: str) -> list[ModelMessage]:
    """What a run did before it ended early, closed so that the next turn can go on from it."""
    kept = repair_messages(messages)
    asked = any(isinstance(part, UserPromptPart) and part.content == said for part in _latest_parts(kept))
    if said is not None and not asked:
        kept.append(ModelRequest(parts=[UserPromptPart(said)]))
    return answered(kept, shown)


def closed(
    messages: Messages, pending: Sequence[PendingCall], results: Mapping[str, Any]
) -> list[ModelMessage]:
    """The calls that waited, answered without asking the model what it makes of that."""
    parts = [ToolReturnPart(call.tool, results[call.tool_call_id], call.tool_call_id) for call in pending]
    return [*messages, ModelRequest(parts=parts)]


def cut(messages: Messages, summary: Callable[[], str]) -> list[ModelMessage]:
    """The latest turns whole, everything before them as a summary, once the history is long."""
    sizes = [len(ModelMessagesTypeAdapter.dump_json([message])) for message in messages]
    if sum(sizes) <= LONGEST:
        return list(messages)
    starts = [at for at, message in enumerate(messages) if _is_prompt(message)]
    for start in starts[1:-TURNS_KEPT]:
        if sum(sizes[start:]) <= CUT_TO:
            return _from(messages, start, summary)
    return _from(messages, starts[-TURNS_KEPT], summary) if len(starts) > TURNS_KEPT else list(messages)


def _from(messages: Messages, start: int, summary: Callable[[], str]) -> list[ModelMessage]:
    return [ModelRequest(parts=[SystemPromptPart(summary())]), *messages[start:]]


def _is_prompt(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and any(
        isinstance(part, UserPromptPart) for part in message.parts
    )


def _latest_parts(messages: Messages) -> Sequence[Any]:
    latest = next((each for each in reversed(messages) if _is_prompt(each)), None)
    return latest.parts if latest is not None else ()
