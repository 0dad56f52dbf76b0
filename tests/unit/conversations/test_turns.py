"""What may be said, and how it is told."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.errors import InputError
from steward.conversations.model import Answer, AnswerStatus, CallRecord, CallStatus, Turn
from steward.conversations.turns import LONGEST, TITLE, pieces, read_message, title_of, waiting_request


@pytest.mark.parametrize("text", ["", "  \n ", "a" * (LONGEST + 1), "a\0b", "half \ud800 a letter"])
def test_what_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_message(text)


def test_a_title_is_the_beginning_on_one_line() -> None:
    assert (title_of("add\nmilk"), len(title_of("word " * 100))) == ("add milk", TITLE)


@given(st.text())
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


def turn(said: str, *proposals: str, waits: bool = True) -> Turn:
    calls = tuple(
        CallRecord(tool="t", arguments={}, status=CallStatus.DONE, proposal_id=each) for each in proposals
    )
    status = AnswerStatus.PENDING_APPROVAL if waits else AnswerStatus.DONE
    answer = Answer(status=status, agent="a", conversation="c", answer="", tool_calls=calls)
    return Turn(number=1, said=said, speaker="ana", answer=answer, at=datetime(2026, 11, 16, tzinfo=UTC))


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ([], []),
        ([turn("mow", "1")], ["mow"]),
        ([turn("sow", waits=False), turn("mow", "1")], ["mow"]),
        ([turn("mow", "1"), turn("yes", "1", "2"), turn("hm?")], ["mow", "yes", "hm?"]),
        ([turn("mow", "1"), turn("rather sow", "2")], ["rather sow"]),
    ],
    ids=["nothing", "the last", "not what was done", "over every yes", "something else was asked"],
)
def test_a_request_that_waits_goes_back_to_where_it_was_said(turns: list[Turn], said: list[str]) -> None:
    assert [each.said for each in waiting_request(turns)] == said
