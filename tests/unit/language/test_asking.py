"""Questions in a roundabout form."""

from datetime import UTC, datetime

import pytest

from steward.language.asking import asked_in, asks_for_first, asks_of_day, may_answer

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I've been on the phone all day, what did you change?", "what did you change?"),
        ("my head is spinning. what have you done so far", "what have you done so far"),
        (
            "sorry, I wasn't looking - could you show me what you deleted",
            "could you show me what you deleted",
        ),
        ("I'd love to know what you added this morning", "show me what you added this morning"),
        ("run me through what you did", "show me what you did"),
        ("I'm not sure anymore what you changed just now", "show me what you changed just now"),
        ("it was a long day, so give us a short summary of what you've done", "show me what you've done"),
    ],
)
def test_a_question_is_heard_behind_what_leads_to_it(said: str, asked: str) -> None:
    assert asked in asked_in(said)


@pytest.mark.parametrize("said", ["tell Ann what you did today", "add a task, what did you change?"])
def test_what_orders_something_else_leads_to_no_question(said: str) -> None:
    assert asked_in(said) == (said,)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("and what stays on thursday?", "thursday"),
        ("what remains for tomorrow", "tomorrow"),
        ("so what's left on the 27th?", "the 27th"),
        ("what else happens next monday?", "next monday"),
        ("which ones are still there on sunday", "sunday"),
        ("what do I have left this weekend?", "this weekend"),
        ("is anything planned for tonight", ""),
        ("what happened on tuesday?", ""),
        ("what did we talk about on friday?", ""),
        ("when is the vet on friday?", ""),
        ("what stays?", ""),
        ("what time does Ana come on friday?", ""),
    ],
)
def test_a_question_of_nothing_but_a_day_is_told_from_others(said: str, day: str) -> None:
    assert asks_of_day(said, NOW).removeprefix("on ").removeprefix("for ") == day


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("what is the next thing I have due?", True),
        ("what's my next deadline", True),
        ("which task is due first?", True),
        ("what is up next", True),
        ("show me the earliest open task", True),
        ("whats coming up soonest on my list?", True),
        ("what do I have to do first?", True),
        ("what are the next things I have due?", False),
        ("what do I have next week?", False),
        ("the first thing on the list", False),
        ("what is my first name?", False),
    ],
)
def test_a_question_of_the_one_thing_that_comes_first_is_told_from_others(said: str, first: bool) -> None:
    assert asks_for_first(said) is first


@pytest.mark.parametrize(
    ("question", "able", "unable"),
    [
        ("where is the ladder?", "It hangs behind the shed.", "The ladder is made of ash."),
        ("where do I put the bins", "Bins go under the stairs.", "The bins are emptied weekly."),
        ("in which room is the fuse box", "It is in the hall.", "The fuse box was renewed."),
        ("what time do we hand over the keys?", "Hand them over by 11:00.", "The keys are red."),
        ("how much is the deposit?", "It is 80 euros.", "A deposit is asked for."),
        ("how many chairs are there", "There are forty.", "Please stack the chairs."),
        ("where do I find the tap?", "It is under the bench.", "The tap water comes from a spring."),
        ("where does the water come from?", "It is from a spring.", "The water is cold."),
        ("when does the pool open?", "It opens on Monday.", "The pool is heated."),
    ],
)
def test_a_sentence_without_the_kind_of_thing_that_is_asked_for_is_no_answer(
    question: str, able: str, unable: str
) -> None:
    assert may_answer(question, able)
    assert not may_answer(question, unable)


def test_any_sentence_may_answer_what_asks_for_no_such_kind() -> None:
    assert may_answer("who wrote the notes?", "They are old.")
