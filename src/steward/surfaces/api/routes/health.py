"""Routes for whoever watches the process: is it alive, can it work."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from steward.contract.agent import LifecycleState
from steward.contract.errors import StewardError
from steward.surfaces.api.identity import known
from steward.surfaces.api.state import Here
from steward.surfaces.instance import proof

router = APIRouter(tags=["health"])

Challenge = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="A word, new each time.")]


class Alive(BaseModel):
    status: Literal["ok"]
    proof: str | None = Field(
        default=None, description="The answer to a challenge, by which a home's own commands know it."
    )


class Readiness(BaseModel):
    status: Literal["ready", "not ready"]
    problems: dict[str, str] | None = Field(default=None, description="Why it cannot work, by part.")
    agents: dict[str, str] | None = Field(
        default=None, description="Agents that do not run, and why; the others go on."
    )
    configuration: dict[str, str] | None = Field(
        default=None,
        description="Files of the home that cannot be used as they are, and why. What was good stays in "
        "force; without a policy no tool runs.",
    )


@router.get("/healthz", response_model_exclude_none=True)
async def alive(platform: Here, challenge: Challenge = None) -> Alive:
    """Whether it answers at all."""
    return Alive(status="ok", proof=challenge and proof(platform.owner_token, challenge))


@router.get(
    "/readyz",
    response_model_exclude_none=True,
    responses={503: {"description": "Not ready; the body says what is missing to whoever has a key."}},
)
async def ready(platform: Here, request: Request, response: Response) -> Readiness:
    """Ready when the store answers and calls can be recorded. Agents that are away are named, not fatal.

    Whoever comes without a key learns the status and no more.
    """
    problems: dict[str, str] = {}
    try:
        async with asyncio.timeout(1):
            await platform.database.fetchval("SELECT 1")
    except (StewardError, TimeoutError) as error:
        problems["database"] = error.explain() if isinstance(error, StewardError) else "It did not answer."
    if not await asyncio.to_thread(platform.executions.has_room):
        why = platform.executions.problem() or "It cannot be written."
        problems["disk"] = f"{why} Free space on the disk of STEWARD_HOME."
    elif not platform.executions.accepting():
        problems["execution log"] = platform.executions.problem() or "It cannot be written."
    broken = await asyncio.to_thread(platform.broken_files)
    if unruled := platform.rules.problem():
        problems["policy"] = unruled
    if problems:
        response.status_code = 503
    status: Literal["ready", "not ready"] = "not ready" if problems else "ready"
    if not await known(request):
        return Readiness(status=status)
    agents = {
        agent.id: agent.problem or agent.state.value
        for agent in platform.orchestrator.lifecycle.statuses()
        if agent.state is not LifecycleState.RUNNING
    }
    return Readiness(status=status, problems=problems, agents=agents, configuration=broken)
