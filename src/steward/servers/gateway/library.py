"""Resources and prompts of every connected server, as if they were one server's.

Owns whose they are: prompts carry their server's namespace (our own servers have none), resources keep their
URIs, which already say where they belong. A server that does not answer takes nothing away from the others.
Whatever a server is asked for besides its lists is a call through the door, by tools that no list shows.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from steward.contract import linear_re as re
from steward.contract.agent import AgentManifest
from steward.contract.errors import NotFoundError, StewardError
from steward.contract.tool import (
    GET_OWN_PROMPT,
    GET_PROMPT,
    READ_OWN_RESOURCE,
    READ_RESOURCE,
    Effect,
    Origin,
    RiskLevel,
    ToolHints,
    ToolSpec,
)
from steward.orchestrator.registry import NAMESPACE_SEPARATOR, Registry
from steward.providers.functions import FunctionTool, LegacyToolAgent, ToolFunction
from steward.servers.gateway.views import Target

logger = logging.getLogger(__name__)

AGENT = "library"
COMPLETE, WATCH = "complete_server_argument", "watch_server_resource"
COMPLETE_OWN, WATCH_OWN = "complete_own_argument", "watch_own_resource"  # nothing leaves Steward with these
REMEMBERED = 10_000
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_VARIABLE = re.compile(r"\{([+#./;?&]?)[^}]*\}")


@runtime_checkable
class Librarian(Protocol):
    """An agent that has more than tools."""

    @property
    def namespace(self) -> str: ...

    def manifest(self) -> AgentManifest: ...

    async def list_resources(self) -> list[dict[str, Any]]: ...

    async def list_resource_templates(self) -> list[dict[str, Any]]: ...

    async def read_resource(self, uri: str) -> dict[str, Any]: ...

    async def list_prompts(self) -> list[dict[str, Any]]: ...

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]: ...

    async def complete(self, params: Mapping[str, Any]) -> dict[str, Any]: ...

    async def watch_resource(self, uri: str) -> None: ...

    async def unwatch_resource(self, uri: str) -> None: ...

    def subscribe_resources(self, listener: Callable[[str], None]) -> None: ...


def _name(owner: Librarian) -> str:
    return owner.manifest().id


def _is_ours(owner: Librarian) -> bool:
    """Whether a server is one of Steward's own, by what the registry holds, not by how it calls itself."""
    return any(spec.origin is Origin.BUILTIN for spec in owner.manifest().tools)


def library_agent(registry: Registry) -> LegacyToolAgent:
    """What is asked of resources and prompts as calls, so that it passes the door. No list shows them."""

    tools = [tool for ours in (True, False) for tool in _reading_tools(registry, ours=ours)]
    return LegacyToolAgent(AGENT, tools, name="Resources and prompts of servers")


class _Servers:
    """What is asked of the servers, apart for our own and for those of others: only the latter are told
    anything by the call."""

    def __init__(self, registry: Registry, *, ours: bool) -> None:
        self._registry = registry
        self._ours = ours

    def _owner(self, server: str) -> Librarian:
        for agent in self._registry.agents():
            if isinstance(agent, Librarian) and _name(agent) == server and (_is_ours(agent) == self._ours):
                return agent
        raise NotFoundError(f"No server named '{server[:64]}' runs.", fix="List the resources to see them.")

    async def read(self, server: str, uri: str) -> dict[str, Any]:
        return await self._owner(server).read_resource(uri)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        return await self._owner(server).get_prompt(name, arguments)

    async def complete(
        self, server: str, ref: Mapping[str, Any], argument: str, arguments: Mapping[str, str]
    ) -> dict[str, Any]:
        known = {name: value for name, value in arguments.items() if name != argument}
        asked = {"ref": ref, "argument": {"name": argument, "value": arguments.get(argument, "")}}
        more = {"context": {"arguments": known}} if known else {}
        return await self._owner(server).complete({**asked, **more})

    async def watch(self, server: str, uri: str, watched: bool) -> dict[str, Any]:
        owner = self._owner(server)
        await (owner.watch_resource(uri) if watched else owner.unwatch_resource(uri))
        return {}


def _reading_tools(registry: Registry, *, ours: bool) -> list[FunctionTool]:
    servers = _Servers(registry, ours=ours)
    whose = "one of Steward's own servers" if ours else "a server"
    category = "knowledge" if ours else "resources"
    text = {"type": "string"}
    tools: tuple[tuple[str, str, ToolFunction, dict[str, Any]], ...] = (
        (
            READ_OWN_RESOURCE if ours else READ_RESOURCE,
            f"Read a document that {whose} offers.",
            servers.read,
            {"uri": text},
        ),
        (
            GET_OWN_PROMPT if ours else GET_PROMPT,
            f"Get a prompt of {whose}, filled in.",
            servers.prompt,
            {"name": text, "arguments": _TEXTS},
        ),
        (
            COMPLETE_OWN if ours else COMPLETE,
            f"Ask {whose} how an argument may go on.",
            servers.complete,
            {"ref": {"type": "object"}, "argument": text, "arguments": _TEXTS},
        ),
        (
            WATCH_OWN if ours else WATCH,
            f"Have {whose} tell of changes of a document, or no more.",
            servers.watch,
            {"uri": text, "watched": {"type": "boolean"}},
        ),
    )
    return [_unlisted(tool, about, function, category, **fields) for tool, about, function, fields in tools]


def _unlisted(
    tool: str, description: str, function: ToolFunction, category: str, /, **fields: Any
) -> FunctionTool:
    properties = {"server": {"type": "string"}, **fields}
    return FunctionTool(
        ToolSpec(
            name=tool,
            description=description,
            input_schema={
                "type": "object",
                "properties": properties,
                "required": [*properties],
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.READS,
            hints=ToolHints(read_only=True, idempotent=True),
            category=category,
            listed=False,
        ),
        function,
    )


class ServerLibrary:
    """Implements `Library` over the agents of a registry: all of them, or those of a namespace or a tool."""

    def __init__(
        self,
        registry: Registry,
        *,
        namespaces: frozenset[str] = frozenset(),
        tools: frozenset[str] = frozenset(),
    ) -> None:
        self._registry = registry
        self._namespaces = namespaces
        self._tools = tools
        self._listeners: list[Callable[[str], None]] = []
        self._heard: set[int] = set()
        self._owners: dict[str, Librarian] = {}
        registry.subscribe(self._owners.clear)

    async def resources(self) -> Sequence[Mapping[str, Any]]:
        return [item for _, items in await self._all(lambda owner: owner.list_resources()) for item in items]

    async def templates(self) -> Sequence[Mapping[str, Any]]:
        return [
            item
            for _, items in await self._all(lambda owner: owner.list_resource_templates())
            for item in items
        ]

    async def prompts(self) -> Sequence[Mapping[str, Any]]:
        return [
            {**item, "name": _joined(owner.namespace, str(item.get("name")))}
            for owner, items in await self._all(lambda owner: owner.list_prompts())
            for item in items
        ]

    async def reading(self, uri: str) -> Target:
        owner = await self._owner_of(uri)
        return Target(
            READ_OWN_RESOURCE if _is_ours(owner) else READ_RESOURCE, {"server": _name(owner), "uri": uri}
        )

    async def prompting(self, name: str, arguments: Mapping[str, str]) -> Target:
        owner, own = await self._prompt(name)
        tool = GET_OWN_PROMPT if _is_ours(owner) else GET_PROMPT
        return Target(tool, {"server": _name(owner), "name": own, "arguments": dict(arguments)})

    async def completing(self, params: Mapping[str, Any]) -> Target:
        asked: Mapping[str, Any] = params["ref"]
        if asked.get("type") == "ref/prompt":
            owner, own = await self._prompt(str(asked.get("name")))
            ref = {**asked, "name": own}
        else:
            owner, ref = await self._owner_of(str(asked.get("uri"))), dict(asked)
        argument: Mapping[str, str] = params["argument"]
        context: Mapping[str, Any] = params.get("context") or {}
        known: Mapping[str, str] = context.get("arguments") or {}
        told = {
            "server": _name(owner),
            "ref": ref,
            "argument": argument["name"],
            "arguments": {**known, argument["name"]: argument["value"]},
        }
        return Target(COMPLETE_OWN if _is_ours(owner) else COMPLETE, told)

    async def watching(self, uri: str, *, watched: bool) -> Target:
        owner = await self._owner_of(uri)
        if watched and id(owner) not in self._heard:
            self._heard.add(id(owner))
            owner.subscribe_resources(self._changed)
        told = {"server": _name(owner), "uri": uri, "watched": watched}
        return Target(WATCH_OWN if _is_ours(owner) else WATCH, told)

    def subscribe(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def _changed(self, uri: str) -> None:
        for listener in self._listeners:
            listener(uri)

    def _librarians(self) -> list[Librarian]:
        found: list[Librarian] = [a for a in self._registry.agents() if isinstance(a, Librarian)]
        if not self._namespaces and not self._tools:
            return found
        owners = {id(tool.agent) for tool in self._registry if tool.spec.name in self._tools}
        return [agent for agent in found if agent.namespace in self._namespaces or id(agent) in owners]

    async def _all(
        self, listing: Callable[[Librarian], Awaitable[list[dict[str, Any]]]]
    ) -> list[tuple[Librarian, list[dict[str, Any]]]]:
        owners = self._librarians()
        found = await asyncio.gather(*(_quietly(listing, owner) for owner in owners))
        return list(zip(owners, found, strict=True))

    async def _owner_of(self, uri: str) -> Librarian:
        known = self._owners.get(uri)
        if known is not None:
            return known
        owner = await self._find_owner(uri)
        if len(self._owners) >= REMEMBERED:
            self._owners.clear()
        self._owners[uri] = owner
        return owner

    async def _find_owner(self, uri: str) -> Librarian:
        for owner, items in await self._all(lambda owner: owner.list_resources()):
            if any(item.get("uri") == uri for item in items):
                return owner
        for owner, items in await self._all(lambda owner: owner.list_resource_templates()):
            if any(_matches(str(item.get("uriTemplate")), uri) for item in items):
                return owner
        raise NotFoundError(f"There is no resource '{uri[:200]}'.", fix="List the resources to see them.")

    async def _prompt(self, name: str) -> tuple[Librarian, str]:
        named = [owner for owner in self._librarians() if owner.namespace]
        for owner in sorted(named, key=lambda owner: -len(owner.namespace)):
            prefix = _joined(owner.namespace, "")
            if name.startswith(prefix):
                return owner, name.removeprefix(prefix)
        for owner, prompts in await self._all(lambda owner: owner.list_prompts()):
            if not owner.namespace and any(prompt.get("name") == name for prompt in prompts):
                return owner, name
        raise NotFoundError(f"There is no prompt '{name[:64]}'.", fix="List the prompts to see them.")


async def _quietly(
    listing: Callable[[Librarian], Awaitable[list[dict[str, Any]]]], owner: Librarian
) -> list[dict[str, Any]]:
    try:
        return await listing(owner)
    except StewardError as error:
        logger.warning("library_skipped", extra={"server": owner.namespace, "problem": error.message})
        return []


def _joined(namespace: str, name: str) -> str:
    return f"{namespace}{NAMESPACE_SEPARATOR}{name}" if namespace else name


def _matches(template: str, uri: str) -> bool:
    """Whether a URI could have been made from a template (RFC 6570), or is the template itself."""
    if template == uri:
        return True
    pattern, last = "", 0
    for variable in _VARIABLE.finditer(template):
        pattern += re.escape(template[last : variable.start()])
        pattern += ".+" if variable.group(1) else "[^/]+"
        last = variable.end()
    return bool(last) and re.fullmatch(pattern + re.escape(template[last:]), uri) is not None
