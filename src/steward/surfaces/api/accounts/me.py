"""Who the caller is to Steward: what a page needs before it can show anything."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from steward.surfaces.api.identity import Reader
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/me", tags=["me"])


class MeShape(BaseModel):
    name: str = Field(examples=["local"])
    role: Literal["read", "use", "approve", "admin"]
    user: str = Field(description="Whose tasks, memories and conversations these are.", examples=["local"])
    trace_viewer: str | None = Field(default=None, description="Where traces can be looked at, if anywhere.")


@router.get("")
async def me(platform: Here, identity: Reader) -> MeShape:
    """The holder of the key, or the person at this machine."""
    return MeShape.model_validate(
        {
            "name": identity.name,
            "role": identity.role.word,
            "user": identity.user,
            "trace_viewer": platform.settings.trace_viewer,
        }
    )
