"""What Steward can do: tools with their forms and numbers."""

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from steward.contract.deciding import Always, Role
from steward.policy.approval import assess, needs_person
from steward.policy.lasting_rules import Lasting
from steward.surfaces.api.routes import executions, gaps, trust
from steward.surfaces.api.routes import tools as routes
from steward.surfaces.api.shapes import AcceptBody, ToolShape
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.display import measures
from steward.surfaces.web.display.fields import fields_of, read_arguments
from steward.surfaces.web.doing import call
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Administering, Reading, Sent, Using

router = APIRouter()

CALLS_COUNTED = 1_000
BARS = 40


@router.get("/tools")
async def show_tools(request: Request, identity: Reading, q: str = "") -> Response:
    platform = platform_of(request)
    everything = (await routes.list_tools(platform, identity)).items
    found: Sequence[ToolShape] = everything
    if q.strip():
        found = (await routes.search_tools(platform, identity, q=q.strip()[:4_000], limit=20)).items
    by_agent: dict[str, list[ToolShape]] = {}
    for tool in found:
        by_agent.setdefault(tool.agent if not q.strip() else "What fits, best first", []).append(tool)
    missing = await gaps.list_gaps(platform, identity, limit=10)
    return await page(
        request,
        identity,
        "tools.html",
        title="Tools",
        here="tools",
        q=q,
        groups=by_agent,
        held=[tool for tool in everything if tool.blocked],
        count=len(everything),
        gaps=missing.items,
    )


@router.get("/tools/{name}")
async def show_tool(request: Request, identity: Reading, name: str) -> Response:
    platform = platform_of(request)
    tool = await routes.get_tool(platform, name, identity)
    registered = platform.orchestrator.registry.get(name)
    spec = registered.spec
    log = await executions.list_executions(platform, identity, tool=tool.name, limit=CALLS_COUNTED)
    assessed = assess(spec, {}, platform.rules.known, user=identity.user)
    held = Lasting(spec=spec, arguments={}, user=None, asks_always=registered.agent_requires_approval)
    lasting = held.rule_for_yes(Always.TOOL, platform.rules.known)
    asks = needs_person(assessed, confidence=1.0, agent_requires_approval=registered.agent_requires_approval)
    ended = [line for line in log.items if line.status in ("done", "failed")]
    return await page(
        request,
        identity,
        "tool.html",
        title=tool.name,
        here="tools",
        tool=tool,
        editable=tool.entry is not None and identity.role >= Role.ADMIN,
        fields=fields_of(tool.input_schema, {"user_id": identity.user}),
        why=assessed.reasons,
        asks=asks is not None,
        may_trust=asks is not None and not isinstance(lasting, str),
        fared=next(iter(measures.fared(ended)), None),
        bars=measures.bars(ended[:BARS]),
    )


@router.post("/tools/{name}/try")
async def try_it(request: Request, identity: Using, form: Sent, name: str) -> Response:
    """Through the door as anybody's call: what must ask, asks."""
    tool = await routes.get_tool(platform_of(request), name, identity)
    result = await call(request, identity, tool.name, read_arguments(fields_of(tool.input_schema), form))
    return part("tried.html", result=result)


@router.post("/tools/{name}/accept")
async def accept(request: Request, identity: Administering, form: Sent, name: str) -> Response:
    await routes.accept_tool(platform_of(request), name, identity, AcceptBody(shown=form["shown"] or None))
    return Response(
        status_code=204, headers=told(f"{name} is accepted as it is now.") | {"HX-Location": "/tools"}
    )


@router.post("/tools/{name}/trust")
async def trust_it(request: Request, identity: Administering, name: str) -> Response:
    await trust.trust_tool(platform_of(request), name, identity)
    return Response(
        status_code=204,
        headers=told(f"{name} runs without asking from now on.") | {"HX-Location": f"/tools/{name}"},
    )
