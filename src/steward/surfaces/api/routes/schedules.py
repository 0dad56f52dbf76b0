"""Routes on schedules. Whose they are follows from the key."""

from datetime import UTC
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from steward.bootstrap.tools.schedule_tools import (
    ADD_SCHEDULE,
    CHANGE_SCHEDULE,
    REMOVE_SCHEDULE,
    schedule_shape,
)
from steward.contract.call import PendingApproval, ToolCall
from steward.surfaces.api.identity import Identity, Reader, Worker
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.shapes import Strict, ToolResultShape
from steward.surfaces.api.state import Here
from steward.tasks.schedules import Schedule

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])

WAITS: dict[int | str, dict[str, Any]] = {
    202: {"model": ToolResultShape, "description": "Waits for approval."}
}


class ScheduleShape(BaseModel):
    id: str
    request: str
    when: str = Field(description="Its times as they were said.")
    rule: str | None = Field(description="As an RRULE; null: it runs once.")
    agent: str | None
    next_at: str | None = Field(description="When it runs next; null: it is paused or over.")
    last_at: str | None
    paused: bool
    created_at: str

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleShape":
        return cls(**schedule_shape(schedule))


class ScheduleList(BaseModel):
    items: list[ScheduleShape]
    next: str | None = None


class NewScheduleBody(Strict):
    request: str = Field(description="What to do each time.", examples=["Tell me what is due."])
    when: str = Field(examples=["every weekday at 8", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9"])
    agent: str | None = Field(default=None, description="assistant (by default), tasks or researcher.")


class ScheduleChangeBody(Strict):
    """What is left out stays as it is."""

    request: str | None = None
    when: str | None = Field(default=None, examples=["every weekday at 9"])
    agent: str | None = None


@router.get("")
async def list_schedules(
    platform: Here, identity: Reader, limit: Limit = 1_000, after: After = None
) -> ScheduleList:
    """Yours, oldest first."""
    found = await platform.schedules.timetable.list(identity.user)
    page, following = cut(found, limit=limit, after=after, key=_place)
    return ScheduleList(items=[ScheduleShape.of(each) for each in page], next=following)


def _place(schedule: Schedule) -> str:
    return f"{schedule.created_at.astimezone(UTC).isoformat(timespec='microseconds')} {schedule.id}"


@router.post("", responses=WAITS)
async def add_schedule(
    platform: Here, identity: Worker, body: NewScheduleBody, *, response: Response
) -> ToolResultShape:
    """Have an agent do something at its times; you are told what came of it."""
    given = body.model_dump(exclude_none=True)
    return await _call(platform, identity, ADD_SCHEDULE, given, response=response)


@router.get("/{schedule_id}")
async def get_schedule(platform: Here, identity: Reader, schedule_id: str) -> ScheduleShape:
    return ScheduleShape.of(await platform.schedules.timetable.get(identity.user, schedule_id))


@router.patch("/{schedule_id}", responses=WAITS)
async def change_schedule(
    platform: Here, identity: Worker, schedule_id: str, body: ScheduleChangeBody, *, response: Response
) -> ToolResultShape:
    """What it does, or when."""
    given = {"schedule_id": schedule_id, **body.model_dump(exclude_none=True)}
    return await _call(platform, identity, CHANGE_SCHEDULE, given, response=response)


@router.post("/{schedule_id}/pause")
async def pause_schedule(platform: Here, identity: Worker, schedule_id: str) -> ScheduleShape:
    """It does not run until it is resumed."""
    return ScheduleShape.of(await platform.schedules.timetable.pause(identity.user, schedule_id))


@router.post("/{schedule_id}/resume")
async def resume_schedule(platform: Here, identity: Worker, schedule_id: str) -> ScheduleShape:
    """It runs again, at its next time; what it missed is not made up for."""
    return ScheduleShape.of(await platform.schedules.timetable.resume(identity.user, schedule_id))


@router.delete("/{schedule_id}", responses=WAITS)
async def remove_schedule(
    platform: Here, identity: Worker, schedule_id: str, *, response: Response
) -> ToolResultShape:
    """For good, so it waits for a person's yes (202)."""
    await platform.schedules.timetable.get(
        identity.user, schedule_id
    )  # nobody is asked about what is not there
    return await _call(platform, identity, REMOVE_SCHEDULE, {"schedule_id": schedule_id}, response=response)


async def _call(
    platform: Here, identity: Identity, tool: str, arguments: dict[str, Any], *, response: Response
) -> ToolResultShape:
    result = await platform.orchestrator.execute(
        ToolCall(tool=tool, arguments=arguments, caller=identity.caller, user=identity.user)
    )
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)
