"""Routes on users: who owns tasks here. Only an administrator sees and changes them."""

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from steward.contract.errors import ConflictError
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.shapes import Strict
from steward.surfaces.api.state import Here
from steward.tasks.model import User

router = APIRouter(prefix="/v1/users", tags=["users"])


class UserShape(BaseModel):
    id: str
    name: str
    time_zone: str

    @classmethod
    def of(cls, user: User) -> "UserShape":
        return cls(id=user.id, name=user.name, time_zone=user.time_zone)


class UserList(BaseModel):
    items: list[UserShape]
    next: str | None = None


class NewUserBody(Strict):
    id: str = Field(examples=["ana"])
    name: str | None = Field(default=None, examples=["Ana"])
    time_zone: str = Field(default="UTC", examples=["Europe/Berlin"])


class UserChangeBody(Strict):
    name: str | None = Field(default=None, examples=["Ana Lima"])
    time_zone: str | None = Field(default=None, examples=["America/Sao_Paulo"])


@router.get("")
async def list_users(platform: Here, _: Admin, limit: Limit = 50, after: After = None) -> UserList:
    """The people whose data is kept here, by id."""
    everyone = await platform.tasks.users.list()
    page, following = cut(everyone, limit=limit, after=after, key=lambda user: user.id)
    return UserList(items=[UserShape.of(user) for user in page], next=following)


@router.post("", status_code=201)
async def add_user(platform: Here, _: Admin, body: NewUserBody) -> UserShape:
    user = await platform.tasks.users.add(body.id, name=body.name, time_zone=body.time_zone)
    return UserShape.of(user)


@router.get("/{user_id}")
async def get_user(platform: Here, _: Admin, user_id: str) -> UserShape:
    return UserShape.of(await platform.tasks.users.get(user_id))


@router.patch("/{user_id}")
async def change_user(platform: Here, _: Admin, user_id: str, body: UserChangeBody) -> UserShape:
    user = await platform.tasks.users.change(user_id, name=body.name, time_zone=body.time_zone)
    return UserShape.of(user)


@router.delete("/{user_id}")
async def erase_user(
    platform: Here,
    _: Admin,
    user_id: str,
    *,
    confirm: str | None = Query(default=None, description="The user's id again: this cannot be taken back."),
) -> UserShape:
    """Erase a user with everything they own: tasks, history, facts, keys. For good."""
    if confirm != user_id:
        raise ConflictError(
            f"Erasing '{user_id}' takes everything they own and cannot be taken back.",
            fix=f"Repeat the id: DELETE /v1/users/{user_id}?confirm={user_id}",
        )
    return UserShape.of(await platform.erase_user(user_id))
