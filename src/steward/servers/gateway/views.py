"""What a client sees of the registry: which tools, and how many of them at once.

Owns the choice and the wire shape of a listing. A view narrows the registry; nothing outside it can be
called through it. A large view shows a handful of tools and two to find and call the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from steward.contract.errors import ErrorCode, InputError, NotFoundError
from steward.contract.federation import RISK
from steward.contract.ports import ToolRanker
from steward.contract.tool import ToolSpec
from steward.orchestrator.orchestrator import Orchestrator

SEARCH = "search_tools"
CALL = "call_tool"
MANY = 60
MOST_FOUND = 20

_SEARCH_TOOL: dict[str, Any] = {
    "name": SEARCH,
    "title": "Search tools",
    "description": "Find tools by what they do. Returns their names, descriptions and input schemas, and "
    f"whether a server is missing; call one with {CALL}.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "description": "What you want to do, in words.",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": 5},
        },
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
}
_CALL_TOOL: dict[str, Any] = {
    "name": CALL,
    "title": "Call a tool",
    "description": f"Call a tool that {SEARCH} found.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool's name."},
            "arguments": {"type": "object", "description": "What its input schema asks for."},
        },
        "required": ["name"],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    name: str = "steward"
    namespaces: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()  # together with `namespaces`; both empty means everything
    pinned: frozenset[str] = frozenset()  # always listed, however large the view is
    client_confirms: frozenset[str] = frozenset()
    """Tools whose confirmation the owner leaves to the client's own agent. Counts on a pipe only: over HTTP
    nobody knows whose program it is."""
    task_envelopes: frozenset[str] = frozenset()
    """Tools whose contract answers in the tasks' envelope, also while a call waits for a person."""
    failures_as_errors: frozenset[str] = frozenset()
    """Tools whose contract answers a failure with a JSON-RPC error instead of a result that says so."""
    shows_user: bool = False
    """Whether the argument that says for whom a tool acts is shown. Elsewhere the session fills it in."""
    many: int = MANY
    instructions: str = field(default="Tools of this Steward. Some calls wait for a person's approval.")

    def shows(self, spec: ToolSpec) -> bool:
        if not self.namespaces and not self.tools:
            return True
        head, separator, _ = spec.name.partition("__")
        return spec.name in self.tools or bool(separator and head in self.namespaces)


@dataclass(frozen=True, slots=True)
class Target:
    """A tool behind the door and what it is called with."""

    tool: str
    arguments: Mapping[str, Any]


class ViewCatalogue:
    """The tools of a view as a client sees them now."""

    def __init__(self, door: Orchestrator, view: View, ranker: ToolRanker) -> None:
        self._door = door
        self._view = view
        self._ranker = ranker

    def find(self, name: str) -> ToolSpec | None:
        tool = self._door.registry.find(name)
        shown = tool is not None and tool.spec.listed and self._view.shows(tool.spec)
        return tool.spec if tool is not None and shown else None

    def is_search(self, name: str) -> bool:
        """Whether this name means finding tools; a tool of that name behind the door comes first."""
        return name in (SEARCH, CALL) and self.find(name) is None

    def listing(self) -> list[dict[str, Any]]:
        specs = self._shown()
        if len(specs) <= self._view.many:
            return [self._wire(spec) for spec in specs]
        pinned = [self._wire(spec) for spec in specs if spec.name in self._view.pinned]
        return [*pinned, _SEARCH_TOOL, _CALL_TOOL]

    def search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        query, limit = arguments.get("query"), arguments.get("limit", 5)
        if not isinstance(query, str) or not query.strip():
            raise InputError(
                "'query' is missing.", code=ErrorCode.INVALID_ARGUMENTS, fix="Say what you want to do."
            )
        if not isinstance(limit, int) or not 1 <= limit <= MOST_FOUND:
            raise InputError(
                "'limit' is not usable.", code=ErrorCode.INVALID_ARGUMENTS, fix=f"Use 1 to {MOST_FOUND}."
            )
        found = self._ranker.rank(query, self._shown(), limit=limit)
        tools = [{**self._wire(hit.tool), "score": round(hit.score, 4)} for hit in found]
        return {"tools": tools, "incomplete": self._door.lifecycle.absences()}

    def target(self, name: str, arguments: Mapping[str, Any]) -> Target:
        """The tool that a call really means; through `call_tool` it is the one named inside."""
        if name == CALL and self.is_search(CALL):
            name, arguments = _inner(arguments)
        spec = self.find(name)
        if spec is None:
            raise NotFoundError(f"Unknown tool: {name[:64]}", code=ErrorCode.TOOL_NOT_FOUND)
        return Target(spec.name, arguments)

    def _wire(self, spec: ToolSpec) -> dict[str, Any]:
        shape = wire(spec)
        shape["_meta"] = {RISK: self._door.rating(spec).value}
        if spec.user_argument is not None and not self._view.shows_user:
            shape["inputSchema"] = _without(spec.input_schema, spec.user_argument)
        return shape

    def _shown(self) -> Sequence[ToolSpec]:
        return [tool.spec for tool in self._door.registry if tool.available and self._view.shows(tool.spec)]


def _inner(arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    name, inner = arguments.get("name"), arguments.get("arguments", {})
    if not isinstance(name, str) or not isinstance(inner, Mapping):
        raise InputError(
            "'name' or 'arguments' is not usable.",
            code=ErrorCode.INVALID_ARGUMENTS,
            fix="Give a tool's name and an object of arguments.",
        )
    return name, cast("Mapping[str, Any]", inner)


def _without(schema: Mapping[str, Any], argument: str) -> dict[str, Any]:
    """The schema for a model that need not know this argument: the session fills it in."""
    properties = {name: part for name, part in schema.get("properties", {}).items() if name != argument}
    required = [name for name in schema.get("required", ()) if name != argument]
    return {**schema, "properties": properties, "required": required}


def _title(name: str) -> str:
    """What a person reads in a client's list: `github__open_issue` is "Open issue (github)"."""
    server, separator, own = name.rpartition("__")
    words = (own or name).replace("_", " ").replace("-", " ").strip() or name
    return words[:1].upper() + words[1:] + (f" ({server})" if separator and server else "")


def wire(spec: ToolSpec) -> dict[str, Any]:
    """A tool as MCP lists it; its schemas go out as they came in."""
    shape: dict[str, Any] = {
        "name": spec.name,
        "title": spec.title or _title(spec.name),
        "description": spec.description,
        "inputSchema": spec.input_schema,
    }
    if spec.output_schema is not None:
        shape["outputSchema"] = spec.output_schema
    hints = {
        "readOnlyHint": spec.hints.read_only,
        "destructiveHint": spec.hints.destructive,
        "idempotentHint": spec.hints.idempotent,
        "openWorldHint": spec.hints.open_world,
    }
    known = {key: value for key, value in hints.items() if value is not None}
    if known:
        shape["annotations"] = known
    return shape
