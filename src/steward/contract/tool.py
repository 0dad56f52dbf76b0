"""What a tool is: its name, what it takes and gives, and how it may be run.

Owns the definition and its hash. Does not own ratings (policy) or execution (orchestrator).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import orjson

from steward.contract import linear_re as re
from steward.contract.errors import InputError

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Reading a resource or getting a prompt of a server is a call like any other, of tools that no list shows.
READ_RESOURCE, GET_PROMPT = "read_server_resource", "get_server_prompt"
READ_OWN_RESOURCE, GET_OWN_PROMPT = "read_own_resource", "get_own_prompt"  # nothing leaves Steward with these

JsonObject = Mapping[str, Any]
"""A JSON object as it arrives from a wire: string keys, JSON values."""

ANY_OBJECT: JsonObject = {"type": "object"}


class RiskLevel(StrEnum):
    """How hard an action is to take back, in rising order."""

    REVERSIBLE = "reversible"
    REVERSIBLE_WITH_DELAY = "reversible_with_delay"
    IRREVERSIBLE = "irreversible"

    @property
    def rank(self) -> int:
        return _RANKS[self]

    def at_least(self, other: "RiskLevel") -> "RiskLevel":
        """The higher of the two: risk is only ever raised."""
        return self if self.rank >= other.rank else other


_RANKS = {level: rank for rank, level in enumerate(RiskLevel)}


class Origin(StrEnum):
    """Where a definition comes from, which decides whose word on its risk counts."""

    BUILTIN = "builtin"
    LOCAL = "local"  # tools.json and functions registered by the workspace
    SERVER = "server"  # an MCP server from mcp.json


class Effect(StrEnum):
    """What a built-in tool touches. Other tools' effects follow from their rating."""

    READS = "reads"
    WRITES_STORE = "writes_store"
    WRITES_OUTSIDE = "writes_outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHints:
    """What a tool says of itself (MCP annotations). A claim, trusted only where the host says so."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    name: str
    description: str
    input_schema: JsonObject = field(default_factory=lambda: ANY_OBJECT)
    output_schema: JsonObject | None = None
    origin: Origin = Origin.LOCAL
    risk: RiskLevel | None = None  # as configured by the host, never as claimed by a server
    rated_there: RiskLevel | None = None
    """What the Steward that it belongs to rates it, where the host lets that one ask a person itself."""
    effect: Effect = Effect.WRITES_OUTSIDE
    hints: ToolHints = ToolHints()
    hints_trusted: bool = False
    timeout: float | None = None  # seconds; None means the platform's default
    parallel: bool = True
    examples: tuple[str, ...] = ()
    category: str | None = None
    aliases: tuple[str, ...] = ()
    title: str | None = None
    user_argument: str | None = None  # the argument that says for whom it acts; the session's user wins
    checks_itself: bool = False  # wrong arguments reach it, and it answers with codes of its own
    listed: bool = True  # nobody is shown it where not: it stands for a way in that is no tool
    implementation: str | None = (
        None  # a digest of what runs, where that can be told: script, program, address
    )
    caution: str | None = None  # a sentence that a person must read before they say yes to any call
    blocked: str | None = (
        None  # why nobody may call it now, e.g. its definition changed and waits for a person
    )

    def __post_init__(self) -> None:
        for name in (self.name, *self.aliases):
            if not TOOL_NAME.fullmatch(name):
                raise InputError(
                    f"'{name}' is not a tool name.",
                    fix="Use 1 to 64 letters, digits, '_' or '-'.",
                )
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(f"Tool '{self.name}' has timeout {self.timeout}.", fix="Use a positive number.")

    @cached_property
    def definition_hash(self) -> str:
        """Changes when anything a person or a model relied on to judge this tool changes, or what runs."""
        definition = [self.name, self.description, self.input_schema, self.output_schema]
        hints = [self.hints.read_only, self.hints.destructive, self.hints.idempotent, self.hints.open_world]
        behind = [] if self.implementation is None else [self.implementation]
        packed = orjson.dumps(
            [*definition, hints, *behind], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        )
        return hashlib.sha256(packed).hexdigest()

    @property
    def replayable(self) -> bool:
        """Whether a call that may already have run can safely be sent again."""
        if self.origin is Origin.SERVER and not self.hints_trusted:
            return False
        return bool(self.hints.read_only or self.hints.idempotent)

    def manifest_entry(self) -> dict[str, Any]:
        """What a model's context needs to know."""
        entry: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }
        if self.output_schema is not None:
            entry["output_schema"] = self.output_schema
        if self.examples:
            entry["examples"] = list(self.examples)
        if self.category:
            entry["category"] = self.category
        return entry
