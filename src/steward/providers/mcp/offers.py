"""What a server says it offers, read into tools: named, judged against what was accepted, and rated.

Owns the way from a tool's definition on the wire to a `ToolSpec`. Asks nobody anything: the pins that are
known come in, those that are new go out (mcp.py keeps them).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

from steward.contract.errors import InvalidSchemaError
from steward.contract.pins import SEEN, Pin
from steward.contract.schema import compile_schema
from steward.contract.tool import ANY_OBJECT, Origin, ToolHints, ToolSpec
from steward.policy.approval import may_run_unasked
from steward.policy.rules import Rules
from steward.providers.mcp import federation
from steward.providers.mcp.mcp_config import ServerConfig
from steward.providers.mcp.naming import registered_names
from steward.providers.mcp.pinning import PinVerdict, digest_of, judge, pinned_part, without_hidden
from steward.providers.mcp.session import HeaderMap

MAX_TOOLS = 5000
MAX_DESCRIPTION = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool as we know it now."""

    spec: ToolSpec
    own_name: str
    verdict: PinVerdict | None
    header_map: HeaderMap | None


@dataclass(frozen=True, slots=True)
class Catalogue:
    offers: Mapping[str, Offer] = field(default_factory=dict[str, Offer])
    problems: tuple[str, ...] = ()

    @property
    def new_pins(self) -> list[Pin]:
        verdicts = [offer.verdict for offer in self.offers.values()]
        return [
            verdict.pin
            for verdict in verdicts
            if verdict is not None and (verdict.is_new or verdict.was_nameless)
        ]


class OfferReader:
    """Reads one server's definitions; `pinned` where definitions are held to what a person accepted."""

    def __init__(self, config: ServerConfig, *, pinned: bool, rules: Callable[[], Rules] = Rules) -> None:
        self._config = config
        self._pinned = pinned
        self._rules = rules
        self._implementation = digest_of({"launch": repr(config.transport)})

    def read(
        self, listed: Sequence[Mapping[str, Any]], known: Mapping[str, Pin], *, modern: bool
    ) -> Catalogue:
        """What a server lists now."""
        problems: list[str] = []
        tools = self._usable(listed, problems, modern=modern)
        return self._catalogue(tools, known, problems)

    def recall(self, known: Mapping[str, Pin]) -> Catalogue:
        """What it offered when it was last seen."""
        tools = {
            own: pin.definition for own, pin in known.items() if own != SEEN and self._config.offers(own)
        }
        return Catalogue(self._catalogue(tools, known, []).offers)

    def _catalogue(
        self, tools: Mapping[str, Mapping[str, Any]], known: Mapping[str, Pin], problems: list[str]
    ) -> Catalogue:
        kept = {own: pin.registered for own, pin in known.items() if pin.registered is not None}
        names = registered_names(self._config.namespace, tools, kept=kept)
        problems += [f"'{own}' would take the name of another tool" for own in tools if own not in names]
        offers = [
            self._offer(tool, names[own], known.get(own), problems, added=bool(known))
            for own, tool in tools.items()
            if own in names
        ]
        return Catalogue({offer.spec.name: offer for offer in offers if offer is not None}, tuple(problems))

    def _usable(
        self, listed: Sequence[Mapping[str, Any]], problems: list[str], *, modern: bool
    ) -> dict[str, Mapping[str, Any]]:
        tools: dict[str, Mapping[str, Any]] = {}
        for tool in listed[:MAX_TOOLS]:
            name: Any = tool.get("name")
            if not isinstance(name, str) or not name:
                problems.append("a tool without a name")
            elif name in tools:
                problems.append(f"'{name}' is offered twice; the first counts")
            elif self._config.offers(name):
                invalid = find_invalid_x_mcp_header(tool.get("inputSchema")) if modern else None
                if invalid is None:
                    tools[name] = tool
                else:
                    problems.append(f"'{name}' asks for a header that is not allowed: {invalid}")
        if len(listed) > MAX_TOOLS:
            problems.append(f"{len(listed) - MAX_TOOLS} tools beyond the first {MAX_TOOLS} are left out")
        return tools

    def _offer(
        self, tool: Mapping[str, Any], name: str, known: Pin | None, problems: list[str], *, added: bool
    ) -> Offer | None:
        """`added`: the server is known already."""
        verdict = None
        own = str(tool["name"])
        try:
            rated = federation.risk_of(tool) if self._config.steward else None
            spec = replace(self._spec(pinned_part(tool), name, own), rated_there=rated)
            if self._pinned:
                verdict = judge(
                    self._config.name,
                    tool,
                    known,
                    registered=name,
                    trusted=self._config.trusted,
                    added_unasked=added and known is None and self._would_run_unasked(spec),
                )
                shown = self._spec(verdict.shown, name, own)
                spec = replace(shown, blocked=verdict.blocked, rated_there=spec.rated_there)
            compile_schema(spec.input_schema)
        except (InvalidSchemaError, TypeError, AttributeError) as error:
            problems.append(f"'{own}' has a definition that cannot be used: {error}")
            return None
        header_map = x_mcp_header_map(spec.input_schema) or None
        return Offer(spec=spec, own_name=own, verdict=verdict, header_map=header_map)

    def _would_run_unasked(self, spec: ToolSpec) -> bool:
        return not self._config.requires_approval and may_run_unasked(spec, self._rules())

    def _spec(self, tool: Mapping[str, Any], name: str, own: str) -> ToolSpec:
        hints = _object(tool.get("annotations"))
        output = tool.get("outputSchema")
        title: Any = tool.get("title") or hints.get("title")
        return ToolSpec(
            name=name,
            description=without_hidden(str(tool.get("description") or ""))[:MAX_DESCRIPTION],
            input_schema=_object(tool.get("inputSchema")) or ANY_OBJECT,
            output_schema=_object(output) if output is not None else None,
            origin=Origin.SERVER,
            risk=self._config.risk_of(own),
            hints=ToolHints(
                read_only=_flag(hints.get("readOnlyHint")),
                destructive=_flag(hints.get("destructiveHint")),
                idempotent=_flag(hints.get("idempotentHint")),
                open_world=_flag(hints.get("openWorldHint")),
            ),
            hints_trusted=self._config.trusted,
            timeout=self._config.tool_timeout,
            category=self._config.name,
            aliases=self._config.aliases_of(own),
            title=without_hidden(title) if isinstance(title, str) else None,
            implementation=self._implementation,
        )


def _object(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidSchemaError("an object was expected")
    return value  # pyright: ignore[reportUnknownVariableType] - JSON objects have string keys


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
