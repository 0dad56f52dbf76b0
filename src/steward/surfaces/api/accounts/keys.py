"""Routes on keys: make, see, change, revoke. A key's token is shown once, when it is made."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from steward.policy.access import LOCAL_USER, Key, Role
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.shapes import Strict
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/keys", tags=["keys"])

RoleWord = Literal["read", "use", "approve", "admin"]


class NewKey(Strict):
    name: str = Field(min_length=1, max_length=64, examples=["laptop"])
    role: RoleWord = Field(default="use", description="Each role may do what those before it may.")
    user: str = Field(default=LOCAL_USER, min_length=1, max_length=64, description="Whose data it reaches.")


class KeyChangeBody(Strict):
    role: RoleWord = Field(description="What it may do from now on.", examples=["read"])


class KeyShape(BaseModel):
    id: str
    name: str
    role: RoleWord
    user: str
    created_at: datetime

    @classmethod
    def of(cls, key: Key) -> "KeyShape":
        return cls.model_validate(
            {
                "id": key.id,
                "name": key.name,
                "role": key.role.word,
                "user": key.user,
                "created_at": key.created_at,
            }
        )


class MadeKey(KeyShape):
    token: str = Field(description="Keep it now: only its hash is stored.")


class KeyList(BaseModel):
    items: list[KeyShape]
    next: str | None = None


@router.get("")
async def list_keys(platform: Here, _: Admin, limit: Limit = 50, after: After = None) -> KeyList:
    """By name. STEWARD_API_KEY is not among them: it is a setting."""
    page, following = cut(await platform.keys.list(), limit=limit, after=after, key=lambda key: key.name)
    return KeyList(items=[KeyShape.of(key) for key in page], next=following)


@router.post("", status_code=201)
async def add_key(platform: Here, body: NewKey, _: Admin) -> MadeKey:
    """From the first key on, nobody comes in without one."""
    key, token = await platform.keys.add(body.name, Role.parse(body.role), user=body.user)
    return MadeKey(**KeyShape.of(key).model_dump(), token=token)


@router.patch("/{id_or_name}")
async def change_key(
    platform: Here,
    id_or_name: Annotated[str, Path(description="A key's id or name.")],
    body: KeyChangeBody,
    _: Admin,
) -> KeyShape:
    """Let it do more or less, from the next request on. Its token stays."""
    return KeyShape.of(await platform.keys.change_role(id_or_name, Role.parse(body.role)))


@router.delete("/{id_or_name}", status_code=204)
async def revoke_key(
    platform: Here, id_or_name: Annotated[str, Path(description="A key's id or name.")], _: Admin
) -> Response:
    """It no longer opens anything, from the next request on."""
    await platform.keys.revoke(id_or_name)
    return Response(status_code=204)
