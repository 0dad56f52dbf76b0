"""A conversation as the planner reads it: what was said, what was called, what came back.

Owns reading Pydantic AI's messages. The planner keeps nothing between requests: what it has to remember
(a question it asked, which goal a call was for) rides along in the details of its own responses, which
are part of the stored history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,  # pyright: ignore[reportDeprecated]
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from steward.contract import linear_re as re

PLANNER = "planner"  # the key in a response's details
EACH = "each"  # the key, where it made several calls, to the details of each
CALL_ID = "plan-{}"
FOLLOWING = "following"  # the key to the wishes of the message that come behind these calls
_OUR_CALL = re.compile(r"plan-(\d{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call and what came of it."""

    tool: str
    arguments: Mapping[str, Any]
    data: Any = None
    failure: str | None = None  # in words; None when it worked
    code: str | None = None  # of the failure
    trimmed: bool = False  # the data is only the beginning
    goal: int | None = None
    helper: bool = False  # called for what it lists, on the way to the goal
    memo: Mapping[str, Any] = field(default_factory=dict[str, Any])  # what its reader noted about the call
    turn: int = 0  # counted from the first one that is still known


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    utterance: str
    steps: tuple[Step, ...] = ()  # of this turn
    earlier: tuple[Step, ...] = ()
    asked: Mapping[str, Any] | None = None  # our own question, if this turn may answer it
    said_earlier: tuple[str, ...] = ()  # in the turns before this one, in order
    calls_made: int = 0

    @property
    def said_before(self) -> str:
        """In the turn before this one."""
        return self.said_earlier[-1] if self.said_earlier else ""

    @property
    def all_steps(self) -> tuple[Step, ...]:
        return (*self.earlier, *self.steps)


def read_dialogue(messages: Sequence[ModelMessage]) -> Dialogue:
    turn = max((at for at, message in enumerate(messages) if _prompt(message) is not None), default=0)
    before, now = messages[:turn], messages[turn:]
    # A result that came together with the prompt (a decided approval) belongs to the turn before.
    earlier, steps = _steps(messages[: turn + 1]), _steps(now)
    utterance = (_prompt(messages[turn]) or "") if messages else ""
    return Dialogue(
        utterance=utterance,
        said_earlier=tuple(prompt for message in before if (prompt := _prompt(message)) is not None),
        steps=steps,
        earlier=earlier,
        asked=_question(before),
        calls_made=max((_number(message) for message in messages), default=0),
    )


def _prompt(message: ModelMessage) -> str | None:
    if not isinstance(message, ModelRequest):
        return None
    texts = [_text(part.content) for part in message.parts if isinstance(part, UserPromptPart)]
    return "\n".join(texts) if texts else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in cast("Sequence[Any]", content or ()) if isinstance(part, str))


def _number(message: ModelMessage) -> int:
    """The highest number that a call of ours has in this message; a cut history may miss the lower ones."""
    ids = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
    return max((int(found[1]) for each in ids if (found := _OUR_CALL.fullmatch(each))), default=0)


def _question(messages: Sequence[ModelMessage]) -> Mapping[str, Any] | None:
    """The question that the latest answer of ours asked."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            question = _details(message).get("asked")
            return cast("Mapping[str, Any]", question) if isinstance(question, Mapping) else None
    return None


def following(messages: Sequence[ModelMessage]) -> Sequence[str]:
    """The wishes of the same message that wait for the latest calls of ours."""
    last = next((each for each in reversed(messages) if isinstance(each, ModelResponse)), None)
    later = None if last is None else _details(last).get(FOLLOWING)
    return tuple(map(str, cast("list[Any]", later))) if isinstance(later, list) else ()


def _details(message: ModelResponse) -> Mapping[str, Any]:
    details = (message.provider_details or {}).get(PLANNER)
    return cast("Mapping[str, Any]", details) if isinstance(details, Mapping) else {}


def _details_of(message: ModelResponse, at: int) -> Mapping[str, Any]:
    """Of one call among those of a response."""
    details = _details(message)
    each = details.get(EACH)
    many = cast("Sequence[Mapping[str, Any]]", each) if isinstance(each, list) else ()
    return many[at] if at < len(many) else details


def _steps(messages: Sequence[ModelMessage]) -> tuple[Step, ...]:
    called: dict[str, tuple[ToolCallPart, Mapping[str, Any], int]] = {}
    steps: list[Step] = []
    turn = 0
    for message in messages:
        turn += _prompt(message) is not None
        if isinstance(message, ModelResponse):
            calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
            called |= {
                part.tool_call_id: (part, _details_of(message, at), turn) for at, part in enumerate(calls)
            }
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart | RetryPromptPart) and part.tool_call_id in called:  # pyright: ignore[reportDeprecated]
                call, details, asked_in = called[part.tool_call_id]
                steps.append(replace(_step(call, cast("Any", part), details), turn=asked_in))
    return tuple(steps)


def _step(call: ToolCallPart, part: Any, details: Mapping[str, Any]) -> Step:
    content: Any = part.content
    data, failure, code = _unwrap(content)
    if failure is None and getattr(part, "outcome", "success") != "success":
        failure = str(data)
    goal = details.get("goal")
    memo = details.get("memo")
    return Step(
        tool=call.tool_name,
        arguments=call.args_as_dict(),
        data=data,
        failure=failure,
        code=code,
        trimmed=isinstance(content, Mapping) and "trimmed" in content,
        goal=goal if isinstance(goal, int) else None,
        helper=bool(details.get("helper")),
        memo=cast("Mapping[str, Any]", memo) if isinstance(memo, Mapping) else {},
    )


def _unwrap(content: Any) -> tuple[Any, str | None, str | None]:
    """The data inside a status envelope, where there is one, and the words and code of a failure."""
    if not isinstance(content, Mapping):
        return content, None, None
    shape = cast("Mapping[str, Any]", content)
    failed = shape.get("status") == "failed" or shape.get("success") is False
    if failed:
        words = shape.get("error") or shape.get("message") or "It failed."
        return shape.get("data"), str(words), str(shape.get("code") or "") or None
    if shape.get("status") == "done" and "data" in shape:
        return _unwrap(shape["data"])
    return dict(shape), None, None
