"""Who provides the tools: servers and their lives, and mcp.json, which says which there are to be."""

import json
from typing import Any, cast

from fastapi import APIRouter, Request, Response

from steward.contract.deciding import Role
from steward.contract.errors import InputError
from steward.surfaces.api.routes import agents
from steward.surfaces.api.routes import servers as routes
from steward.surfaces.api.routes.servers import NewServers, ServerBody
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Administering, Reading, Sent

router = APIRouter()

FIRST_ENTRY = {"command": "npx", "args": ["-y", "some-server"], "env": {"TOKEN": "${TOKEN}"}}


@router.get("/servers")
async def show_servers(request: Request, identity: Reading) -> Response:
    listed = await agents.list_agents(platform_of(request), identity)
    written = None
    if identity.role >= Role.ADMIN:
        written = await routes.list_servers(platform_of(request), identity)
    return await page(
        request,
        identity,
        "servers.html",
        title="Servers",
        here="servers",
        agents=listed.items,
        written=written,
    )


@router.get("/servers/list")
async def server_list(request: Request, identity: Reading) -> Response:
    listed = await agents.list_agents(platform_of(request), identity)
    return part("servers_list.html", me=identity, agents=listed.items)


@router.get("/servers/{agent_id}/health")
async def health(request: Request, identity: Reading, agent_id: str) -> Response:
    return part("health.html", health=await agents.agent_health(platform_of(request), agent_id, identity))


@router.post("/servers/reload")
async def reload(request: Request, identity: Administering) -> Response:
    done = await agents.reload_servers(platform_of(request), identity)
    changes = [f"{len(names)} {word}" for word, names in done.model_dump().items() if names]
    words = f"mcp.json was read again: {', '.join(changes) or 'nothing changed'}."
    return Response(status_code=204, headers=told(words) | {"HX-Location": "/servers"})


@router.get("/new-server")
async def show_empty(request: Request, identity: Administering) -> Response:
    identity.require_owner()
    text = json.dumps(FIRST_ENTRY, indent=2)
    return await page(
        request,
        identity,
        "server_edit.html",
        title="New server",
        here="servers",
        name="",
        text=text,
        before="",
    )


@router.get("/servers/{name}/edit")
async def show_form(request: Request, identity: Administering, name: str) -> Response:
    identity.require_owner()
    known = await routes.get_server(platform_of(request), name, identity)
    return await page(
        request,
        identity,
        "server_edit.html",
        title=f"Change {name}",
        here="servers",
        name=name,
        text=json.dumps(known.entry, indent=2, ensure_ascii=False),
        before=known.fingerprint,
    )


@router.post("/servers")
async def add(request: Request, identity: Administering, form: Sent) -> Response:
    """One entry under its name, or a whole configuration of another program as it is."""
    entry, name = _object(form["entry"]), form["name"].strip()
    pasted = entry.get("mcpServers")
    if not pasted and not name:
        raise InputError("The server has no name.", fix="Give it one.")
    servers = {name: entry}
    if isinstance(pasted, dict):
        servers = {str(each): _entry(value) for each, value in cast("dict[Any, Any]", pasted).items()}
    await routes.add_servers(platform_of(request), NewServers(servers=servers), identity)
    return _written(f"Added {', '.join(servers)}.")


@router.post("/servers/{name}/change")
async def change(request: Request, identity: Administering, form: Sent, name: str) -> Response:
    body = ServerBody(entry=_object(form["entry"]), before=form["before"][:64])
    await routes.change_server(platform_of(request), name, body, identity)
    return _written(f"Changed {name}. It starts again.")


@router.post("/servers/{name}/remove")
async def remove(request: Request, identity: Administering, name: str) -> Response:
    await routes.remove_server(platform_of(request), name, identity)
    return _written(f"Removed {name}.")


@router.post("/servers/{agent_id}/{step}")
async def switch(request: Request, identity: Administering, agent_id: str, step: str) -> Response:
    doing = {"start": agents.start_agent, "stop": agents.stop_agent}.get(step)
    if doing is None:
        raise InputError("A server is started or stopped.", fix="Use one of the two.")
    agent = await doing(platform_of(request), agent_id, identity)
    listed = await agents.list_agents(platform_of(request), identity)
    return part(
        "servers_list.html", me=identity, agents=listed.items, headers=told(f"{agent_id} is {agent.state}.")
    )


def _written(words: str) -> Response:
    return Response(status_code=204, headers=told(words) | {"HX-Location": "/servers"})


def _object(text: str) -> dict[str, Any]:
    try:
        return _entry(json.loads(text))
    except ValueError as error:
        raise InputError(f"This is not JSON yet: {error}.", fix="Write one JSON object.") from None


def _entry(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("A server is written as a JSON object.", fix='Begin with {"command": ...}.')
    return cast("dict[str, Any]", value)
