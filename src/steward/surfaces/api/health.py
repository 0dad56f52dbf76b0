"""Routes for whoever watches the process: is it alive, can it work."""

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from steward.contract.agent import LifecycleState
from steward.contract.errors import StewardError
from steward.surfaces.api.state import Here

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def alive() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"description": "Not ready; the body says what is missing."}})
async def ready(platform: Here, response: Response) -> dict[str, Any]:
    """Ready when the store answers and calls can be recorded. Agents that are away are named, not fatal."""
    problems: dict[str, str] = {}
    try:
        async with asyncio.timeout(1):
            await platform.database.fetchval("SELECT 1")
    except (StewardError, TimeoutError) as error:
        problems["database"] = error.explain() if isinstance(error, StewardError) else "It did not answer."
    if not platform.executions.accepting():
        problems["execution log"] = platform.executions.problem() or "It cannot be written."
    if problems:
        response.status_code = 503
    agents = {
        status.id: status.problem or status.state.value
        for status in platform.orchestrator.lifecycle.statuses()
        if status.state is not LifecycleState.RUNNING
    }
    return {"status": "not ready" if problems else "ready", "problems": problems, "agents": agents}
