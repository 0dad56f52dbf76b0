"""One answer straight from the configured model, for a program that brings its own tools or its own form of
answer.

Such a program runs its tools itself: what the model wants called is handed back, nothing is run here. Owns
the way between a program's messages and Pydantic AI's. Does not own conversations or agents.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    FinalResultEvent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from steward.models.asking import BroughtTool, Form, PlainAsk, SaidCall, Written
from steward.models.planner.marks import read_marks
from steward.models.planner.readers import OURS

FORM_TOOL = "answer"
_FINISH = {"length": "length", "content_filter": "content_filter"}


@dataclass(slots=True)
class _PastMessages:
    """The messages so far; requests of one side in a row are one request to the model."""

    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    tools: dict[str, str] = field(default_factory=dict[str, str])  # which tool a call's id belongs to

    def request(self, part: SystemPromptPart | UserPromptPart | ToolReturnPart) -> None:
        latest = self.messages[-1] if self.messages else None
        if isinstance(latest, ModelRequest):
            self.messages[-1] = ModelRequest(parts=[*latest.parts, part])
        else:
            self.messages.append(ModelRequest(parts=[part]))

    def response(self, text: str, calls: Sequence[SaidCall]) -> None:
        self.tools |= {call.id: call.tool for call in calls}
        said = [TextPart(text)] if text else []
        made = [ToolCallPart(call.tool, call.arguments, tool_call_id=call.id) for call in calls]
        self.messages.append(ModelResponse(parts=[*said, *made]))


def _messages(asked: PlainAsk) -> list[ModelMessage]:
    reading = _PastMessages()
    for message in asked.messages:
        match message.role:
            case "assistant":
                reading.response(message.text, message.calls)
            case "tool":
                tool = reading.tools.get(message.answers, "tool")
                reading.request(ToolReturnPart(tool, message.text, message.answers))
            case "user":
                images = [ImageUrl(url) for url in message.images]
                reading.request(UserPromptPart([message.text, *images] if images else message.text))
            case _:  # system and developer
                reading.request(SystemPromptPart(message.text))
    return reading.messages


def _offered(asked: PlainAsk, *, offline: bool) -> list[ToolDefinition]:
    """The tools to choose from; one that is named is the only one.

    The planner writes nothing of its own, but fills what a schema asks for from what was said: to it, a
    form is a tool.
    """
    if asked.choice == "none":
        return []
    named = [tool for tool in asked.tools if tool.name == asked.choice]
    offered = [_definition(tool) for tool in named or asked.tools]
    form = asked.form
    if offline and form is not None and form.schema is not None and not offered:
        wanted = BroughtTool(FORM_TOOL, form.description or form.name, form.schema)
        return [_definition(wanted)]
    return offered


def _definition(tool: BroughtTool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=dict(tool.schema),
        strict=tool.strict,
        metadata={OURS: True} if tool.ours else None,
    )


def _parameters(asked: PlainAsk, *, offline: bool) -> ModelRequestParameters:
    offered, form = _offered(asked, offline=offline), asked.form
    if form is None or form.schema is None or offline:
        return ModelRequestParameters(function_tools=offered)
    shape = OutputObjectDefinition(
        json_schema=dict(form.schema), name=form.name, description=form.description, strict=form.strict
    )
    return ModelRequestParameters(function_tools=offered, output_mode="native", output_object=shape)


def _settings(asked: PlainAsk) -> ModelSettings:
    settings: dict[str, Any] = dict(asked.settings)
    if asked.choice == "required" and asked.tools:
        settings["tool_choice"] = "required"
    elif asked.choice not in ("auto", "none") and asked.tools:
        settings["tool_choice"] = [asked.choice]
    if asked.form is not None and asked.form.schema is None:
        settings["extra_body"] = {"response_format": {"type": "json_object"}}
    return cast("ModelSettings", settings)


async def write_at_once(model: Model, asked: PlainAsk, *, offline: bool) -> AsyncGenerator[str | Written]:
    """The whole, with what it cost. `offline`: the planner answers, which needs no settings."""
    settings = None if offline else _settings(asked)
    response = await model_request(
        model,
        _messages(asked),
        model_settings=settings,
        model_request_parameters=_parameters(asked, offline=offline),
    )
    yield _written(response, asked.form if offline else None)


async def write_along(model: Model, asked: PlainAsk, *, offline: bool) -> AsyncGenerator[str | Written]:
    """The words as the model writes them, and last of all the whole."""
    settings = None if offline else _settings(asked)
    form = asked.form if offline else None
    async with model_request_stream(
        model,
        _messages(asked),
        model_settings=settings,
        model_request_parameters=_parameters(asked, offline=offline),
    ) as streamed:
        async for event in streamed:
            match event:
                case (
                    PartStartEvent(part=TextPart(content=text))
                    | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
                ):
                    if text:
                        yield text
                case FinalResultEvent() | _:
                    continue
        yield _written(streamed.get(), form)


def _written(response: ModelResponse, form: Form | None) -> Written:
    calls = [
        SaidCall(call.tool_call_id, call.tool_name, call.args_as_json_str()) for call in response.tool_calls
    ]
    text = response.text or ""
    if form is not None and calls and calls[0].tool == FORM_TOOL:
        text, calls = orjson.dumps(response.tool_calls[0].args_as_dict()).decode(), []
    marks = read_marks([response])  # the planner's
    usage = response.usage
    finish = "tool_calls" if calls else _FINISH.get(str(response.finish_reason), "stop")
    return Written(
        text,
        tuple(calls),
        finish=finish,
        tokens=(usage.input_tokens, usage.output_tokens),
        nothing_fits=marks is not None and not calls and not marks.asked,
        about="" if marks is None else marks.about,
    )
