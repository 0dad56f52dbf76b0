"""The workspace's rules: what asks and what is trusted, and the file that says so."""

from fastapi import APIRouter, Request, Response

from steward.surfaces.api.routes import policy as routes
from steward.surfaces.api.routes.policy import PolicyBody, ReplayBody
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Administering, Approving, Reading, Sent

router = APIRouter()


@router.get("/policy")
async def show_policy(request: Request, identity: Reading) -> Response:
    rules = await routes.get_policy(platform_of(request), identity)
    return await page(request, identity, "policy.html", title="Policy", here="policy", policy=rules)


@router.post("/policy")
async def write_policy(request: Request, identity: Administering, form: Sent) -> Response:
    text, before = (form[name].replace("\r\n", "\n") for name in ("text", "before"))
    await routes.put_policy(platform_of(request), PolicyBody(text=text, before=before), identity)
    return Response(
        status_code=204, headers=told("Written. It holds from the next call on.") | {"HX-Location": "/policy"}
    )


@router.post("/policy/replay")
async def replay_policy(request: Request, identity: Administering, form: Sent) -> Response:
    """Which recorded calls the text in the form would decide otherwise."""
    body = ReplayBody(text=form["text"].replace("\r\n", "\n"))
    found = await routes.replay_policy(platform_of(request), body, identity)
    return part("replayed.html", found=found)


@router.post("/policy/rules/{rule_id}/remove")
async def remove_rule(request: Request, identity: Approving, rule_id: str) -> Response:
    await routes.remove_rule(platform_of(request), rule_id, identity)
    said = told("Removed. It holds from the next call on.")
    return Response(status_code=204, headers=said | {"HX-Location": "/policy"})
