"""Routes on the entries of mcp.json: which servers there are to be. Admins see them, the owner writes."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from steward.bootstrap.tools.server_entries import KEPT, ServerEntries, ServerEntry
from steward.contract.errors import ConfigError
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.shapes import Strict
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/servers", tags=["servers"])

EXAMPLE = {"command": "npx", "args": ["-y", "some-server"], "env": {"TOKEN": "${TOKEN}"}}


class ServerItem(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    name: str
    entry: dict[str, Any] = Field(description=f'As in mcp.json, with "{KEPT}" for each secret.')
    fingerprint: str = Field(description="Another one as soon as the entry changes.")

    @classmethod
    def of(cls, known: ServerEntry) -> "ServerItem":
        return cls(name=known.name, entry=dict(known.entry), fingerprint=known.fingerprint)


class ServerList(BaseModel):
    items: list[ServerItem]
    next: str | None = None
    problem: str | None = Field(default=None, description="Why mcp.json cannot be used as it is.")


class NewServers(Strict):
    servers: dict[str, dict[str, Any]] = Field(
        description="Entries by name, as other programs have them under mcpServers.",
        examples=[{"files": EXAMPLE}],
    )


class ServerBody(Strict):
    entry: dict[str, Any] = Field(
        description=f'The entry anew; "{KEPT}" leaves a secret as it is.', examples=[EXAMPLE]
    )
    before: str = Field(max_length=64, description="The `fingerprint` of what you have seen.")


@router.get("")
async def list_servers(platform: Here, _: Admin, limit: Limit = 1_000, after: After = None) -> ServerList:
    """What mcp.json says, by name."""
    try:
        known = await _entries(platform).list()
    except ConfigError as error:
        return ServerList(items=[], problem=error.explain())
    page, following = cut(known, limit=limit, after=after, key=lambda each: each.name)
    return ServerList(items=[ServerItem.of(each) for each in page], next=following)


@router.post("", status_code=201)
async def add_servers(platform: Here, body: NewServers, identity: Admin) -> ServerList:
    """Write them into mcp.json and start them; all or none. Only the owner of the home may."""
    identity.require_owner()
    await _entries(platform).add(body.servers)
    return await list_servers(platform, identity)


@router.get("/{name}")
async def get_server(platform: Here, name: str, _: Admin) -> ServerItem:
    return ServerItem.of(await _entries(platform).get(name))


@router.put("/{name}")
async def change_server(platform: Here, name: str, body: ServerBody, identity: Admin) -> ServerItem:
    """Write a server's entry anew and start it again. Only the owner of the home may."""
    identity.require_owner()
    await _entries(platform).update(name, body.entry, before=body.before)
    return await get_server(platform, name, identity)


@router.delete("/{name}", status_code=204)
async def remove_server(platform: Here, name: str, identity: Admin) -> None:
    """Take it out of mcp.json and stop it. Only the owner of the home may."""
    identity.require_owner()
    await _entries(platform).remove(name)


def _entries(platform: Here) -> ServerEntries:
    return ServerEntries(platform.settings.mcp_file, platform.servers, shared=platform.sharing.changing)
