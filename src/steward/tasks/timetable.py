"""What a person may do with schedules: add, see, change, pause, go on, remove.

Owns validation and the errors. Holds no state; running them is the room `work`'s.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from steward.contract.call import new_id
from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.tasks.rhythm import read_rhythm
from steward.tasks.schedules import (
    MOST_SCHEDULES,
    Schedule,
    ScheduleStore,
    first_run,
    paused,
    read_request,
    resumed,
)
from steward.tasks.users import Users

Ring = Callable[[Schedule], Awaitable[None]]


class Timetable:
    def __init__(
        self,
        *,
        store: ScheduleStore,
        users: Users,
        ring: Ring,
        agents: Collection[str],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`ring` hears of each next run that was set."""
        self._store = store
        self._users = users
        self._ring = ring
        self._agents = agents
        self._now = now

    async def add(self, user_id: str, *, request: str, when: str, agent: str | None = None) -> Schedule:
        self._require_agent(agent)
        user, now = await self._users.get(user_id), self._now()
        schedule = Schedule(
            id=new_id()[:12],
            user_id=user.id,
            request=read_request(request),
            agent=agent,
            when=_said(when),
            rhythm=read_rhythm(when, now=now, zone=user.zone),
            created_at=now,
            time_zone=user.time_zone,
        )
        schedule = replace(schedule, next_at=first_run(schedule, now=now))
        if not await self._store.add(schedule):
            raise ConflictError(
                f"There are {MOST_SCHEDULES} schedules already.", fix="Remove one: 'steward schedules list'."
            )
        await self._ring(schedule)
        return schedule

    async def list(self, user_id: str) -> Sequence[Schedule]:
        return await self._store.list(user_id)

    async def get(self, user_id: str, schedule_id: str) -> Schedule:
        found = await self._store.get(user_id, schedule_id.replace("\0", ""))
        if found is None:
            raise _missing(schedule_id)
        return found

    async def pause(self, user_id: str, schedule_id: str) -> Schedule:
        return await self._changed(user_id, schedule_id, paused, done="paused")

    async def resume(self, user_id: str, schedule_id: str) -> Schedule:
        def again(schedule: Schedule) -> Schedule:
            return resumed(schedule, now=self._now())

        return await self._changed(user_id, schedule_id, again, done="resumed")

    async def edit(
        self,
        user_id: str,
        schedule_id: str,
        *,
        request: str | None = None,
        when: str | None = None,
        agent: str | None = None,
    ) -> Schedule:
        """What is given changes, the rest stays; its next time is reckoned anew only where its times are."""
        if request is None and when is None and agent is None:
            raise InputError("Nothing would change.", fix="Give a request, its times or an agent.")
        self._require_agent(agent)
        asked = None if request is None else read_request(request)
        now, zone = self._now(), (await self._users.get(user_id)).zone
        rhythm = None if when is None else read_rhythm(when, now=now, zone=zone)

        def edited(schedule: Schedule) -> Schedule:
            schedule = replace(schedule, request=asked or schedule.request, agent=agent or schedule.agent)
            if when is None or rhythm is None:
                return schedule
            schedule = replace(schedule, when=_said(when), rhythm=rhythm)
            at = first_run(schedule, now=now)
            return schedule if schedule.paused else replace(schedule, next_at=at)

        return await self._changed(user_id, schedule_id, edited, done="changed")

    async def remove(self, user_id: str, schedule_id: str) -> Schedule:
        removed = await self._store.remove(user_id, schedule_id.replace("\0", ""))
        if removed is None:
            raise _missing(schedule_id)
        return removed

    async def _changed(
        self, user_id: str, schedule_id: str, by: Callable[[Schedule], Schedule], *, done: str
    ) -> Schedule:
        schedule = await self._store.change(user_id, schedule_id.replace("\0", ""), by, done=done)
        if schedule is None:
            raise _missing(schedule_id)
        await self._ring(schedule)
        return schedule

    def _require_agent(self, agent: str | None) -> None:
        if agent is not None and agent not in self._agents:
            raise InputError(
                f"There is no agent '{agent[:80]}'.", fix=f"Choose one of {', '.join(self._agents)}."
            )


def _said(when: str) -> str:
    return " ".join(when.split())[:200]


def _missing(schedule_id: str) -> NotFoundError:
    return NotFoundError(f"There is no schedule '{schedule_id[:80]}'.", fix="See 'steward schedules list'.")
