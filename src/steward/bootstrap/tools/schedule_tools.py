"""Schedules behind the door: `add_schedule` for agents and people, the others for people."""

from typing import Any

from steward.contract.call import current_call
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.policy.access import LOCAL_USER
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.tasks.schedules import Schedule
from steward.tasks.timetable import Timetable

SCHEDULES_AGENT = "schedules"
ADD_SCHEDULE = "add_schedule"
CHANGE_SCHEDULE = "change_schedule"
REMOVE_SCHEDULE = "remove_schedule"
_TEXT = {"type": "string"}
_MAYBE = {"type": ["string", "null"]}
SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("id", "request", "when", "created_at"), _TEXT),
        **dict.fromkeys(("agent", "rule", "next_at", "last_at"), _MAYBE),
        "paused": {"type": "boolean"},
    },
    "required": ["id", "request", "when", "next_at", "paused"],
}


def schedules_agent(timetable: Timetable) -> LegacyToolAgent:
    return LegacyToolAgent(
        SCHEDULES_AGENT,
        [_add(timetable), _change(timetable), _remove(timetable)],
        name="Schedules",
        capabilities=("schedules",),
    )


def schedule_shape(schedule: Schedule) -> dict[str, Any]:
    def local(at: Any) -> str | None:
        return None if at is None else at.astimezone(schedule.zone).isoformat()

    return {
        "id": schedule.id,
        "request": schedule.request,
        "when": schedule.when,
        "rule": schedule.rhythm.rule,
        "agent": schedule.agent,
        "next_at": local(schedule.next_at),
        "last_at": local(schedule.last_at),
        "paused": schedule.paused,
        "created_at": schedule.created_at.isoformat(),
    }


def _user() -> str:
    call = current_call.get()
    return (call.user if call else None) or LOCAL_USER


def _add(timetable: Timetable) -> FunctionTool:
    async def add(request: str, when: str, agent: str | None = None) -> dict[str, Any]:
        return schedule_shape(await timetable.add(_user(), request=request, when=when, agent=agent))

    return FunctionTool(
        ToolSpec(
            name=ADD_SCHEDULE,
            description="Have an agent do something again and again, or once at a later time, and tell the "
            "person what came of it. Prefer add_task for a plain reminder of something that the person does.",
            input_schema={
                "type": "object",
                "properties": {
                    "request": {
                        "type": "string",
                        "description": "What to do each time, said to the agent: tell me what is due.",
                    },
                    "when": {
                        "type": "string",
                        "description": 'When: "every weekday at 8", "every 2 hours", "tomorrow at 7", or an '
                        "RRULE such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9.",
                    },
                    "agent": {
                        "type": ["string", "null"],
                        "description": "Who does it: assistant (by default), tasks or researcher.",
                    },
                },
                "required": ["request", "when"],
                "additionalProperties": False,
            },
            output_schema=SHAPE,
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=False, idempotent=False, open_world=False),
            examples=(
                "Every weekday at 8 tell me what is due.",
                "Each Monday at 9 send me a summary of my tasks.",
            ),
            category="schedules",
        ),
        add,
    )


def _change(timetable: Timetable) -> FunctionTool:
    async def change(
        schedule_id: str, request: str | None = None, when: str | None = None, agent: str | None = None
    ) -> dict[str, Any]:
        return schedule_shape(
            await timetable.edit(_user(), schedule_id, request=request, when=when, agent=agent)
        )

    def maybe(description: str) -> dict[str, Any]:
        return {**_MAYBE, "description": description}

    return FunctionTool(
        ToolSpec(
            name=CHANGE_SCHEDULE,
            description="Change what a schedule does, or when. What is left out stays as it is. "
            "Use it instead of update_task for what an agent does at set times.",
            input_schema={
                "type": "object",
                "properties": {
                    "schedule_id": {"type": "string", "description": "The schedule."},
                    "request": maybe("What to do each time."),
                    "when": maybe('Its new times: "every weekday at 8", or an RRULE.'),
                    "agent": maybe("Who does it: assistant, tasks or researcher."),
                },
                "required": ["schedule_id"],
                "additionalProperties": False,
            },
            output_schema=SHAPE,
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
            category="schedules",
        ),
        change,
    )


def _remove(timetable: Timetable) -> FunctionTool:
    async def remove(schedule_id: str) -> dict[str, Any]:
        return schedule_shape(await timetable.remove(_user(), schedule_id))

    async def tell(schedule_id: str) -> str | None:
        found = await timetable.get(_user(), schedule_id)
        return f'removes the schedule "{found.request}" ({found.when}) with what it told'

    return FunctionTool(
        ToolSpec(
            name=REMOVE_SCHEDULE,
            description="Remove a schedule with what it told, for good. To stop it for a while, pause it. "
            "Use it instead of delete_task for what an agent does at set times.",
            input_schema={
                "type": "object",
                "properties": {"schedule_id": {"type": "string", "description": "The schedule."}},
                "required": ["schedule_id"],
                "additionalProperties": False,
            },
            output_schema=SHAPE,
            origin=Origin.BUILTIN,
            risk=RiskLevel.IRREVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=True, idempotent=True, open_world=False),
            category="schedules",
        ),
        remove,
        tell,
    )
