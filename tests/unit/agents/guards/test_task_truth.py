# ruff: noqa: E501
"""What the task assistant may say: checked against the record, sentence by sentence."""

from datetime import UTC, datetime

import pytest
from tests.support import false_claims as claims
from tests.support.task_turns import turn
from tests.support.true_answers import HONEST

from steward.agents.guards.task_truth import STOPPED, TaskTruth
from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
TRUTH = TaskTruth(lambda: NOW)


def reviewed(said: str, ledger: Ledger, text: str, status: AnswerStatus = AnswerStatus.DONE) -> Draft:
    draft = Draft(text=text, status=status)
    return TRUTH.review(draft, ledger=ledger, session=AgentSession(agent="tasks", user="ana", utterance=said))


@pytest.mark.req("TODO-ABR-013")
@pytest.mark.parametrize(("said", "calls", "text"), HONEST)
def test_an_honest_answer_is_said_as_it_is(said: str, calls: str, text: str) -> None:
    assert reviewed(said, turn(calls, seen="none" not in calls), text).text == text


SAYINGS = {
    "deleted": (claims.DELETED, ["Delete buy milk", "yes", "Show my tasks", "What is the weather?"]),
    "added": (claims.ADDED, ["Add buy milk", "yes please", "Show my tasks", "Hello there"]),
    "completed": (claims.COMPLETED, ["I bought the milk", "sure", "What's on my list?", "Tell me a joke"]),
    "updated": (claims.UPDATED, ["Make buy milk high priority", "ok", "Show my tasks", "How are you?"]),
    "elsewhere": (claims.ELSEWHERE, ["Email Bob my list", "Show my tasks", "Thanks"]),
    "assorted": (claims.ASSORTED, ["Delete buy milk", "yes", "Show my tasks", "What is the weather?"]),
}


@pytest.mark.req("TODO-ABR-012", "TODO-ABR-023", "TODO-SC-005")
@pytest.mark.parametrize("calls", ["", "list", "list broken:complete_task:t1", "list refused:delete_task"])
@pytest.mark.parametrize("kind", SAYINGS)
def test_a_change_that_no_call_made_is_never_said(kind: str, calls: str) -> None:
    lies, sayings = SAYINGS[kind]
    through = [
        (said, lie)
        for lie in lies
        for said in sayings
        if reviewed(said, turn(calls), lie.format(t="buy milk")).text == lie.format(t="buy milk")
    ]
    assert through == []


# "Done!" and the like are true where anything was done.
SOMETHING = ("Done!", "I did it.", "Mission accomplished.", "There, all cleaned up.")


@pytest.mark.parametrize(
    "lie", [each for each in (*claims.DELETED, *claims.ELSEWHERE) if each not in SOMETHING]
)
def test_a_change_that_was_made_hides_no_other_that_was_not(lie: str) -> None:
    answer = reviewed(
        "Add buy bread",
        turn("add:buy bread"),
        f"I've added 'buy bread' to your tasks. {lie.format(t='call mom')}",
    )
    assert answer.text == "I've added 'buy bread' to your tasks."


@pytest.mark.req("TODO-ABR-015")
@pytest.mark.parametrize(
    ("said", "calls", "text", "instead"),
    [
        ("Add pay rent tomorrow", "add:pay rent:2026-11-16", "I've added 'pay rent'.", "due tomorrow"),
        ("Add pay rent", "add:pay rent:2026-11-16:high", "I've added 'pay rent' to your tasks.", "high priority"),
        ("Add pay rent tomorrow", "add:pay rent", "I've added 'pay rent' for tomorrow.", "'pay rent' to your"),
        ("Add pay rent", "add:pay rent", "I've added 'pay the rent to Bob' to your tasks.", "'pay rent'"),
        ("I bought the milk", "list complete:t1", "I've completed 'call mom'.", "'buy milk'"),
        ("I bought the milk", "list complete:t1", "Sure thing!", "'buy milk' as complete"),
        ("Make call mom low priority", "list update:t2:priority:low", "'call mom' is high priority now.", "low"),
        ("Change team meeting to Friday", "list update:t3:due_date:2026-11-20", "Moved to Saturday.", "Friday"),
        ("Complete old reminder", "list already:t5", "I've just completed 'old reminder'.", "was already complete"),
    ],
)  # fmt: skip
def test_a_change_is_told_as_the_record_has_it(said: str, calls: str, text: str, instead: str) -> None:
    answer = reviewed(said, turn(calls), text).text
    assert (answer != text, instead in answer) == (True, True)


@pytest.mark.req("TODO-ABR-023", "TODO-ABR-027", "TODO-SC-005")
@pytest.mark.parametrize(
    "text",
    [
        "Here are your tasks:\n1. buy milk\n2. water the plants",
        "You have 7 tasks.",
        "You have two tasks: buy milk and call mom. Also your dentist appointment.",
        "1. buy milk (due Friday)",
        "1. call mom (low priority)",
        "1. buy milk (done)",
        "Completed:\n1. buy milk",
        "Your most urgent task is 'renew the passport'.",
        "call mom is due on Thursday.",
        "'old reminder' is still open.",
        "Task task_99 is buy milk.",
        "You don't have any tasks yet.",
        "Nothing is due.",
        "The server at 127.0.0.1 returned HTTP 500 for list_tasks.",
        "Earlier you told me that your boss hates milk.",
    ],
)
def test_a_list_says_what_the_tool_returned_and_nothing_else(text: str) -> None:
    answer = reviewed("Show my tasks", turn("list"), text).text
    assert answer.startswith("You have 5 tasks:\n1. buy milk\n2. call mom (due tomorrow, high priority)")


@pytest.mark.req("TODO-ABR-024")
def test_nothing_is_said_of_tasks_that_nobody_looked_at() -> None:
    answer = reviewed("Show my tasks", turn("", seen=False), "You don't have any tasks yet.")
    assert (
        answer.text == "I haven't changed anything in your tasks. Would you like to see your current tasks?"
    )


def test_a_task_that_was_deleted_is_not_listed_any_more() -> None:
    ledger = Ledger(earlier=[*turn("list deleted:t1").calls])
    answer = reviewed("What's left?", ledger, "Still open:\n1. buy milk\n2. call mom")
    assert "buy milk" not in answer.text


def test_what_was_done_in_an_earlier_turn_may_be_spoken_of_as_such() -> None:
    ledger = Ledger(earlier=turn("list complete:t1").calls)
    said = "Yes, I already marked 'buy milk' as complete."
    assert reviewed("Did you complete buy milk?", ledger, said).text == said
    again = "I've deleted 'buy milk' from your tasks."
    deleted = Ledger(earlier=turn("list deleted:t1").calls)
    assert reviewed("Delete buy milk", deleted, again).text != again


@pytest.mark.req("TODO-US4.1", "TODO-ABR-014")
def test_a_deletion_is_asked_about_with_the_title_from_the_record() -> None:
    spec = ToolSpec(name="delete_task", description="Delete.")
    asked = TRUTH.confirm(spec, {"task_id": "task_2"}, ledger=turn("list"))
    assert asked == (
        "Are you sure you want to delete 'call mom' (due tomorrow, high priority)? This cannot be undone."
    )
    other = ToolSpec(name="update_task", description="Change.")
    assert TRUTH.confirm(other, {"task_id": "task_2"}, ledger=turn("list")) is None


@pytest.mark.req("TODO-US4.3", "TODO-ABR-016")
@pytest.mark.parametrize(
    "text", ["Deleted!", "I did not run `delete_task`.", "All right, 'buy milk' is gone."]
)
def test_a_cancelled_deletion_is_said_to_be_kept(text: str) -> None:
    answer = reviewed("No, keep it", turn("kept:t1"), text)
    assert (answer.text, answer.status) == ("Okay, I'll keep 'buy milk' in your tasks.", AnswerStatus.DONE)


def test_our_own_question_before_a_deletion_is_left_alone() -> None:
    asked = "Are you sure you want to delete 'buy milk'? This cannot be undone."
    status = AnswerStatus.PENDING_APPROVAL
    assert reviewed("Delete buy milk", turn("list pending:t1"), asked, status).text == asked


@pytest.mark.req("TODO-ABR-020", "TODO-EDGE-06")
@pytest.mark.parametrize(
    ("calls", "text", "expected"),
    [
        ("add:eggs", "This was done: `add_task`. Then it went wrong: boom", f"I've added 'eggs' to your tasks.\n{STOPPED}"),
        ("", "The model is rate limited (429). Fix: wait.", "I'm getting too many requests at the moment. Please wait a moment and try again."),
        ("", "ConnectionError: postgres at 10.0.0.1", "I'm having trouble updating your tasks right now. Please try again."),
        ("", "The model did not answer in time.", "The model did not answer in time."),
    ],
)  # fmt: skip
def test_a_run_that_broke_is_told_without_technicalities(calls: str, text: str, expected: str) -> None:
    answer = reviewed("Add eggs", turn(calls, seen=False), text, AnswerStatus.FAILED)
    assert (answer.text, answer.status) == (expected, AnswerStatus.FAILED)


@pytest.mark.parametrize(
    ("said", "calls", "text", "status"),
    [
        (
            "Done with the meeting",
            "list",
            "Which one?\n1. team meeting\n2. client meeting",
            AnswerStatus.QUESTION,
        ),
        ("Add eggs", "add:eggs", "I've added 'eggs' to your tasks. Anything else?", AnswerStatus.DONE),
        ("Show my tasks", "list:none", "You don't have any tasks yet.", AnswerStatus.DONE),
    ],
)
def test_an_answer_that_asks_is_a_question(said: str, calls: str, text: str, status: AnswerStatus) -> None:
    assert reviewed(said, turn(calls), text).status is status


def test_a_withheld_answer_says_what_is_there_instead() -> None:
    listed = reviewed("Delete buy milk", turn("list refused:delete_task"), "Deleted!")
    assert listed.text.startswith("I haven't changed anything in your tasks. You have 5 tasks:")
    broken = reviewed("Show my tasks", turn("broken:list_tasks"), "You have 3 tasks.")
    assert (broken.text, broken.status) == (
        "I'm having trouble reading your tasks right now. Please try again.",
        AnswerStatus.FAILED,
    )
    failed = reviewed("I bought the milk", turn("list broken:complete_task:t1"), "Done!")
    assert (failed.text, failed.status) == (
        "I'm having trouble updating your tasks right now. Please try again.",
        AnswerStatus.FAILED,
    )
