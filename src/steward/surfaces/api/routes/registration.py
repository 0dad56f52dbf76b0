"""Routes that change which Python tools there are: add, update, remove."""

import asyncio
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from steward.contract.errors import ErrorCode, InputError, NotFoundError
from steward.providers.scripts.registry_writer import AddTool, Applied, RemoveTool, UpdateTool, fingerprint
from steward.providers.scripts.tools_config import ToolEntry, ToolName, parse_entry
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.shapes import ToolShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/tools", tags=["tools"])

EXAMPLE: dict[str, JsonValue] = {
    "name": "hello_world",
    "description": "Greet somebody by name. Use it when the person asks for a greeting.",
    "input_schema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
    "output_schema": {"type": "object", "required": ["greeting"]},
    "script": "hello_world.py",
    "timeout": 5,
    "risk": "reversible",
    "source": "def run(who):\n    return {'greeting': f'Hello, {who}!'}\n",
}


class NewTool(ToolEntry):
    """An entry of tools.json and, optionally, its script."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    source: str | None = Field(
        default=None, max_length=1024 * 1024, description="The script's text, where it comes along."
    )


class ToolUpdate(NewTool):
    name: ToolName | None = Field(default=None, description="As in the address, where it is given.")  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]
    before: str | None = Field(
        default=None,
        max_length=64,
        description="The `fingerprint` of what you have seen; refused (409) where it was changed since.",
    )


class ToolSource(BaseModel):
    """A Python tool as a person edits it."""

    entry: dict[str, Any] = Field(description="Its entry in tools.json.")
    source: str | None = Field(description="Its script's text; null where the script is not there.")
    fingerprint: str = Field(description="Of both: another one as soon as either changes.")
    shared_with: list[str] = Field(description="Other tools that run the same script.")


class ToolChange(BaseModel):
    """What was registered, and what to look after."""

    tool: ToolShape
    warnings: list[str] = []


@router.post("", status_code=201)
async def add_tool(platform: Here, body: NewTool, identity: Admin) -> ToolChange:
    """Register a Python tool: written to tools.json and callable at once."""
    change = AddTool(_entry(body, {}), body.source)
    return _shape(platform, await platform.undoing.change_tool(platform.writer, change, user=identity.user))


@router.get("/{name}/source")
async def get_source(platform: Here, name: str, _: Admin) -> ToolSource:
    """A Python tool's entry in tools.json with its script's text."""
    entry = platform.writer.entry(name)
    if entry is None:
        raise NotFoundError(
            f"tools.json has no tool '{name[:80]}'.",
            code=ErrorCode.TOOL_NOT_FOUND,
            fix="Only Python tools have a source here; see 'steward tools list'.",
        )
    source = await asyncio.to_thread(platform.writer.source, entry)
    return ToolSource(
        entry=entry.shape(),
        source=source,
        fingerprint=fingerprint(entry, source),
        shared_with=list(platform.writer.sharing(entry)),
    )


@router.put("/{name}")
async def update_tool(platform: Here, name: str, body: ToolUpdate, identity: Admin) -> ToolChange:
    """Replace a tool's definition, and its script when `source` comes along. Calls in flight finish."""
    if body.name not in (None, name):
        raise InputError(
            f"The body names '{body.name}', the address '{name}'.", fix="Add it under its new name instead."
        )
    change = UpdateTool(_entry(body, {"name": name}), body.source, body.before)
    return _shape(platform, await platform.undoing.change_tool(platform.writer, change, user=identity.user))


@router.delete("/{name}", status_code=204)
async def remove_tool(platform: Here, name: str, identity: Admin) -> Response:
    """Take a tool out of tools.json. Its script stays where it is."""
    await platform.undoing.change_tool(platform.writer, RemoveTool(name), user=identity.user)
    return Response(status_code=204)


def _entry(body: NewTool, more: dict[str, Any]) -> ToolEntry:
    return parse_entry(body.model_dump(mode="json", exclude={"source", "before"}, exclude_unset=True) | more)


def _shape(platform: Here, applied: Applied) -> ToolChange:
    tool = platform.orchestrator.registry.get(applied.entry.name)
    shape = ToolShape.of(tool, platform.rating(tool.spec), entry=applied.entry.shape())
    return ToolChange(tool=shape, warnings=list(applied.warnings))
