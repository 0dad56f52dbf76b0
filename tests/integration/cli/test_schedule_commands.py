"""`steward schedules`, `steward notices` and `steward tasks snooze`, as typed."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.integration.cli.test_task_commands import Steward, said, steward

from steward.storage.database.postgres import Database, External
from steward.storage.reminders import PostgresReminderStore
from steward.surfaces.cli.commands.schedules import worded

__all__ = ["steward"]


def told(database_url: str, task: dict[str, Any]) -> None:
    """The reminder of this task rings."""

    async def ring() -> None:
        async with Database(External(database_url)) as database:
            at = datetime.fromisoformat(task["notify_at"])
            await PostgresReminderStore(database).remind(task["id"], at, now=datetime.now(UTC))

    asyncio.run(ring())


def test_a_schedule_is_added_listed_paused_and_removed(steward: Steward) -> None:
    added = steward("schedules", "add", "tell me what is due", "--when", "every weekday at 8")
    assert "'tell me what is due' runs next" in added.stdout
    (schedule,) = said(steward("schedules", "list", "--json"))["items"]
    assert "every weekday at 8" in steward("schedules", "list").stdout
    assert steward("schedules", "pause", schedule["id"]).stdout == "'tell me what is due' is paused.\n"
    assert "paused" in steward("schedules", "list").stdout
    assert "runs next" in steward("schedules", "pause", schedule["id"], "--resume").stdout
    assert steward("schedules", "remove", schedule["id"], "--json").exit_code == 3
    assert "Removed" in steward("schedules", "remove", schedule["id"], "--yes").stdout
    assert steward("schedules", "list").stdout == "Nothing is scheduled.\n"


def test_a_time_that_is_none_ends_with_bad_usage(steward: Steward) -> None:
    refused = steward("schedules", "add", "x", "--when", "whenever")
    assert refused.exit_code == 2
    assert "every weekday at 8" in refused.output


def test_a_schedule_is_changed_where_it_stands(steward: Steward) -> None:
    steward("schedules", "add", "tell me what is due", "--when", "every weekday at 8")
    (before,) = said(steward("schedules", "list", "--json"))["items"]
    changed = steward("schedules", "edit", before["id"], "--when", "every sunday at 9", "--agent", "tasks")
    assert f"{before['id']}: 'tell me what is due' runs next" in changed.stdout
    (after,) = said(steward("schedules", "list", "--json"))["items"]
    assert (after["request"], after["when"], after["agent"]) == (
        "tell me what is due",
        "every sunday at 9",
        "tasks",
    )
    new_words = steward("schedules", "edit", before["id"], "--request", "list my tasks", "--json")
    assert said(new_words)["data"]["request"] == "list my tasks"


@pytest.mark.parametrize("change", [(), ("--when", "whenever"), ("--agent", "nobody")])
def test_a_change_of_a_schedule_that_says_nothing_usable_is_bad_usage(
    steward: Steward, change: tuple[str, ...]
) -> None:
    steward("schedules", "add", "tell me what is due", "--when", "every weekday at 8")
    (before,) = said(steward("schedules", "list", "--json"))["items"]
    assert steward("schedules", "edit", before["id"], *change).exit_code == 2
    assert said(steward("schedules", "list", "--json"))["items"] == [before]


def test_a_schedule_that_is_not_there_is_not_changed(steward: Steward) -> None:
    missing = steward("schedules", "edit", "nothing", "--when", "every day at 8", "--json")
    assert missing.exit_code == 1
    assert json.loads(missing.stdout)["error_code"] == "NOT_FOUND"


def test_a_reminder_is_added_in_words_and_snoozed(steward: Steward, database_url: str) -> None:
    steward("tasks", "add", "remind", "me", "tomorrow", "at", "5pm", "to", "call", "Ana")
    (task,) = said(steward("tasks", "list", "--json"))["items"]
    assert (task["title"], task["notify_at"]) == ("call Ana", task["due_date"])
    assert (
        "I'll remind you of 'call Ana' tomorrow 09:00."
        in steward("tasks", "snooze", "ana", "--until", "tomorrow at 9am").stdout
    )
    (snoozed,) = said(steward("tasks", "list", "--json"))["items"]
    assert snoozed["due_date"] == task["due_date"]
    assert said(steward("tasks", "edit", "ana", "--no-notify", "--json"))["data"]["changes"] == ["notify"]


def test_without_words_the_last_reminder_is_snoozed(steward: Steward, database_url: str) -> None:
    nothing = steward("tasks", "snooze")
    assert nothing.exit_code == 2
    added = steward("tasks", "add", "stretch", "--due", "2026-01-05T08:00:00Z", "--notify", "--json")
    told(database_url, said(added)["data"]["task"])
    assert "I'll remind you of 'stretch' today" in steward("tasks", "snooze", "--until", "in 1 minute").stdout
    assert "stretch" in steward("notices").stdout
    (notice,) = said(steward("notices", "--json"))["items"]
    assert notice["seen_at"] is not None


def test_a_user_gets_an_address(steward: Steward) -> None:
    assert (
        steward("users", "address", "local", "email", "me@example.org").stdout == "local is told by email.\n"
    )
    gone = steward("users", "address", "local", "email", "none")
    assert gone.stdout == "local is told by page and terminal only.\n"


def test_a_wrong_snooze_is_bad_usage(steward: Steward) -> None:
    steward("tasks", "add", "stretch", "--due", "tomorrow", "--notify")
    assert steward("tasks", "snooze", "stretch", "--until", "soonish").exit_code == 2


@pytest.mark.parametrize(("kind", "head"), [("reminder", "Reminder"), ("schedule", "Schedule")])
def test_a_notice_at_the_terminal_shows_no_control_characters(kind: str, head: str) -> None:
    shown = worded({"event": kind, "title": "a\x1b[31mb", "text": "It is 5."})
    assert shown.startswith(f"{head}: a")
    assert "\x1b" not in shown
