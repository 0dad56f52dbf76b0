"""What kind of thing a question wants, and which sentences can hold it."""

import pytest

from steward.language.answers import may_answer


@pytest.mark.parametrize(
    ("question", "able", "unable"),
    [
        ("where is the ladder?", "It hangs behind the shed.", "The ladder is made of ash."),
        ("where do I put the bins", "Bins go under the stairs.", "The bins are emptied weekly."),
        ("in which room is the fuse box", "It is in the hall.", "The fuse box was renewed."),
        ("what time do we hand over the keys?", "Hand them over by 11:00.", "The keys are red."),
        ("how much is the deposit?", "It is 80 euros.", "A deposit is asked for."),
        ("how many chairs are there", "There are forty.", "Please stack the chairs."),
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
