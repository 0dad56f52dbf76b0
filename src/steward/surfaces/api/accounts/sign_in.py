"""One-time addresses that sign a browser in: made here, used at the page's gate (web/gate.py)."""

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from steward.contract.errors import NotFoundError
from steward.surfaces.api.identity import Reader, bearer
from steward.surfaces.web.visits import LINK_SECONDS, SignInLinks

router = APIRouter(prefix="/v1/sign-in-links", tags=["me"])


class SignInLink(BaseModel):
    path: str = Field(description="Open it in a browser, once.", examples=["/sign-in?code=…"])
    expires_at: datetime


@router.post("", status_code=201)
async def make_sign_in_link(request: Request, _: Reader) -> SignInLink:
    """An address that signs one browser in, once, as whoever asks for it here."""
    links: SignInLinks | None = request.app.state.links
    key = bearer(request)
    if links is None or key is None:
        raise NotFoundError("This Steward serves no page.", fix="Start 'steward up' without --no-page.")
    until = datetime.now(UTC) + timedelta(seconds=LINK_SECONDS)
    return SignInLink(path=links.make(key), expires_at=until)
