"""Routes for whoever looks at how calls went: one trace, and the numbers for Prometheus."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from steward.bootstrap import Platform
from steward.contract.errors import NotFoundError, StewardError
from steward.contract.release import release
from steward.storage.jobs import count_jobs
from steward.storage.proposals import count_waiting
from steward.surfaces.api.identity import Reader
from steward.surfaces.api.state import Here
from steward.telemetry.metrics import CONTENT_TYPE, OPENMETRICS_TYPE, Numbers, PoolUse, render_prometheus
from steward.telemetry.spans import read_trace, spans_of

router = APIRouter(tags=["traces"])


class SpanList(BaseModel):
    items: list[dict[str, Any]]
    next: str | None = None


@router.get("/v1/traces/{trace_id}")
async def get_trace(platform: Here, trace_id: str, identity: Reader) -> SpanList:
    """The spans of a trace, oldest first, by its trace id or by a call's id or correlation id.

    Only what was done for you; an administrator sees everything.
    """
    spans = await asyncio.to_thread(read_trace, platform.settings.logs_folder, trace_id)
    if identity.only is not None:
        spans = spans_of(spans, identity.only)
    if not spans:
        raise NotFoundError(
            f"There is no trace '{trace_id}'.",
            fix="Use a trace id or a call's correlation id; the newest spans take a moment to be written.",
        )
    return SpanList(items=spans)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(platform: Here, request: Request, _: Reader) -> Response:
    """Requests, turns, calls by agent and tool, waiting proposals, jobs, the database and the process.

    As OpenMetrics (by its `Accept`) with the latest trace of each bucket.
    """
    door = platform.orchestrator.metrics
    size, used, queued = platform.database.use()
    waiting, jobs, late = await _of_the_database(platform)
    numbers = Numbers(
        tools=door.snapshot,
        abandoned=door.abandoned,
        requests=request.app.state.requests,
        turns=platform.tracer.turns,
        proposals_waiting=waiting,
        jobs=jobs,
        job_wait=late,
        database=PoolUse(size=size, used=used, waiting=queued),
        version=release(),
        process=True,
    )
    openmetrics = "application/openmetrics-text" in request.headers.get("accept", "")
    body = await asyncio.to_thread(render_prometheus, numbers, openmetrics=openmetrics)
    return Response(body, media_type=OPENMETRICS_TYPE if openmetrics else CONTENT_TYPE)


async def _of_the_database(
    platform: Platform,
) -> tuple[int | None, dict[str, int] | None, float | None]:
    """None where the database does not answer: the other numbers are worth having then."""
    try:
        return await count_waiting(platform.database), *await count_jobs(platform.database)
    except StewardError:
        return None, None, None
