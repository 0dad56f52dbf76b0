"""Routes on tools: what there is, and calling one."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from steward.bootstrap.jobs import queue_call
from steward.contract.call import Failed, PendingApproval, ToolCall, new_id
from steward.contract.errors import ConflictError, ErrorCode
from steward.contract.pins import AcceptingAgent
from steward.providers.scripts.script_agent import AGENT_ID as PYTHON_TOOLS
from steward.selection.definitions import tokens
from steward.surfaces.api.events import EVENT_STREAM, EVENTS, ProgressFeed, streamed
from steward.surfaces.api.identity import Admin, Reader, Worker
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.problems import problem
from steward.surfaces.api.routes.jobs import QueuedJob
from steward.surfaces.api.shapes import (
    AcceptBody,
    CallBody,
    FoundTool,
    FoundTools,
    ToolList,
    ToolResultShape,
    ToolShape,
)
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/tools", tags=["tools"])

# Failures that are not the tool's own: nothing ran, and the HTTP status says why.
REFUSALS = {ErrorCode.TOOL_NOT_FOUND: 404, ErrorCode.INVALID_ARGUMENTS: 422, ErrorCode.RECORD_FAILED: 503}


@router.get("")
async def list_tools(
    platform: Here,
    _: Reader,
    *,
    namespace: str | None = None,
    category: str | None = None,
    agent: str | None = None,
    limit: Limit = 1_000,
    after: After = None,
) -> ToolList:
    """Every tool, by name."""
    found = platform.orchestrator.registry.select(namespace=namespace, category=category, agent=agent)
    page, following = cut(found, limit=limit, after=after, key=lambda tool: tool.spec.name)
    return ToolList(items=[ToolShape.of(tool, platform.rating(tool.spec)) for tool in page], next=following)


@router.get("/search")
async def search_tools(
    platform: Here,
    _: Reader,
    *,
    q: Annotated[str, Query(min_length=1, max_length=4_000, description="What is to be done, in words.")],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> FoundTools:
    """The tools that fit a request, best first."""
    known = {tool.spec.name: tool for tool in platform.orchestrator.registry if tool.available}
    specs = [tool.spec for tool in known.values()]
    found = await asyncio.to_thread(platform.ranker.rank, q, specs, limit=limit)
    shapes = [
        (ToolShape.of(known[ranked.tool.name], platform.rating(ranked.tool)), ranked.score)
        for ranked in found
    ]
    return FoundTools(
        items=[FoundTool(**shape.model_dump(), score=score) for shape, score in shapes],
        searched=len(specs),
        tokens_saved=tokens(specs) - tokens([ranked.tool for ranked in found]),
        incomplete=platform.search.incomplete(),
    )


@router.get("/{name}")
async def get_tool(platform: Here, name: str, identity: Reader) -> ToolShape:
    """With its entry in tools.json, which may hold keys, for an administrator."""
    tool = platform.orchestrator.registry.get(name)
    shown = identity.only is None and tool.agent_id == PYTHON_TOOLS
    local = platform.writer.entry(tool.spec.name) if shown else None
    return ToolShape.of(tool, platform.rating(tool.spec), entry=local and local.shape())


@router.post(
    "/{name}/call",
    responses={
        200: {"content": EVENTS},
        202: {"model": ToolResultShape | QueuedJob, "description": "Waits for approval, or for a worker."},
    },
    response_model=ToolResultShape,
)
async def call_tool(
    platform: Here, name: str, body: CallBody, identity: Worker, *, request: Request, response: Response
) -> Any:
    """Call a tool through the one door. 202: it waits for a person; 200 with `success: false`: it failed.

    With `Accept: text/event-stream` the answer is a stream: `progress {done, total, message}` as it comes,
    then `result` with the same shape.
    """
    in_stream = EVENT_STREAM in request.headers.get("accept", "") and not body.background
    feed = ProgressFeed() if in_stream else None
    call = ToolCall(
        tool=name,
        arguments=body.arguments,
        caller=identity.caller,
        user=identity.user,
        timeout=body.timeout,
        correlation_id=body.correlation_id or request.scope.get("request_id") or new_id(),
        channel=feed,
    )
    if body.background:
        job = await queue_call(platform.work, platform.orchestrator, call)
        return JSONResponse(QueuedJob(job=str(job)).model_dump(), status_code=202)
    if feed is not None:
        work = asyncio.create_task(platform.orchestrator.execute(call))
        return streamed(work, feed)
    result = await platform.orchestrator.execute(call)
    if isinstance(result, Failed) and (status := _refusal(result.code)):
        return refused(status, result, request)
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)


@router.post("/{name}/accept")
async def accept_tool(platform: Here, name: str, _: Admin, body: AcceptBody | None = None) -> ToolShape:
    """Take a server's tool as it is defined now, for everybody, after a person has read what changed."""
    tool = platform.orchestrator.registry.get(name)
    if not isinstance(tool.agent, AcceptingAgent):
        raise ConflictError(
            f"'{name}' is not a server's tool: there is nothing to accept.",
            fix="Only definitions from MCP servers wait to be accepted.",
        )
    await tool.agent.accept(tool.spec.name, shown=None if body is None else body.shown)
    tool = platform.orchestrator.registry.get(name)
    return ToolShape.of(tool, platform.rating(tool.spec))


def _refusal(code: str) -> int | None:
    return next((status for known, status in REFUSALS.items() if code == known), None)


def refused(status: int, result: Failed, request: Request) -> Any:
    return problem(
        status,
        result.error,
        code=result.code,
        retryable=result.retryable,
        call_id=result.call_id,
        correlation_id=result.correlation_id,
        request_id=request.scope.get("request_id"),
    )
