"""A question is asked at most twice for the same thing."""

import pytest

from steward.language.hesitation import answers_nothing
from steward.models.planner.asking_again import asked_again, counted
from steward.models.planner.decisions import Ask, Tell

STATE = {"kind": "reader", "tool": "add_task", "memo": {"waits_for": "title"}}
QUESTION = "What would you like to add?"


def test_a_question_is_asked_a_second_time_and_no_third() -> None:
    first = counted(Ask(question=QUESTION, state=STATE), None)
    assert isinstance(first, Ask)
    second = counted(Ask(question=QUESTION, state=STATE), first.state)
    assert isinstance(second, Ask)
    assert isinstance(counted(Ask(question=QUESTION, state=STATE), second.state), Tell)


def test_who_is_left_is_told_what_would_be_needed() -> None:
    asked = {**STATE, "question": f"I did it.\n{QUESTION}\n1. this", "times": 2}
    left = counted(Ask(question=asked["question"], state=STATE), asked)
    assert isinstance(left, Tell)
    assert QUESTION in left.text
    assert not left.text.endswith("?")


def test_another_question_is_counted_anew() -> None:
    asked = {**STATE, "question": QUESTION, "times": 2}
    other = counted(Ask(question="Which one?", state={**STATE, "tool": "delete_task"}), asked)
    assert isinstance(other, Ask)
    assert other.state["times"] == 1


def test_a_question_is_repeated_to_what_answers_nothing() -> None:
    again = asked_again({**STATE, "question": QUESTION}, "hmm, let me think")
    assert again is not None
    assert again.question == QUESTION


@pytest.mark.parametrize(
    "said", ["Hmm.", "not sure yet", "I don't know", "whatever you like", "one moment", "no clue", "eh?"]
)
def test_words_that_answer_nothing(said: str) -> None:
    assert answers_nothing(said)


@pytest.mark.parametrize(
    "said",
    [
        "milk",
        "yes",
        "no",
        "the second one",
        "never mind",
        "2",
        "all of them",
        "think of a gift",
        "sure",
        "it",
    ],
)
def test_words_that_may_answer(said: str) -> None:
    assert not answers_nothing(said)
