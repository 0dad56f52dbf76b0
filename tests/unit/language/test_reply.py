"""Answers to an open question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.language.reply import Answer, Cancel, Everything, No, Pick, Words, Yes, read_answer


@pytest.mark.req("TODO-US4.2")
@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes, delete it",
        "yeah",
        "yep",
        "sure",
        "ok",
        "okay!",
        "y",
        "go ahead",
        "do it",
        "please do",
        "yes please",
        "of course",
        "absolutely",
        "correct",
        "that's right",
        "I'm sure",
        "yup.",
        "Yes!",
        "sounds good",
    ],
)
def test_yes_in_many_words_is_yes(text: str) -> None:
    assert read_answer(text) == Yes()


@pytest.mark.req("TODO-US4.3")
@pytest.mark.parametrize(
    "text",
    [
        "no",
        "No, keep it",
        "nope",
        "nah",
        "don't",
        "please don't",
        "no thanks",
        "not now",
        "keep it",
        "n",
        "wait",
        "no!",
        "absolutely not",
        "I changed my mind",
        "do not delete it",
    ],
)
def test_no_in_many_words_is_no(text: str) -> None:
    assert read_answer(text) == No()


@pytest.mark.parametrize(
    "text", ["cancel", "never mind", "nevermind", "forget it", "stop", "none of them", "no, cancel that"]
)
def test_taking_it_back_cancels(text: str) -> None:
    assert read_answer(text) == Cancel()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the second one", Pick((2,))),
        ("2", Pick((2,))),
        ("#3", Pick((3,))),
        ("number two", Pick((2,))),
        ("first", Pick((1,))),
        ("the last one", Pick((-1,))),
        ("two", Pick((2,))),
        ("1 and 3", Pick((1, 3))),
        ("the first two", Pick((1, 2))),
        ("I meant the third one", Pick((3,))),
        ("yes, the second one", Pick((2,))),
        ("all of them", Everything()),
        ("both", Everything()),
        ("the team meeting", Words("the team meeting")),
        ("yes, no wait", Words("yes, no wait")),
        ("ok, don't", Words("ok, don't")),
        ("", Words("")),
        ("0", Words("0")),
    ],
)
def test_an_answer_picks_or_speaks_for_itself(text: str, expected: Answer) -> None:
    assert read_answer(text) == expected


@given(st.text(max_size=100))
def test_any_answer_is_read_without_an_error(text: str) -> None:
    read_answer(text)
