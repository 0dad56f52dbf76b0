"""A tool's definition as words: what rankers and judges read of it.

Owns how a name, a description and a schema become text. Does not own what is made of the text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import orjson

from steward.contract import linear_re as re
from steward.contract.preferences import without_rivals
from steward.contract.tool import ToolSpec

LONGEST = 1_000  # characters of a description that are read for its meaning
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
UNSAFE = re.compile(r"[^A-Za-z0-9_-]")  # in the name of a tool
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


def name_words(name: str) -> str:
    """`getUserName`, `get_user_name` and `get-user-name` as "get user name"."""
    return " ".join(_WORD.findall(_HUMP.sub(" ", name))).lower()


def first_sentence(text: str) -> str:
    return next((part.strip()[:300] for part in _SENTENCE.split(text.strip()) if part.strip()), "")


@dataclass(frozen=True)
class Definition:
    """A tool with its texts worked out once."""

    spec: ToolSpec

    @cached_property
    def names(self) -> str:
        """What it is called, without the server that it comes from."""
        _, _, bare = self.spec.name.rpartition("__")
        return name_words(bare)

    @cached_property
    def server(self) -> str:
        head, separator, _ = self.spec.name.partition("__")
        return name_words(head) if separator else ""

    @cached_property
    def about(self) -> str:
        """Its description without what it says other tools are for: those words must not find this one."""
        return without_rivals(self.spec.description)

    @cached_property
    def whole(self) -> str:
        """Name and description, as they are embedded."""
        return f"{self.names}: {self.about[:LONGEST]}"

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that a request may resemble: what it says of itself, and requests that it is for."""
        return (self.whole, *self.spec.examples)

    @cached_property
    def opening(self) -> str:
        return first_sentence(self.about) or self.names

    @cached_property
    def parameters(self) -> str:
        return " ".join(_parameters(self.spec.input_schema))


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, about in cast("Mapping[str, Any]", properties).items():
        yield name
        if isinstance(about, Mapping):
            yield str(cast("Mapping[str, Any]", about).get("description", ""))


def tokens(tools: Iterable[ToolSpec]) -> int:
    """About how many tokens these definitions take in a model's context: four characters each."""
    return sum(len(tool.name) + len(tool.description) + _schema_size(tool) for tool in tools) // 4


def _schema_size(tool: ToolSpec) -> int:
    return len(orjson.dumps(tool.input_schema, option=orjson.OPT_NON_STR_KEYS))
