"""Schedules: a request that an agent is given again and again, or once, later.

Pure, and the port to where they are kept. Owns what becomes of a schedule when it runs, is paused or its
owner moves. What was missed is not made up for run by run: it runs once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from steward.contract.errors import InputError
from steward.tasks.model import User, characters
from steward.tasks.notices import Notice
from steward.tasks.rhythm import Rhythm, next_run

MAX_REQUEST = 2000
MOST_SCHEDULES = 200  # of one user


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    id: str
    user_id: str
    request: str  # what the agent is asked, each time
    rhythm: Rhythm
    created_at: datetime
    agent: str | None = None
    when: str = ""  # as it was said
    next_at: datetime | None = None  # None: paused, or over
    paused: bool = False
    last_at: datetime | None = None
    time_zone: str = "UTC"  # the owner's

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)


class ScheduleStore(Protocol):
    async def add(self, schedule: Schedule) -> bool:
        """False when the user has as many as are allowed."""
        ...

    async def list(self, user_id: str) -> Sequence[Schedule]: ...

    async def get(self, user_id: str, schedule_id: str) -> Schedule | None: ...

    async def change(
        self, user_id: str, schedule_id: str, by: Callable[[Schedule], Schedule], *, done: str
    ) -> Schedule | None:
        """Change it while nobody else does; None when it is gone. `done`: what that was, in a word."""
        ...

    async def remove(self, user_id: str, schedule_id: str) -> Schedule | None: ...

    async def claim(self, schedule_id: str, due: datetime, *, now: datetime) -> "Claimed | None":
        """Take the run of this time, for exactly one caller ever; None when it is not to be run any more."""
        ...

    async def note_conversation(self, schedule_id: str, due: datetime, conversation: str) -> None:
        """Where the turn of this run is, before it does anything."""
        ...

    async def finish(
        self, schedule_id: str, due: datetime, *, notice: Notice, status: str, now: datetime
    ) -> Notice | None:
        """Write down how a run ended, with what its owner is told: the notice as kept, None if it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Claimed:
    schedule: Schedule
    again: bool = False  # it was begun before and never ended
    conversation: str | None = None  # where its turn was begun
    notice: Notice | None = None  # it was ended before: only its delivery may be missing


def read_request(text: str) -> str:
    request = " ".join(text.split())
    if "\0" in request or not 1 <= characters(request, limit=MAX_REQUEST) <= MAX_REQUEST:
        raise InputError(
            f"A schedule's request has 1 to {MAX_REQUEST} characters.",
            fix='Say what is to be done each time, such as "tell me what is due".',
        )
    return request


def first_run(schedule: Schedule, *, now: datetime) -> datetime:
    at = next_run(schedule.rhythm, after=now, zone=schedule.zone)
    if at is None:
        raise InputError(
            f"'{schedule.when[:80]}' has gone by.",
            fix="Say a time that is still to come, such as tomorrow at 8.",
        )
    return at


def paused(schedule: Schedule) -> Schedule:
    return replace(schedule, paused=True, next_at=None)


def resumed(schedule: Schedule, *, now: datetime) -> Schedule:
    if not schedule.paused:
        return schedule
    return replace(schedule, paused=False, next_at=next_run(schedule.rhythm, after=now, zone=schedule.zone))


def ran(schedule: Schedule, due: datetime, *, now: datetime) -> Schedule:
    """Its next time, once the run of `due` was taken."""
    following = next_run(schedule.rhythm, after=max(now, due), zone=schedule.zone)
    return replace(schedule, last_at=due, next_at=following)


def in_new_zone(schedule: Schedule, user: User, *, now: datetime) -> Schedule:
    """Its owner has moved: 8 is 8 where they are."""
    moved = replace(schedule, time_zone=user.time_zone)
    return (
        moved if moved.paused else replace(moved, next_at=next_run(moved.rhythm, after=now, zone=moved.zone))
    )
