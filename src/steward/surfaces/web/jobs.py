"""Work that outlives its request: how far it is, what was given up, and cancelling or trying again."""

from fastapi import APIRouter, Request, Response

from steward.contract.jobs import JobState
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import jobs as routes
from steward.surfaces.api.routes.jobs import JobId, JobList
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.rendering import listing, part, told
from steward.surfaces.web.visitor import Reading, Using

router = APIRouter()

PAGE = 50
STATES = {
    "": "Any state",
    "waiting": "Waiting",
    "running": "Running",
    "failed": "Given up",
    "cancelled": "Cancelled",
    "done": "Done",
}


async def _listed(request: Request, identity: Identity, state: str, after: str | None) -> JobList:
    states = [JobState(state)] if state in STATES and state else None
    return await routes.list_jobs(platform_of(request), identity, state=states, limit=PAGE, after=after)


@router.get("/jobs")
async def show_jobs(
    request: Request, identity: Reading, state: str = "", after: str | None = None
) -> Response:
    found = await _listed(request, identity, state, after)
    return await listing(request, identity, "jobs", found, state=state, after=after, states=STATES)


@router.get("/jobs/list")
async def list_jobs(
    request: Request, identity: Reading, state: str = "", after: str | None = None
) -> Response:
    return await _list_again(request, identity, state=state, after=after)


@router.post("/jobs/{job_id}/cancel")
async def cancel(request: Request, identity: Using, job_id: JobId, state: str = "") -> Response:
    job = await routes.cancel_job(platform_of(request), job_id, identity)
    words = "It was asked to stop." if job.stopping else "Cancelled. What it did until then stays."
    return await _list_again(request, identity, state=state, headers=told(words))


@router.post("/jobs/{job_id}/retry")
async def retry(request: Request, identity: Using, job_id: JobId, state: str = "") -> Response:
    await routes.retry_job(platform_of(request), job_id, identity)
    return await _list_again(request, identity, state=state, headers=told("It waits for a worker again."))


async def _list_again(
    request: Request,
    identity: Identity,
    *,
    state: str,
    after: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    found = await _listed(request, identity, state, after)
    return part("jobs_list.html", headers=headers, me=identity, items=found.items, state=state, after=after)
