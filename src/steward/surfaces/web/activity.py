"""What was run, when and with what result; one run as a waterfall of its spans; and all of it as a file."""

from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from steward.contract.errors import NotFoundError
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import executions, tools, traces
from steward.surfaces.api.shapes import ExecutionList
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.display import waterfall
from steward.surfaces.web.rendering import listing, page
from steward.surfaces.web.visitor import Reading

router = APIRouter()

STATUSES = {
    "": "Any result",
    "done": "Done",
    "failed": "Failed",
    "pending_approval": "Waits for a yes",
    "running": "Running",
    "interrupted": "Interrupted",
}
SINCE = {"": "Any time", "1": "Last hour", "24": "Last day", "168": "Last week"}
PAGE = 50
EXPORTED_AT_ONCE = 1_000
MOST_CALLS = 1_000  # of one run
CORRELATION = "correlation_id"


@dataclass(frozen=True, slots=True)
class ActivityFilters:
    """What the address asks for; an unknown word asks for nothing."""

    tool: str = ""
    status: str = ""
    since: str = ""
    caller: str = ""
    reads: str = ""  # also what the page only read to show it

    @property
    def any(self) -> bool:
        return bool(self.tool or self.status or self.since or self.caller)

    async def found(
        self, request: Request, identity: Identity, *, limit: int, after: str | None
    ) -> ExecutionList:
        hours = int(self.since) if self.since in SINCE and self.since else None
        return await executions.list_executions(
            platform_of(request),
            identity,
            tool=self.tool or None,
            status=self.status if self.status in STATUSES and self.status else None,
            since=None if hours is None else datetime.now(UTC) - timedelta(hours=hours),
            caller=self.caller or None,
            incidental=bool(self.reads),
            limit=limit,
            after=after,
        )


Wanted = Annotated[ActivityFilters, Depends()]


@router.get("/activity")
async def show_activity(
    request: Request, identity: Reading, wanted: Wanted, *, after: str | None = None
) -> Response:
    platform = platform_of(request)
    found = await wanted.found(request, identity, limit=PAGE, after=after)
    known = await tools.list_tools(platform, identity)
    return await listing(
        request,
        identity,
        "activity",
        found,
        after=after,
        wanted=wanted,
        filters=asdict(wanted),
        statuses=STATUSES,
        sinces=SINCE,
        tools=[each.name for each in known.items],
        callers=await platform.record.callers(identity.only),
    )


@router.get("/activity/export")
async def export(request: Request, identity: Reading, wanted: Wanted) -> Response:
    """What the filters leave, a JSON object a line."""

    async def lines() -> AsyncGenerator[bytes]:
        after: str | None = None
        while True:
            found = await wanted.found(request, identity, limit=EXPORTED_AT_ONCE, after=after)
            for line in found.items:
                yield line.model_dump_json(exclude_unset=True).encode() + b"\n"
            after = found.next
            if after is None:
                return

    name = f"steward-activity-{datetime.now(UTC):%Y-%m-%d}.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


@router.get("/activity/{run}")
async def show_run(request: Request, identity: Reading, run: str) -> Response:
    """By a trace's id, or a call's: its spans where this instance has them, and its calls from the record."""
    platform = platform_of(request)
    problem = ""
    try:
        spans = (await traces.get_trace(platform, run, identity)).items
    except NotFoundError as error:
        spans, problem = [], error.explain()
    named = next(
        (each["attributes"][CORRELATION] for each in spans if CORRELATION in each["attributes"]), run
    )
    lines = (await executions.list_executions(platform, identity, run=named, limit=MOST_CALLS)).items
    steps = waterfall.steps(spans, lines)
    if not steps:
        return await page(request, identity, "no_run.html", title="One run", here="activity", words=problem)
    return await page(
        request,
        identity,
        "run.html",
        title="One run",
        here="activity",
        run=run,
        goes_on=any(line.status == "running" for line in lines),
        trace=spans[0]["trace_id"] if spans else None,
        began=min(steps, key=lambda each: each["start_ns"])["at"],
        rows=waterfall.rows(steps, lines),
        total=waterfall.total_ms(steps),
    )
