"""Routes for whoever looks at how calls went: one trace, and the numbers for Prometheus."""

import asyncio
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from steward.contract.errors import NotFoundError
from steward.surfaces.api.identity import Reader
from steward.surfaces.api.state import Here
from steward.telemetry.metrics import CONTENT_TYPE, render_prometheus
from steward.telemetry.spans import read_trace

router = APIRouter(tags=["traces"])


class SpanList(BaseModel):
    items: list[dict[str, Any]]
    next: str | None = None


@router.get("/v1/traces/{trace_id}")
async def get_trace(platform: Here, trace_id: str, _: Reader) -> SpanList:
    """The spans of a trace, oldest first, by its trace id or by a call's id or correlation id."""
    spans = await asyncio.to_thread(read_trace, platform.settings.logs_folder, trace_id)
    if not spans:
        raise NotFoundError(
            f"There is no trace '{trace_id}'.",
            fix="Use a trace id or a call's correlation id; the newest spans take a moment to be written.",
        )
    return SpanList(items=spans)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(platform: Here, _: Reader) -> Response:
    """Calls, failures and latencies by agent and tool."""
    numbers = platform.orchestrator.metrics
    body = await asyncio.to_thread(render_prometheus, numbers.snapshot, abandoned=lambda: numbers.abandoned)
    return Response(body, media_type=CONTENT_TYPE)
