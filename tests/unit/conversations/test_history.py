"""What a summary of a long conversation keeps."""

from datetime import UTC, datetime

from steward.conversations.history import LONGEST, summarise
from steward.conversations.model import Answer, AnswerStatus, CallRecord, CallStatus, PendingCall, Turn

AT = datetime(2026, 11, 15, tzinfo=UTC)
WAITS = PendingCall(
    tool_call_id="c1",
    proposal_id="p1",
    tool="delete_task",
    arguments={"task_id": "t7"},
    risk="irreversible",
    reason="It cannot be taken back.",
    question="Are you sure?",
)


def turn(number: int, said: str, answer: str, *calls: CallRecord, status: str = "done") -> Turn:
    told = Answer(
        status=AnswerStatus(status), agent="tasks", conversation="c", answer=answer, tool_calls=calls
    )
    return Turn(number=number, said=said, speaker="person:ana", answer=told, at=AT)


def test_it_says_what_was_said_done_and_answered() -> None:
    call = CallRecord(tool="add_task", arguments={"title": "milk"}, status=CallStatus.DONE)
    refused = CallRecord(tool="delete_task", arguments={}, status=CallStatus.REFUSED)
    assert summarise([turn(1, "add milk", "Added 'milk'.", call, refused)]) == (
        "Earlier in this conversation, shortened:\n"
        "- The person said: add milk\n"
        "  Done: add_task(title=milk)\n"
        "  You answered (done): Added 'milk'."
    )


def test_what_is_open_survives_however_long_the_conversation_was() -> None:
    turns = [turn(number, f"said {number} " * 50, "answer " * 500) for number in range(200)]
    turns.append(turn(200, "delete it", "Which one do you mean?", status="question"))
    summary = summarise(turns, pending=[WAITS])
    assert len(summary) <= LONGEST
    assert "said 199" in summary
    assert "said 0 " not in summary
    assert "Open question to the person: Which one do you mean?" in summary
    assert "Waits for the person's approval as proposal p1: delete_task(task_id=t7)" in summary
