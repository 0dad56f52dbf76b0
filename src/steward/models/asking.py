"""What a program asks a model for, and what it gets: plain values, so that asking imports nothing heavy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from steward.contract.schema import compile_schema
from steward.contract.tool import ToolSpec

Side = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class SaidCall:
    """A call that the model wants its program to make; arguments as JSON text."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidMessage:
    role: Side
    text: str = ""
    images: tuple[str, ...] = ()  # addresses, or data in them
    calls: tuple[SaidCall, ...] = ()
    answers: str = ""  # the id of the call whose result this is


@dataclass(frozen=True, slots=True)
class BroughtTool:
    """A tool that the program runs itself."""

    name: str
    description: str
    schema: Mapping[str, Any]
    strict: bool | None = None
    ours: bool = False  # it only stands beside those of the program, which come before a search of ours


@dataclass(frozen=True, slots=True)
class Form:
    """How the answer is to be written: as JSON, by a schema where there is one."""

    schema: Mapping[str, Any] | None = None
    name: str = "answer"
    description: str | None = None
    strict: bool | None = None

    def fits(self, text: str) -> bool:
        """Whether what was written is what the form wants."""
        try:
            value: Any = orjson.loads(text)
        except orjson.JSONDecodeError:
            return False
        return isinstance(value, dict) if self.schema is None else compile_schema(self.schema).accepts(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainAsk:
    messages: Sequence[SaidMessage]
    tools: tuple[BroughtTool, ...] = ()
    choice: str = "auto"  # auto, none, required, or a tool's name
    form: Form | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])  # in Pydantic AI's names


@dataclass(frozen=True, slots=True)
class Written:
    text: str
    calls: tuple[SaidCall, ...] = ()
    finish: str = "stop"
    tokens: tuple[int, int] = (0, 0)  # read and written
    nothing_fits: bool = False  # the planner says that none of the tools is what was asked for
    about: str = ""  # the tool whose value the planner asks for


# --- a program's tools beside an agent that has its own ---

HANDOVER = BroughtTool(
    "ask_steward",
    "Hand this request to an agent that has tools of its own: tasks, reminders, documents, memory, files, "
    "the web and the time. Call it for whatever your other tools are not made for, alone, and write nothing "
    "first.",
    {"type": "object", "properties": {}},
)


def with_handover(asked: PlainAsk) -> PlainAsk:
    """A language model says by a call that a request is the agent's."""
    return replace(asked, tools=(*asked.tools, HANDOVER))


def beside(asked: PlainAsk, ours: Sequence[ToolSpec]) -> PlainAsk:
    """The planner chooses among a program's tools and ours; where names meet, the program's is meant."""
    theirs = {tool.name for tool in asked.tools}
    added = [BroughtTool(spec.name, spec.description, spec.input_schema, ours=True) for spec in ours]
    return replace(asked, tools=(*asked.tools, *(tool for tool in added if tool.name not in theirs)))


def for_the_agent(written: Written, asked: PlainAsk) -> bool:
    """Whether none of the tools that were brought is what was asked for."""
    meant = {call.tool for call in written.calls} | ({written.about} if written.about else set[str]())
    return written.nothing_fits or bool(meant - {tool.name for tool in asked.tools})
