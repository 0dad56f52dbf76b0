"""What people say and ask about themselves, and in which languages."""

import pytest

from steward.agents.assistant.languages import other_language
from steward.agents.assistant.personal_facts import (
    answered,
    asks_about_self,
    asks_about_us,
    is_statement,
    worth_keeping,
)
from steward.agents.assistant.small_talk import small_talk, unreadable
from steward.models.planner.readers import InterpretedCall


@pytest.mark.parametrize(
    "said",
    [
        "what is my bike lock code?",
        "where was I born?",
        "who are our neighbours",
        "what do you know about me",
    ],
)
def test_a_question_about_oneself_is_known_as_one(said: str) -> None:
    assert asks_about_self(said)


@pytest.mark.parametrize(
    "said",
    ["How do I cook rice?", "where can I buy stamps", "What is the capital of France?", "do I need milk?"],
)
def test_questions_about_the_world_are_not_about_oneself(said: str) -> None:
    assert not asks_about_self(said)


@pytest.mark.parametrize(
    "said",
    [
        "I was born in Lyon",
        "My sister lives in Bergen.",
        "we have two cats",
        "I'm allergic to nuts",
        "call me Tom",
    ],
)
def test_a_statement_is_asked_about_before_it_is_kept(said: str) -> None:
    assert is_statement(said)
    question = worth_keeping(said, 0.9).question
    assert question is not None
    memo = question.memo
    kept, dropped = answered(memo, "yes"), answered(memo, "no")
    assert [(each.tool, each.arguments) for each in kept or () if isinstance(each, InterpretedCall)] == [
        ("store_memory", {"content": said.rstrip(".")})
    ]
    assert (dropped, answered(memo, "what time is it?")) == ("Okay, I won't remember it.", None)


@pytest.mark.parametrize(
    "said",
    [
        "I need a flight",
        "I want to pay my rent",
        "I have to call mom",
        "i hate this",
        "I am done",
        "add milk",
        "I am late?",
    ],
)
def test_what_asks_for_something_is_no_statement(said: str) -> None:
    assert not is_statement(said)


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("Bonjour, comment ça va ?", "French"),
        ("Füge Milch zu meinen Aufgaben hinzu", "German"),
        ("¿Qué tiempo hace hoy en Madrid?", "Spanish"),
        ("Che ore sono a Roma?", "Italian"),
        ("Qual é a capital do Brasil?", "Portuguese"),
        ("Wat is de hoofdstad van Nederland?", "Dutch"),
        ("Добавь молоко в список", "Cyrillic letters"),
        ("あしたのてんきは", "Japanese"),
        ("Add buy milk to my tasks", None),
        ("Remember that Ana lives in Las Palmas de Gran Canaria", None),
        ("What does “je ne sais quoi” mean?", None),
        ("buy milk", None),
        ("42 / 7", None),
    ],
)
def test_another_language_is_noticed_and_english_is_left_alone(said: str, language: str | None) -> None:
    assert other_language(said) == language


def test_what_cannot_be_read_is_said() -> None:
    assert ["words" in (unreadable("?!") or ""), "French" in (unreadable("je ne sais pas") or "")] == [
        True,
        True,
    ]
    assert unreadable("add milk") is None


@pytest.mark.parametrize("said", ["are you a human?", "who are you?", "ok", "yes", "What is your name?"])
def test_small_talk_is_no_request(said: str) -> None:
    assert small_talk(said) is not None


@pytest.mark.parametrize(
    ("said", "about_us"),
    [
        ("do you speak German?", True),
        ("can I trust you?", True),
        ("do you know Ana?", False),
        ("who is Ana", False),
    ],
)
def test_a_question_about_whoever_is_asked_is_told_from_others(said: str, about_us: bool) -> None:
    assert asks_about_us(said) == about_us


@pytest.mark.parametrize("said", ["call me a cab", "call me tomorrow", "Is my name Tom?"])
def test_a_wish_or_a_question_is_no_statement(said: str) -> None:
    assert not is_statement(said)
