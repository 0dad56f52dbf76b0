"""How the task assistant words what the record says."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.task_turns import TASKS, done, failed, turn

from steward.agents.tasks import task_words as words
from steward.contract.errors import ErrorCode
from steward.conversations.model import CallRecord, CallStatus

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def told(calls: str) -> str:
    ledger = turn(calls)
    return words.told(ledger.calls, ledger.everything, NOW)


@pytest.mark.req("TODO-ABR-013", "TODO-ABR-015")
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("add:buy bread", "I've added 'buy bread' to your tasks."),
        (
            "add:pay rent:2026-11-16:high",
            "I've added 'pay rent' to your tasks (due tomorrow, high priority).",
        ),
        ("add:milk add:eggs add:jam", "I've added 'milk', 'eggs' and 'jam' to your tasks."),
        (
            "add:milk add:eggs:2026-11-16",
            "I've added 'milk' to your tasks.\nI've added 'eggs' to your tasks (due tomorrow).",
        ),
        ("complete:t1", "Great! I've marked 'buy milk' as complete."),
        ("complete:t2", "Great! I've marked 'call mom' as complete (due tomorrow, high priority)."),
        ("already:t5", "'old reminder' was already complete."),
        ("deleted:t1", "I've deleted 'buy milk' from your tasks."),
        ("update:t3:due_date:2026-11-20", "I've updated 'team meeting': it is now due Friday."),
        ("update:t2:priority:low", "I've updated 'call mom': it is now low priority (due tomorrow)."),
        ("update:t1:title:buy oat milk", "I've renamed 'buy milk' to 'buy oat milk'."),
        ("update:t1:description:2 litres", "I've updated 'buy milk': its note says: 2 litres."),
        (
            "update:t3:recurrence:FREQ=WEEKLY;BYDAY=MO,FR",
            "I've updated 'team meeting': it now repeats every week on Monday and Friday (due tomorrow).",
        ),
        ("kept:t1", "Okay, I'll keep 'buy milk' in your tasks."),
        ("pending:t1", "Are you sure you want to delete 'buy milk'? This cannot be undone."),
        ("refused:complete_task", f"I couldn't tell which task you mean. {words.SEE_TASKS}"),
        ("broken:add_task", "I'm having trouble updating your tasks right now. Please try again."),
        ("broken:list_tasks", "I'm having trouble reading your tasks right now. Please try again."),
    ],
)
def test_what_was_done_is_told_with_its_details(calls: str, expected: str) -> None:
    assert told(calls) == expected


@pytest.mark.req("TODO-US2.1", "TODO-US2.3")
def test_lists_are_numbered_and_an_empty_one_is_said_kindly() -> None:
    assert told("list").split("\n") == [
        "You have 5 tasks:",
        "1. buy milk",
        "2. call mom (due tomorrow, high priority)",
        "3. team meeting (due tomorrow)",
        "4. client meeting (due Friday)",
        "5. old reminder (done)",
    ]
    assert told("list:none") == "You don't have any tasks yet."


@pytest.mark.parametrize(
    ("due", "expected"),
    [
        ("2026-11-15", "today"),
        ("2026-11-14", "yesterday"),
        ("2026-11-16T17:00:00+00:00", "tomorrow at 5pm"),
        ("2026-11-18T09:30:00+00:00", "Wednesday at 9:30am"),
        ("2026-11-30T00:00:00+00:00", "30 Nov at 12am"),
        ("2027-03-03", "3 Mar 2027"),
    ],
)
def test_dates_are_said_as_people_say_them(due: str, expected: str) -> None:
    assert words.due_words(due, NOW) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY", "repeats every day"),
        ("FREQ=MONTHLY;INTERVAL=3", "repeats every 3 months"),
        ("FREQ=NEVER", "repeats FREQ=NEVER"),
    ],
)
def test_repetitions_are_said_in_words(rule: str, expected: str) -> None:
    assert words.repeat_words(rule) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"due_date": None}, "it is now without a due date"),
        ({"description": None}, "it has no note any more"),
        ({"recurrence": None}, "it no longer repeats"),
        ({"completed": True}, "it is now complete"),
        ({"completed": False}, "it is now open again"),
    ],
)
def test_what_was_taken_away_is_told(change: dict[str, Any], expected: str) -> None:
    record = done("update_task", {"task_id": "task_1"}, task={**TASKS[0], **change}, changes=list(change))
    assert words.told([record], [record], NOW) == f"I've updated 'buy milk': {expected}."


def test_an_update_that_changed_nothing_says_so() -> None:
    record = done("update_task", {"task_id": "task_1"}, task=TASKS[0], changes=[])
    assert words.told([record], [record], NOW) == "'buy milk' was like that already, so nothing changed."


def test_a_recurring_task_tells_when_it_is_due_again() -> None:
    record = done(
        "complete_task", {"task_id": "task_1"}, task={"id": "task_1", "title": "buy milk", "completed": True},
        next_task={"id": "task_8", "title": "buy milk", "due_date": "2026-11-22"},
    )  # fmt: skip
    assert words.told([record], [record], NOW).endswith("as complete. It is due again 22 Nov.")


@pytest.mark.req("TODO-ABR-019", "TODO-EDGE-05", "TODO-EDGE-06", "TODO-SC-006")
@pytest.mark.parametrize(
    "code",
    [
        *ErrorCode,
        "INVALID_TITLE",
        "INVALID_DATE",
        "INVALID_PRIORITY",
        "TASK_NOT_FOUND",
        "UNAUTHORIZED",
        "WHATEVER",
    ],
)
@pytest.mark.parametrize("tool", words.TASK_TOOLS)
def test_every_failure_has_friendly_words_without_technical_detail(code: str, tool: str) -> None:
    said = words.told([failed(tool, {}, str(code))], [], NOW)
    assert (str(code) in said, "boom" in said, "_" in said, said[:1].isupper()) == (False, False, False, True)


def test_what_nobody_knows_the_outcome_of_is_not_called_a_failure() -> None:
    record = CallRecord(
        tool="add_task", arguments={}, status=CallStatus.FAILED, error_code="CANCELLED", outcome_unknown=True
    )
    assert "can't tell whether" in words.told([record], [], NOW)


def test_a_task_nobody_knows_is_still_asked_about() -> None:
    assert words.confirmation({"task_id": "x"}, [], NOW).startswith(
        "Are you sure you want to delete this task?"
    )
    assert words.kept({"task_id": "x"}, []) == "Okay, I'll keep it in your tasks."


@pytest.mark.parametrize(
    ("tool", "mention", "expected"),
    [
        ("complete_task", "meeting", "I found multiple tasks with 'meeting'. Which one did you complete?"),
        ("delete_task", "meeting", "I found multiple tasks with 'meeting'. Which one should I delete?"),
        ("update_task", "", "Which task should I change?"),
    ],
)
def test_several_are_asked_about(tool: str, mention: str, expected: str) -> None:
    assert words.which(tool, mention) == expected
