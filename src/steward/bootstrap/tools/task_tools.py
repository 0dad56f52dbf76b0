"""The task list behind the door: the five tools, the people, and what a person may do beside the tools."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steward.bootstrap.tools.undoing import Undoing
from steward.contract.agent import Agent
from steward.contract.errors import InputError
from steward.contract.tool import Effect
from steward.orchestrator.orchestrator import Orchestrator
from steward.settings import environment
from steward.storage.database.postgres import Database
from steward.storage.task_undo import task_taker
from steward.storage.tasks import TASK, PostgresTaskStore, PostgresUserStore
from steward.tasks.desk import Desk
from steward.tasks.envelopes import refusal
from steward.tasks.model import Task
from steward.tasks.ports import Alarm, TaskStore
from steward.tasks.service import TaskService
from steward.tasks.users import Users, read_zone

AGENT = "tasks"
ZONES = "zoneinfo/"
Tell = Callable[[Mapping[str, Any]], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class TaskRoom:
    users: Users
    desk: Desk


async def open_tasks(
    orchestrator: Orchestrator,
    database: Database,
    *,
    undoing: Undoing,
    alarm: Alarm | None = None,
    bin_days: int | None = None,
) -> TaskRoom:
    store = PostgresTaskStore(database, alarm=alarm, bin_days=bin_days)
    undoing.add(TASK, task_taker(store))
    people = PostgresUserStore(database)
    users = Users(people)
    await users.ensure_local(machine_zone())
    service = TaskService(tasks=store, users=people)
    orchestrator.register_agent_factory(AGENT, lambda: tasks_agent(service, store, bin_days=bin_days))
    return TaskRoom(users=users, desk=Desk(tasks=store, users=users))


def tasks_agent(service: TaskService, store: TaskStore, *, bin_days: int | None = None) -> Agent:
    # Here and not above: MCP takes a second to import, which nobody pays who only asks for help.
    from steward.providers.builtin import BuiltinServerAgent, BuiltinTool  # noqa: PLC0415
    from steward.servers.tasks import build  # noqa: PLC0415

    def tool(effect: Effect, *examples: str, tell: Tell | None = None) -> BuiltinTool:
        return BuiltinTool(
            effect=effect, examples=examples, user_argument="user_id", checks_itself=True, tell=tell
        )

    return BuiltinServerAgent(
        AGENT,
        build(service),
        {
            "add_task": tool(
                Effect.WRITES_STORE,
                "Add buy milk to my tasks.",
                "Remember to call mom tomorrow.",
                "Remind me at 5 to call Ana.",
            ),
            "list_tasks": tool(Effect.READS, "Show my tasks.", "What is due today?"),
            "complete_task": tool(Effect.WRITES_STORE, "I bought the milk.", "Done with the report."),
            "delete_task": tool(
                Effect.WRITES_STORE,
                "Delete the old reminder.",
                tell=lambda given: _deletion(store, given, bin_days),
            ),
            "update_task": tool(
                Effect.WRITES_STORE, "Push the dentist to next friday at 5pm.", "Snooze it for 10 minutes."
            ),
        },
        name="Tasks",
        category="tasks",
    )


async def _deletion(store: TaskStore, given: Mapping[str, Any], bin_days: int | None) -> str:
    task = await store.get(str(given.get("user_id")), str(given.get("task_id")))
    if not isinstance(task, Task):  # nothing would be deleted, so nobody is asked
        why = refusal(task)
        raise InputError(why.message, code=why.code)
    kept = f"; 'steward undo' brings it back for {bin_days} days" if bin_days else ""
    return f"deletes the task {json.dumps(task.title, ensure_ascii=False)}{kept}"


def machine_zone(link: Path = Path("/etc/localtime")) -> str:
    """The zone this machine is set to, UTC where that cannot be told."""
    candidates = [environment().get("TZ", "").removeprefix(":")]
    target = str(link.resolve())
    candidates.append(target.partition(ZONES)[2])
    for name in candidates:
        try:
            return read_zone(name)
        except InputError:
            continue
    return "UTC"
