"""Routes for whoever watches the process: is it alive, can it work."""

import asyncio
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from steward.contract.agent import LifecycleState
from steward.contract.errors import StewardError
from steward.surfaces.api.state import Here
from steward.surfaces.instance import fingerprint

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    status: Literal["ok"]
    instance: str = Field(
        description="Tells one running Steward from another.", examples=["9f86d081884c7d65"]
    )


class Readiness(BaseModel):
    status: Literal["ready", "not ready"]
    problems: dict[str, str] = Field(description="Why it cannot work, by part.")
    agents: dict[str, str] = Field(description="Agents that do not run, and why; the others go on.")
    configuration: dict[str, str] = Field(
        description="Files of the home that cannot be used as they are, and why. What was good stays in "
        "force; without a policy no tool runs."
    )


@router.get("/healthz")
async def alive(request: Request) -> Alive:
    """Whether it answers at all."""
    return Alive(status="ok", instance=fingerprint(request.app.state.local_token))


@router.get("/readyz", responses={503: {"description": "Not ready; the body says what is missing."}})
async def ready(platform: Here, response: Response) -> Readiness:
    """Ready when the store answers and calls can be recorded. Agents that are away are named, not fatal."""
    problems: dict[str, str] = {}
    try:
        async with asyncio.timeout(1):
            await platform.database.fetchval("SELECT 1")
    except (StewardError, TimeoutError) as error:
        problems["database"] = error.explain() if isinstance(error, StewardError) else "It did not answer."
    if not platform.executions.accepting():
        problems["execution log"] = platform.executions.problem() or "It cannot be written."
    broken = await asyncio.to_thread(platform.broken_files)
    if unruled := platform.rules.problem():
        problems["policy"] = unruled
    if problems:
        response.status_code = 503
    agents = {
        status.id: status.problem or status.state.value
        for status in platform.orchestrator.lifecycle.statuses()
        if status.state is not LifecycleState.RUNNING
    }
    return Readiness(
        status="not ready" if problems else "ready",
        problems=problems,
        agents=agents,
        configuration=broken,
    )
