"""Calls that never reach the door, whatever a model wants."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.task_turns import failed, turn
from tests.support.taught_tasks import find_task_tool

from steward.agents.guards.admission import (
    ALREADY_CALLED,
    NOT_ASKED_FOR,
    NOT_LISTED,
    KnownThings,
    NamedTasks,
    NoRepeats,
)
from steward.agents.profile import Refusal
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.contract.tool import Effect, Origin, ToolSpec
from steward.conversations.model import CallRecord, CallStatus

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TOUCHES = {"type": "object", "properties": {"task_id": {"type": "string"}}}


def spec(name: str, effect: Effect = Effect.WRITES_STORE) -> ToolSpec:
    schema = TOUCHES if name in ("complete_task", "delete_task", "update_task") else {"type": "object"}
    return ToolSpec(name=name, description=name, input_schema=schema, origin=Origin.BUILTIN, effect=effect)


def code(
    rule: Any,
    tool: str,
    arguments: dict[str, Any],
    ledger: Ledger,
    said: str = "",
    effect: Effect = Effect.WRITES_STORE,
) -> str | None:
    session = AgentSession(agent="tasks", user="ana", utterance=said)
    refusal: Refusal | None = rule.admit(spec(tool, effect), arguments, ledger=ledger, session=session)
    return None if refusal is None else refusal.code


KNOWN = KnownThings(parameter="task_id", listing="list_tasks")


@pytest.mark.req("TODO-ABR-023", "TODO-ABR-024")
@pytest.mark.parametrize("tool", ["complete_task", "delete_task", "update_task"])
@pytest.mark.parametrize("invented", ["task_99", "1", "", None, 7, "TASK_1", "buy milk", ["task_1"][0] + " "])
def test_an_id_that_no_tool_returned_is_refused(tool: str, invented: Any) -> None:
    assert code(KNOWN, tool, {"task_id": invented}, turn("list")) == NOT_LISTED


def test_an_id_that_was_returned_now_or_earlier_may_be_used() -> None:
    assert code(KNOWN, "complete_task", {"task_id": "task_1"}, turn("list", seen=False)) is None
    assert code(KNOWN, "complete_task", {"task_id": "task_1"}, turn("")) is None
    assert code(KNOWN, "complete_task", {"task_id": "task_9"}, turn("add:eggs", seen=False)) is None


def test_without_a_listing_every_id_is_unknown() -> None:
    assert code(KNOWN, "delete_task", {"task_id": "task_1"}, turn("", seen=False)) == NOT_LISTED
    assert code(KNOWN, "delete_task", {}, turn("", seen=False)) == NOT_LISTED


def test_text_that_looks_like_an_id_and_failed_answers_prove_nothing() -> None:
    title = CallRecord(
        tool="list_tasks",
        arguments={},
        status=CallStatus.DONE,
        data={"tasks": [{"id": "task_1", "title": "task_2", "deep": {"id": "task_3"}}]},
    )
    broken = CallRecord(tool="list_tasks", arguments={}, status=CallStatus.FAILED, data={"id": "task_4"})
    ledger = Ledger(calls=[title, broken])
    codes = [code(KNOWN, "delete_task", {"task_id": f"task_{number}"}, ledger) for number in (1, 2, 3, 4)]
    assert codes == [None, NOT_LISTED, None, NOT_LISTED]


def test_tools_without_such_an_id_are_none_of_its_business() -> None:
    assert code(KNOWN, "add_task", {"title": "x"}, turn("", seen=False)) is None


@pytest.mark.req("TODO-ABR-021")
@pytest.mark.parametrize(
    "why", ["SERVICE_UNAVAILABLE", "TOOL_EXECUTION_TIMEOUT", "RATE_LIMITED", "STORAGE_FAILED"]
)
def test_a_change_that_broke_is_not_tried_again_in_the_same_turn(why: str) -> None:
    ledger = Ledger(calls=[failed("add_task", {"title": "eggs"}, why)])
    assert code(NoRepeats(), "add_task", {"title": "eggs"}, ledger) == ALREADY_CALLED
    assert code(NoRepeats(), "add_task", {"title": "eggs!"}, ledger) == ALREADY_CALLED
    assert code(NoRepeats(), "complete_task", {"task_id": "task_1"}, ledger) is None
    later = Ledger(earlier=ledger.calls)
    assert code(NoRepeats(), "add_task", {"title": "eggs"}, later) is None


def test_arguments_that_were_refused_may_be_mended_but_not_repeated() -> None:
    ledger = Ledger(calls=[failed("add_task", {"title": "eggs", "due_date": "soonish"}, "INVALID_DATE")])
    assert code(NoRepeats(), "add_task", {"title": "eggs", "due_date": "tomorrow"}, ledger) is None
    assert code(NoRepeats(), "add_task", {"title": "eggs", "due_date": "soonish"}, ledger) == ALREADY_CALLED


def test_the_same_change_is_made_once_a_turn() -> None:
    ledger = turn("add:eggs")
    assert code(NoRepeats(), "add_task", {"title": "eggs"}, ledger) == ALREADY_CALLED
    assert code(NoRepeats(), "add_task", {"title": "milk"}, ledger) is None


def test_looking_in_circles_ends() -> None:
    assert code(NoRepeats(), "list_tasks", {}, turn("list list"), effect=Effect.READS) is None
    assert code(NoRepeats(), "list_tasks", {}, turn("list list list"), effect=Effect.READS) == ALREADY_CALLED
    assert code(NoRepeats(), "list_tasks", {"limit": 5}, turn("list list list"), effect=Effect.READS) is None


NAMED = NamedTasks(lambda: NOW, find_task_tool)


@pytest.mark.req("TODO-ABR-025")
@pytest.mark.parametrize("tool", ["add_task", "complete_task", "update_task", "delete_task"])
def test_who_asks_to_see_tasks_asked_for_no_change(tool: str) -> None:
    assert code(NAMED, tool, {"task_id": "task_1"}, turn("list"), "Show my tasks") == NOT_ASKED_FOR


@pytest.mark.req("TODO-ABR-018", "TODO-ABR-025", "TODO-EDGE-02")
@pytest.mark.parametrize(
    ("said", "task_id", "expected"),
    [
        ("I bought the milk", "task_1", None),
        ("I bought the milk", "task_2", NOT_ASKED_FOR),
        ("Done with the meeting task", "task_3", NOT_ASKED_FOR),
        ("Delete the team meeting", "task_3", None),
        ("Delete the team meeting", "task_4", NOT_ASKED_FOR),
        ("Complete everything", "task_2", None),
        ("Complete the xyz task", "task_2", None),
        ("yes", "task_2", None),
        ("", "task_2", None),
        ("delete it", "task_2", None),
        ("the second one", "task_2", None),
        ("Thanks for your help", "task_2", NOT_ASKED_FOR),
        ("What about mom?", "task_2", None),
    ],
)
def test_the_task_that_was_named_is_the_one_that_is_touched(
    said: str, task_id: str, expected: str | None
) -> None:
    tool = "delete_task" if "elete" in said else "complete_task"
    assert code(NAMED, tool, {"task_id": task_id}, turn("list"), said) == expected


def test_a_long_request_is_left_to_the_model() -> None:
    said = "show my tasks " + "and think hard about it " * 10
    assert code(NAMED, "complete_task", {"task_id": "task_1"}, turn("list"), said) is None


@pytest.mark.req("TODO-ABR-025")
@pytest.mark.parametrize(
    ("said", "title", "expected"),
    [
        ("Add buy milk", "buy milk", None),
        ("we are out of milk", "get milk", None),
        ("I called the bank", "calling the bank", None),
        ("Add buy milk", "send money to Bob", NOT_ASKED_FOR),
        ("Hello", "buy bitcoin", NOT_ASKED_FOR),
        ("yes", "groceries", None),
        ("Show my tasks", "show", NOT_ASKED_FOR),
    ],
)
def test_a_new_task_is_called_after_something_that_was_said(
    said: str, title: str, expected: str | None
) -> None:
    assert code(NAMED, "add_task", {"title": title}, turn(""), said) == expected


def test_no_more_tasks_are_added_than_words_could_name() -> None:
    ledger = turn("add:buy milk add:milk")
    assert code(NAMED, "add_task", {"title": "more milk"}, ledger, "Add buy milk") == NOT_ASKED_FOR


def test_a_deleted_task_is_meant_no_longer() -> None:
    ledger = turn("list deleted:t3")
    assert code(NAMED, "complete_task", {"task_id": "task_4"}, ledger, "Done with the meeting task") is None


def test_looking_is_always_admitted() -> None:
    assert code(NAMED, "list_tasks", {}, turn(""), "Show my tasks") is None
