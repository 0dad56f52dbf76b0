"""Routes on browsers that are signed in: see them, end one."""

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from steward.contract.errors import NotFoundError
from steward.surfaces.api.identity import Identity, Reader
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.web.visits import VISITS, OpenVisit

router = APIRouter(prefix="/v1/visits", tags=["me"])


class VisitShape(BaseModel):
    id: str
    name: str = Field(description="Of the key it acts with.")
    user: str
    browser: str = Field(description="As it calls itself.")
    began_at: datetime
    idle_seconds: float


class VisitList(BaseModel):
    items: list[VisitShape]
    next: str | None = None


@router.get("")
async def list_visits(identity: Reader, limit: Limit = 1_000, after: After = None) -> VisitList:
    """Those of your key, the latest first; an administrator sees everybody's."""
    found, following = cut(VISITS.open(_whose(identity)), limit=limit, after=after, key=_place)
    return VisitList(
        items=[
            VisitShape(
                id=each.id,
                name=each.name,
                user=each.user,
                browser=each.browser,
                began_at=each.began_at,
                idle_seconds=round(each.idle_seconds, 1),
            )
            for each in found
        ],
        next=following,
    )


def _place(visit: OpenVisit) -> str:
    """The latest first: what sorts before is later."""
    return f"{2**40 - visit.began_at.timestamp():020.6f} {visit.id}"


@router.delete("/{visit_id}", status_code=204)
async def end_visit(identity: Reader, visit_id: str) -> Response:
    """Sign that browser out, from its next request on."""
    if not VISITS.end(visit_id, _whose(identity)):
        raise NotFoundError(f"There is no visit '{visit_id[:80]}'.", fix="List them: GET /v1/visits.")
    return Response(status_code=204)


def _whose(identity: Identity) -> str | None:
    return None if identity.only is None else identity.name
