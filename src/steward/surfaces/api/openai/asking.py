"""What a request asks for, checked: whatever is sent is done, or refused by the name of its parameter.

Two bodies, one meaning: both of OpenAI's protocols become an `PlainAsk` with what else the answer must keep
to. Settings for sampling reach a model that is asked directly; an agent decides its steps itself and takes
them as hints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import orjson
from pydantic import BaseModel, ConfigDict, Field

from steward.contract.errors import InvalidSchemaError
from steward.contract.schema import compile_schema
from steward.contract.tool import TOOL_NAME
from steward.models.asking import BroughtTool, Form, PlainAsk, SaidCall, SaidMessage
from steward.surfaces.api.openai.wire import Cut, UnservedParameterError

MOST_TOOLS = 128
MOST_MESSAGES = 2_000
MOST_CHARACTERS = 2_000_000  # of all messages together, about half a million tokens
LARGEST_SCHEMA = 64 * 1024  # bytes, as JSON
MOST_STOPS = 4


class OpenAIBody(BaseModel):
    """Unknown parameters are refused by their names."""

    model_config = ConfigDict(extra="forbid")


class OpenAIPart(BaseModel):
    """A part of a message: clients add marks of their own there, which ask for nothing."""

    model_config = ConfigDict(extra="ignore")


class CalledFunction(OpenAIPart):
    name: str
    arguments: str = "{}"


class CalledTool(OpenAIPart):
    id: str
    function: CalledFunction


class ChatMessage(OpenAIPart):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[CalledTool] | None = None
    tool_call_id: str | None = None


class StreamChoices(OpenAIPart):
    include_usage: bool = False


class SamplingSettings(OpenAIBody):
    """What both protocols share. Some of it only marks a request; it asks for nothing."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    parallel_tool_calls: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, Any] | None = None
    store: bool | None = None
    service_tier: str | None = None

    def sampling(self) -> dict[str, Any]:
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "parallel_tool_calls": self.parallel_tool_calls,
        }
        return {name: value for name, value in named.items() if value is not None}


class CompletionBody(SamplingSettings):
    model: str = Field(examples=["assistant"])
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = None
    stream_options: StreamChoices | None = None
    tools: list[dict[str, Any]] | None = Field(default=None, max_length=MOST_TOOLS)
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None
    stop: str | list[str] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    n: int | None = None
    seed: int | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    logit_bias: dict[str, float] | None = None
    modalities: list[str] | None = None
    audio: dict[str, Any] | None = None
    prediction: dict[str, Any] | None = None
    functions: list[dict[str, Any]] | None = None
    function_call: Any = None
    web_search_options: dict[str, Any] | None = None


# Named parameters that nothing here can do, and what to do instead.
_UNSERVED: tuple[tuple[str, str], ...] = (
    ("logprobs", "Leave it out: an agent has no probabilities of words."),
    ("top_logprobs", "Leave it out: an agent has no probabilities of words."),
    ("logit_bias", "Leave it out."),
    ("audio", "Ask for text."),
    ("prediction", "Leave it out."),
    ("functions", "Send `tools`."),
    ("function_call", "Send `tool_choice`."),
    ("web_search_options", "Ask in words: the agents search the web with their own tools."),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request of either protocol."""

    model: str
    asked: PlainAsk
    cut: Cut
    stream: bool = False
    usage: bool = False
    conversation: str | None = None  # to go on with it, where the protocol names one

    @property
    def brings_its_own(self) -> bool:
        """Whether only the model itself can answer: a form, pictures, what a program's tool found."""
        asked = self.asked
        must_call = bool(asked.tools) and asked.choice not in ("auto", "none")
        goes_on = asked.messages[-1].role == "tool" if asked.messages else False
        return must_call or goes_on or asked.form is not None or any(each.images for each in asked.messages)

    @property
    def offers_tools(self) -> bool:
        """Whether a program brings tools that may serve this request, and may not."""
        return bool(self.asked.tools) and self.asked.choice == "auto" and not self.brings_its_own


def completion_wanted(body: CompletionBody) -> Wanted:
    refuse_unserved(body, _UNSERVED)
    if body.n not in (None, 1):
        raise UnservedParameterError("n", "There is one answer to a request.", fix="Ask once for each.")
    if body.modalities is not None and body.modalities != ["text"]:
        raise UnservedParameterError("modalities", "Answers are text.", fix='Send ["text"].')
    stops = [body.stop] if isinstance(body.stop, str) else body.stop or []
    if len(stops) > MOST_STOPS or not all(stops):
        raise UnservedParameterError("stop", f"'stop' is not 1 to {MOST_STOPS} words.", fix="Send fewer.")
    most = body.max_completion_tokens or body.max_tokens
    tools = brought_tools([_nested(tool, at) for at, tool in enumerate(body.tools or [])])
    named = {"max_tokens": most, "stop_sequences": stops or None, "seed": body.seed}
    penalties = {"presence_penalty": body.presence_penalty, "frequency_penalty": body.frequency_penalty}
    settings = {name: value for name, value in (named | penalties).items() if value is not None}
    return Wanted(
        body.model,
        PlainAsk(
            messages=readable([_message(each, at) for at, each in enumerate(body.messages)], "messages"),
            tools=tools,
            choice=tool_choice(body.tool_choice, tools),
            form=answer_form(body.response_format, "response_format"),
            settings=body.sampling() | settings,
        ),
        Cut(stops, most),
        stream=bool(body.stream),
        usage=body.stream_options is not None and body.stream_options.include_usage,
    )


def refuse_unserved(body: BaseModel, unserved: Sequence[tuple[str, str]]) -> None:
    for name, fix in unserved:
        if getattr(body, name):
            raise UnservedParameterError(name, f"'{name}' is not served here.", fix=fix)


def readable(messages: list[SaidMessage], where: str) -> list[SaidMessage]:
    """What was said, where it is not more than anybody reads at once."""
    if sum(len(each.text) for each in messages) > MOST_CHARACTERS:
        raise UnservedParameterError(
            where,
            f"There are more than {MOST_CHARACTERS:,} characters in it.",
            fix="Send less of what was said; a document belongs into the library.",
        )
    return messages


def _message(message: ChatMessage, at: int) -> SaidMessage:
    text, images = content_of(message.content, f"messages[{at}].content")
    calls = tuple(
        SaidCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()
    )
    if message.role == "tool" and not message.tool_call_id:
        raise UnservedParameterError(
            f"messages[{at}].tool_call_id", "A tool's message names no call.", fix="Name the call it answers."
        )
    role = "system" if message.role == "developer" else message.role
    return SaidMessage(role=role, text=text, images=images, calls=calls, answers=message.tool_call_id or "")


def content_of(content: str | list[dict[str, Any]] | None, where: str) -> tuple[str, tuple[str, ...]]:
    """The words and the pictures of a message of either protocol."""
    if not isinstance(content, list):
        return content or "", ()
    words: list[str] = []
    images: list[str] = []
    for number, part in enumerate(content):
        kind = part.get("type")
        if kind in ("text", "input_text", "output_text", "refusal"):
            words.append(str(part.get("text") or part.get("refusal") or ""))
        elif kind in ("image_url", "input_image") and (address := _address(part.get("image_url"))):
            images.append(address)
        else:
            raise UnservedParameterError(
                f"{where}[{number}]",
                f"A part of the type '{str(kind)[:40]}' is not read.",
                fix="Send text or images.",
            )
    return "\n".join(words), tuple(images)


def _address(image: Any) -> str:
    found = cast("dict[str, Any]", image).get("url") if isinstance(image, dict) else image
    return found if isinstance(found, str) else ""


def _nested(tool: dict[str, Any], at: int) -> dict[str, Any]:
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):
        raise _no_tool(at, "only functions are")
    return cast("dict[str, Any]", function)


def _no_tool(at: int, why: str) -> UnservedParameterError:
    return UnservedParameterError(
        f"tools[{at}]", f"This tool is not served: {why}.", fix="Send a function with a schema."
    )


def brought_tools(functions: Sequence[dict[str, Any]]) -> tuple[BroughtTool, ...]:
    tools: list[BroughtTool] = []
    for at, function in enumerate(functions):
        name: Any = function.get("name")
        schema: dict[str, Any] = function.get("parameters") or {"type": "object", "properties": {}}
        if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
            raise _no_tool(at, "its name is not 1 to 64 letters, digits, '_' or '-'")
        _require_schema(schema, f"tools[{at}].parameters")
        tools.append(
            BroughtTool(name, str(function.get("description") or ""), schema, function.get("strict"))
        )
    return tuple(tools)


def _require_schema(schema: Any, where: str) -> None:
    try:
        if not isinstance(schema, dict):
            raise InvalidSchemaError("This is not a JSON Schema.")
        if len(orjson.dumps(schema)) > LARGEST_SCHEMA:
            raise InvalidSchemaError(f"This schema is larger than {LARGEST_SCHEMA:,} bytes.")
        compile_schema(cast("dict[str, Any]", schema))
    except (InvalidSchemaError, TypeError) as error:  # or nested too deeply to be written
        raise UnservedParameterError(where, str(error), fix="Send a JSON Schema.") from error


def tool_choice(choice: Any, tools: Sequence[BroughtTool]) -> str:
    """auto, none, required, or the name of one of the tools."""
    if choice is None or (isinstance(choice, str) and choice in ("auto", "none", "required")):
        picked = choice or "auto"
        if picked == "required" and not tools:
            raise UnservedParameterError("tool_choice", "There are no tools to choose.", fix="Send `tools`.")
        return picked
    wanted = cast("dict[str, Any]", choice) if isinstance(choice, dict) else {}
    function: Any = wanted.get("function", wanted)
    name: Any = cast("dict[str, Any]", function).get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or all(tool.name != name for tool in tools):
        raise UnservedParameterError(
            "tool_choice",
            "This is no choice among the tools.",
            fix="Send auto, none, required or one of their names.",
        )
    return name


def answer_form(wanted: dict[str, Any] | None, where: str) -> Form | None:
    kind = "text" if wanted is None else wanted.get("type")
    if wanted is None or kind == "text":
        return None
    if kind == "json_object":
        return Form()
    inner: Any = wanted.get("json_schema", wanted) if kind == "json_schema" else None
    if not isinstance(inner, dict):
        raise UnservedParameterError(
            where, "This form is not served.", fix="Use text, json_object or json_schema."
        )
    shape = cast("dict[str, Any]", inner)
    _require_schema(shape.get("schema"), where)
    return Form(
        shape.get("schema"), str(shape.get("name") or "answer"), shape.get("description"), shape.get("strict")
    )
