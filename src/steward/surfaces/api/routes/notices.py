"""Routes on notices: what Steward told you of its own accord, as a list and as a stream of events.

    GET /v1/notices/stream    event: notice    data: {"event": "reminder", "id": ..., "title": ..., ...}

The stream begins with what was not seen yet. Whoever shows a notice to a person marks it as seen.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from steward.contract.errors import NotFoundError
from steward.surfaces.api.events import EVENTS, event
from steward.surfaces.api.identity import Admin, Reader, known
from steward.surfaces.api.paging import Limit
from steward.surfaces.api.routes.chat import SECONDS_BETWEEN_SIGNS, stream
from steward.surfaces.api.shapes import Strict
from steward.surfaces.api.state import Here
from steward.tasks.notices import Medium, Notice, payload
from steward.work.board import NoticeBoard

router = APIRouter(prefix="/v1", tags=["notices"])


class DeliveryShape(BaseModel):
    sent: bool
    tries: int
    at: datetime
    problem: str | None


class NoticeShape(BaseModel):
    event: str = Field(description="reminder, schedule or interrupted")
    id: str
    number: int
    user: str
    title: str
    text: str
    due: datetime
    made_at: datetime
    task_id: str | None
    schedule_id: str | None
    call_id: str | None = Field(description="The call that was interrupted; see GET /v1/executions.")
    conversation: str | None = Field(description="Where a schedule's turn can be read and gone on with.")
    proposal_id: str | None = Field(description="What waits for your yes.")
    seen_at: datetime | None
    deliveries: dict[str, DeliveryShape] = Field(description="How far it came, by medium.")

    @classmethod
    def of(cls, notice: Notice) -> "NoticeShape":
        told = {
            medium.value: DeliveryShape(sent=each.sent, tries=each.tries, at=each.at, problem=each.problem)
            for medium, each in notice.deliveries.items()
        }
        return cls(**payload(notice), deliveries=told)


class NoticeList(BaseModel):
    items: list[NoticeShape]
    next: str | None = None


class AddressBody(Strict):
    address: str = Field(
        default="", max_length=2000, examples=["ana@example.org"], description="Empty for the desktop."
    )


class AddressList(BaseModel):
    items: list[str] = Field(description="Media that have an address; addresses may hold tokens, and stay.")
    in_settings: list[str] = Field(description="Media that the settings of this program give besides.")
    next: str | None = None


@router.get("/notices")
async def list_notices(
    platform: Here,
    identity: Reader,
    *,
    unseen: Annotated[bool, Query(description="Only those that nobody has shown you yet.")] = False,
    newest: Annotated[bool, Query(description="The newest first, on one page.")] = False,
    limit: Limit = 50,
    after: Annotated[int, Query(ge=0, le=2**62, description="The previous page's `next`.")] = 0,
) -> NoticeList:
    """Yours, oldest first."""
    found = await platform.notices.board.store.list(
        identity.user, after=after, unseen=unseen, newest=newest, limit=limit
    )
    following = str(found[-1].number) if len(found) == limit and not newest else None
    return NoticeList(items=[NoticeShape.of(each) for each in found], next=following)


@router.get("/notices/stream", response_class=StreamingResponse, responses={200: {"content": EVENTS}})
async def follow_notices(platform: Here, identity: Reader, *, request: Request) -> StreamingResponse:
    """Each notice as it comes, beginning with those that were not seen. It ends with its key."""
    return stream(_events(platform.notices.board, identity.user, still=partial(known, request)))


async def _events(
    board: NoticeBoard, user: str, *, still: Callable[[], Awaitable[bool]]
) -> AsyncGenerator[bytes]:
    yield b": here\n\n"
    async with aclosing(board.follow(user)) as notices:
        coming: asyncio.Task[Notice | None] = asyncio.ensure_future(anext(notices, None))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=SECONDS_BETWEEN_SIGNS)
                if not await still():  # a stream lasts longer than the look at its key
                    return
                if not done:
                    yield b": waiting\n\n"
                    continue
                notice = coming.result()
                if notice is None:  # the board is closed: the program ends
                    return
                yield event("notice", payload(notice))
                coming = asyncio.ensure_future(anext(notices, None))
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


@router.post("/notices/{notice_id}/seen")
async def see_notice(platform: Here, identity: Reader, notice_id: str) -> NoticeShape:
    """It was shown to you, and need not be again."""
    store = platform.notices.board.store
    seen = await store.see(identity.user, notice_id.replace("\0", ""), at=datetime.now(UTC))
    if seen is None:
        raise NotFoundError(f"There is no notice '{notice_id[:80]}'.", fix="See GET /v1/notices.")
    return NoticeShape.of(seen)


@router.get("/users/{user_id}/addresses")
async def list_addresses(platform: Here, _: Admin, user_id: str) -> AddressList:
    """Where this user is told, beside the page and the terminal."""
    return await _addresses(platform, (await platform.tasks.users.get(user_id)).id)


@router.put("/users/{user_id}/addresses/{medium}")
async def put_address(
    platform: Here, _: Admin, user_id: str, medium: Medium, body: AddressBody
) -> AddressList:
    """Steward sends to it from this machine, so only an administrator sets it."""
    user = await platform.tasks.users.get(user_id)
    address = platform.notices.senders[medium].check(body.address.strip())
    await platform.notices.addresses.put(user.id, medium, address)
    return await _addresses(platform, user.id)


@router.delete("/users/{user_id}/addresses/{medium}")
async def remove_address(platform: Here, _: Admin, user_id: str, medium: Medium) -> AddressList:
    user = await platform.tasks.users.get(user_id)
    if not await platform.notices.addresses.remove(user.id, medium):
        raise NotFoundError(f"'{user.id}' has no address for {medium.value}.")
    return await _addresses(platform, user.id)


async def _addresses(platform: Here, user: str) -> AddressList:
    return AddressList(
        items=[medium.value for medium in await platform.notices.addresses.of(user)],
        in_settings=[medium.value for medium in platform.notices.postman.in_settings(user)],
    )
