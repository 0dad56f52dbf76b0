"""What servers offer beside tools, as tools of Steward's own, for agents that need a resource or prompt.

Owns finding the server that has a resource. A server that is away is named, the others answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from steward.contract.errors import InputError, NotFoundError, StewardError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.providers.functions import FunctionTool, LegacyToolAgent

AGENT = "resources"
_SERVER = {"type": ["string", "null"], "description": "The server's name; without it, every server is asked."}


class Contents(Protocol):
    """A server's resources and prompts, as they come over the wire."""

    async def list_resources(self) -> list[dict[str, Any]]: ...

    async def list_resource_templates(self) -> list[dict[str, Any]]: ...

    async def read_resource(self, uri: str) -> dict[str, Any]: ...

    async def list_prompts(self) -> list[dict[str, Any]]: ...

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]: ...


Directory = Callable[[], Mapping[str, Contents]]
"""The servers that run now, by name."""


class ServerContents:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def list_resources(self, server: str | None = None) -> dict[str, Any]:
        async def both(contents: Contents) -> list[dict[str, Any]]:
            return [*await contents.list_resources(), *await contents.list_resource_templates()]

        return await self._gathered(server, both, "resources")

    async def list_prompts(self, server: str | None = None) -> dict[str, Any]:
        return await self._gathered(server, lambda contents: contents.list_prompts(), "prompts")

    async def read_resource(self, uri: str, server: str | None = None) -> dict[str, Any]:
        name = server or await self._owner(uri)
        return {"server": name, "contents": (await self._server(name).read_resource(uri)).get("contents", [])}

    async def get_prompt(
        self, name: str, server: str, arguments: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        prompt = await self._server(server).get_prompt(name, arguments)
        return {"server": server, "messages": prompt.get("messages", [])}

    def _server(self, name: str) -> Contents:
        contents = self._directory().get(name)
        if contents is None:
            known = ", ".join(sorted(self._directory())) or "none"
            raise NotFoundError(f"No server named '{name}' runs.", fix=f"There are: {known}.")
        return contents

    async def _gathered(
        self, server: str | None, ask: Callable[[Contents], Awaitable[list[dict[str, Any]]]], key: str
    ) -> dict[str, Any]:
        """The answers of all, each item marked with its server; who did not answer is named."""
        asked = {server: self._server(server)} if server is not None else dict(self._directory())
        answers = await asyncio.gather(*(ask(one) for one in asked.values()), return_exceptions=True)
        items: list[dict[str, Any]] = []
        problems: dict[str, str] = {}
        for name, answer in zip(asked, answers, strict=True):
            if isinstance(answer, StewardError):
                problems[name] = answer.message
            elif isinstance(answer, BaseException):
                raise answer
            else:
                items.extend({"server": name, **item} for item in answer)
        return {key: items, "problems": problems}

    async def _owner(self, uri: str) -> str:
        """Only the server that offers it is asked: an address may say more than others should know."""
        offered = (await self.list_resources())["resources"]
        exact = {item["server"] for item in offered if item.get("uri") == uri}
        fitting = {item["server"] for item in offered if _fits(str(item.get("uriTemplate", "{")), uri)}
        owners = exact or fitting
        if len(owners) == 1:
            return owners.pop()
        if owners:
            raise InputError(
                f"Several servers have '{uri}': {', '.join(sorted(owners))}.",
                fix="Name one of them as 'server'.",
            )
        raise NotFoundError(f"No server has a resource '{uri}'.", fix="See list_resources.")


def _fits(template: str, uri: str) -> bool:
    head = template.partition("{")[0]
    return bool(head) and uri.startswith(head)


def resources_agent(directory: Directory) -> LegacyToolAgent:
    contents = ServerContents(directory)
    tools = [
        _tool("list_resources", "List the documents that connected servers offer.", contents.list_resources),
        _tool(
            "read_resource",
            "Read a document that a connected server offers.",
            contents.read_resource,
            uri={"type": "string", "description": "Its address, as list_resources gives it."},
        ),
        _tool("list_prompts", "List the prompts that connected servers offer.", contents.list_prompts),
        _tool(
            "get_prompt",
            "Get a prompt of a connected server, filled in.",
            contents.get_prompt,
            name={"type": "string"},
            server={"type": "string", "description": "The server's name."},
            arguments={"type": ["object", "null"], "additionalProperties": {"type": "string"}},
        ),
    ]
    return LegacyToolAgent(AGENT, tools, name="What servers offer beside tools", capabilities=("resources",))


def _tool(tool: str, description: str, function: Callable[..., Any], /, **fields: Any) -> FunctionTool:
    properties = {"server": _SERVER, **fields}
    required = [key for key, schema in properties.items() if schema["type"] == "string"]
    return FunctionTool(
        ToolSpec(
            name=tool,
            description=description,
            input_schema={
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.READS,
            hints=ToolHints(read_only=True, idempotent=True),
            category="resources",
        ),
        function,
    )
