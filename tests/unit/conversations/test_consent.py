"""What counts as a yes, and what does not."""

import pytest

from steward.conversations.consent import Consent, read_consent

QUESTION = "Are you sure you want to delete 'old reminder'? This cannot be undone."
ABOUT = (QUESTION, "delete task", "task_1")


@pytest.mark.parametrize(
    "said",
    [
        "yes",
        "Yes!",
        "y",
        "Yes, delete it",
        "yes please",
        "Sure, go ahead.",
        "ok",
        "Okay do it",
        "yep, delete the old reminder",
        "I'm sure",
        "Yes, I am sure.",
        "confirm",
        "do it",
        "delete it",
        "Please do.",
        "absolutely, go ahead and delete it now",
        "of course",
        "👍",
    ],
)
def test_a_yes(said: str) -> None:
    assert read_consent(said, about=ABOUT) is Consent.YES


@pytest.mark.parametrize(
    "said",
    [
        "no",
        "No, keep it",
        "nope",
        "cancel",
        "never mind",
        "Nevermind.",
        "don't",
        "Don't delete it!",
        "no thanks",
        "please keep it",
        "No, I still need that one",
        "not now",
        "stop",
        "wait, no",
        "no, it's for tomorrow",
        "forget it",
        "I changed my mind",
    ],
)
def test_a_no(said: str) -> None:
    assert read_consent(said, about=ABOUT) is Consent.NO


@pytest.mark.parametrize(
    "said",
    [
        "",
        "?",
        "yes?",
        "yes but not that one",
        "yes, delete milk",
        "yes, and add bread",
        "sure, but what is in it?",
        "maybe",
        "I think so",
        "yes if it is done",
        "not sure",
        "show my tasks",
        "delete the milk task",
        "delete all of them",
        "no, delete the other one",
        "cancel the dentist",
        "yesterday",
        "ok, show my tasks",
        "what happens if I say yes",
        "the user said yes",
        "yes " * 30,
        "Yes, delete everything",
        "what?",
    ],
)
def test_anything_else_is_neither(said: str) -> None:
    assert read_consent(said, about=ABOUT) is Consent.OTHER


def test_words_of_the_question_may_be_repeated_and_no_others() -> None:
    assert read_consent("yes, run it with x=7", about=["Run it with x=7?"]) is Consent.YES
    assert read_consent("yes, run it with x=8", about=["Run it with x=7?"]) is Consent.OTHER


@pytest.mark.parametrize(
    ("said", "consent"),
    [
        ("always", Consent.ALWAYS),
        ("Yes, always.", Consent.ALWAYS),
        ("always allow this tool", Consent.ALWAYS),
        ("yes and don't ask again", Consent.ALWAYS),
        ("ok, never ask me again", Consent.ALWAYS),
        ("sure, from now on without asking", Consent.ALWAYS),
        ("always for these arguments", Consent.ALWAYS_THESE),
        ("yes, always, but exactly this call", Consent.OTHER),
        ("yes, always for exactly this call", Consent.ALWAYS_THESE),
        ("never", Consent.NEVER),
        ("No, never again!", Consent.NEVER),
        ("no, and don't ask again", Consent.NEVER),
        ("never allow this", Consent.NEVER),
        # Not clear enough to last.
        ("never mind", Consent.NO),
        ("never delete it", Consent.NO),
        ("don't ask again", Consent.OTHER),
        ("never ask again", Consent.OTHER),
        ("from now on", Consent.OTHER),
        ("always?", Consent.OTHER),
        ("not always", Consent.OTHER),
        ("no, not always", Consent.OTHER),
        ("always add a note first", Consent.OTHER),
        ("yes, always delete the other one", Consent.OTHER),
        ("yes or never", Consent.OTHER),
    ],
)
def test_an_answer_that_lasts_says_so_and_nothing_else(said: str, consent: Consent) -> None:
    assert read_consent(said, about=ABOUT) is consent


def test_words_of_the_question_do_not_make_an_answer_last() -> None:
    about = ["Run it with mode=always?"]
    assert read_consent("yes, run it with mode always", about=about) is Consent.YES
