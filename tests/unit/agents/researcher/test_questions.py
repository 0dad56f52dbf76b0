"""What a question asks: several in one, what to search for, what it is about."""

import pytest

from steward.agents.researcher.questions import (
    about_now,
    asks_again,
    asks_what,
    names_in,
    search_query,
    split_question,
    topic_of,
    wants_to_know,
)


@pytest.mark.parametrize(
    ("said", "questions"),
    [
        ("What is the capital of France?", ("What is the capital of France?",)),
        (
            "Who founded the Borealis Institute, and when did it open?",
            ("Who founded the Borealis Institute?", "when did Borealis Institute open?"),
        ),
        (
            "What is the capital of Norway and what is its population?",
            ("What is the capital of Norway?", "what is Norway's population?"),
        ),
        (
            "How tall is Mount Erin? Who climbed it first?",
            ("How tall is Mount Erin?", "Who climbed Mount Erin first?"),
        ),
        ("Compare Rust and Go in terms of compile times", ("Rust compile times", "Go compile times")),
        ("What is the difference between TCP and UDP?", ("TCP", "UDP")),
        ("Research Python async best practices", ("Research Python async best practices",)),
        ("How do bread and butter pickles keep?", ("How do bread and butter pickles keep?",)),
    ],
)
def test_a_question_with_several_parts_is_split_and_each_part_stands_alone(
    said: str, questions: tuple[str, ...]
) -> None:
    assert split_question(said) == questions


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What is the capital of France?", "capital France"),
        ("Please research the latest Python async best practices", "Python async best practices"),
        ("Who is she?", "Who is she"),
    ],
)
def test_a_search_uses_the_words_that_carry_the_question(question: str, query: str) -> None:
    assert search_query(question) == query


def test_a_topic_is_a_short_stable_name() -> None:
    assert topic_of("Research the latest Python async best practices!") == "python_async_best_practices"
    assert topic_of("?") == "general"


def test_names_and_numbers_are_what_an_answer_must_be_about() -> None:
    assert names_in("How tall is the Brennan Tower in 2026?") == {"brennan", "tower", "2026"}
    assert names_in("How tall is it?") == set()


def test_what_is_asked_about_now_or_anew_is_told_apart() -> None:
    assert (about_now("What is the weather in Seoul today?"), about_now("Who wrote Faust?")) == (True, False)
    assert asks_again("Search the web again for it")
    asked = "What is the capital of France?"
    for said in (f"Search again: {asked}", f"{asked} Please search again.", "Search the web again for it"):
        assert split_question(said, asked) == (asked,)
    assert split_question("Look up again") == ("Look up again",)
    assert not asks_again("What is the capital of France?")


@pytest.mark.parametrize(
    "said", ["what are skills?", "What is a risk level?", "what are risk levels", "who is Ana?"]
)
def test_asking_what_a_thing_is_asks_nothing_else(said: str) -> None:
    assert (asks_what(said), wants_to_know(said)) == (True, True)


@pytest.mark.parametrize(
    "said", ["What is the time?", "what are my tasks", "what is bitcoin worth", "who am I?", "how is Ana?"]
)
def test_what_is_asked_about_a_known_thing_is_more_than_what_it_is(said: str) -> None:
    assert (asks_what(said), wants_to_know(said)) == (False, True)


@pytest.mark.parametrize(
    "said", ["Can I use my own model?", "tell me a bit about cats", "Is my data sent away?"]
)
def test_what_may_be_and_what_is_ones_own_can_be_known(said: str) -> None:
    assert wants_to_know(said)


@pytest.mark.parametrize("said", ["tell me a joke", "Could you send it?", "Turn on the lights"])
def test_who_wants_something_made_or_done_asks_nothing(said: str) -> None:
    assert not wants_to_know(said)


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        ("Tell me about collections", "collections"),
        ("explain how search works", "how search works?"),
        ("what do the papers say about tides?", "tides"),
        ("Can I use my own model?", "use my own model"),
    ],
)
def test_the_words_that_only_ask_are_not_searched_for(said: str, subject: str) -> None:
    assert split_question(said) == (subject,)
