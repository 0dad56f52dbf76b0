"""Routes on agents: which there are, their lives and their health."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from steward.surfaces.api.identity import Admin, Reader
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.shapes import AgentList, AgentShape, HealthShape
from steward.surfaces.api.state import Here


class ReloadedShape(BaseModel):
    added: list[str] = Field(examples=[["files"]])
    changed: list[str]
    removed: list[str]


router = APIRouter(prefix="/v1/agents", tags=["agents"])


@router.get("")
async def list_agents(platform: Here, _: Reader, limit: Limit = 1_000, after: After = None) -> AgentList:
    """Who provides the tools, by id."""
    statuses = platform.orchestrator.lifecycle.statuses()
    page, following = cut(statuses, limit=limit, after=after, key=lambda status: status.id)
    return AgentList(items=[AgentShape.of(status) for status in page], next=following)


@router.post("/reload")
async def reload_servers(platform: Here, _: Admin) -> ReloadedShape:
    """Read mcp.json again: new servers start, changed ones start again, removed ones stop."""
    done = await platform.servers.reload()
    return ReloadedShape(added=list(done.added), changed=list(done.changed), removed=list(done.removed))


@router.get("/{agent_id}/health")
async def agent_health(platform: Here, agent_id: str, identity: Reader) -> HealthShape:
    """What an operator wants to see, a server's last output and the page to sign it in among it, is for an
    administrator: whoever signs a server in decides for everybody whose account it uses.
    """
    health = await platform.orchestrator.lifecycle.health(agent_id)
    facts = dict(health.facts or {}) if identity.only is None else {}
    return HealthShape(healthy=health.healthy, detail=health.detail, facts=facts)


@router.post("/{agent_id}/start")
async def start_agent(platform: Here, agent_id: str, _: Admin) -> AgentShape:
    await platform.orchestrator.lifecycle.start(agent_id)
    return _status(platform, agent_id)


@router.post("/{agent_id}/stop")
async def stop_agent(platform: Here, agent_id: str, _: Admin) -> AgentShape:
    await platform.orchestrator.lifecycle.stop(agent_id)
    return _status(platform, agent_id)


def _status(platform: Here, agent_id: str) -> AgentShape:
    statuses = platform.orchestrator.lifecycle.statuses()
    return next(AgentShape.of(status) for status in statuses if status.id == agent_id)
