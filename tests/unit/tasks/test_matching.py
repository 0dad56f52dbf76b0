"""Finding the task that a person means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.tasks.matching import NoMatch, OneMatch, SeveralMatches, match

TASKS = (
    "buy milk",
    "call mom",
    "visit mom",
    "Team meeting at 3pm",
    "Client meeting",
    "watering the plants",
    "Renew passport",
    "pay the electricity bill",
    "buy oat milk powder",
)


def find(reference: str, *, hint: str = "") -> OneMatch[str] | SeveralMatches[str] | NoMatch:
    return match(reference, TASKS, title=str, hint=hint)


@pytest.mark.parametrize(
    ("reference", "title"),
    [
        ("passport", "Renew passport"),
        ("PASSPORT", "Renew passport"),
        ("the passport", "Renew passport"),
        ("buy milk", "buy milk"),
        ("client", "Client meeting"),
        ("water the plants", "watering the plants"),
        ("plant", "watering the plants"),
        ("renewing my passport", "Renew passport"),
        ("pasport", "Renew passport"),
        ("electrcity bill", "pay the electricity bill"),
        ("electricity bills", "pay the electricity bill"),
        ("passport reminder", "Renew passport"),
    ],
)
def test_one_clear_match_is_found(reference: str, title: str) -> None:
    assert find(reference) == OneMatch(title)


def test_the_milk_matches_buy_milk() -> None:
    assert match("the milk", ("buy milk", "call mom"), title=str) == OneMatch("buy milk")


@pytest.mark.req("TODO-ABR-018")
def test_several_matches_are_all_given() -> None:
    assert find("meeting") == SeveralMatches(("Team meeting at 3pm", "Client meeting"))


@pytest.mark.req("TODO-ABR-017")
@pytest.mark.parametrize("reference", ["xyz", "", "the task", "dentist", "   ", "!!"])
def test_no_match_says_so(reference: str) -> None:
    assert find(reference) == NoMatch()


def test_the_verb_decides_between_several() -> None:
    assert find("mom") == SeveralMatches(("call mom", "visit mom"))
    assert find("mom", hint="called") == OneMatch("call mom")
    assert find("mom", hint="hugged") == SeveralMatches(("call mom", "visit mom"))


def test_a_whole_title_outweighs_a_part_of_another() -> None:
    assert match("milk", ("milk", "buy milk"), title=str) == OneMatch("milk")


def test_short_words_are_not_taken_for_typos() -> None:
    assert match("cat", ("call mom", "car wash"), title=str) == NoMatch()


@given(st.text(max_size=80), st.lists(st.text(max_size=60), max_size=8))
def test_any_words_match_without_an_error(reference: str, titles: list[str]) -> None:
    found = match(reference, titles, title=str)
    if isinstance(found, OneMatch):
        assert found.task in titles


def test_what_is_longer_than_any_title_names_no_task() -> None:
    looked: list[str] = []
    assert match("milk " * 500, ["milk"], title=lambda each: looked.append(each) or each) == NoMatch()
    assert looked == []


@pytest.mark.parametrize(
    ("reference", "title"),
    [
        ("payment to the roofer", "Pay the roofer"),
        ("the delivery of the logs", "Deliver logs"),
        ("table reservation", "Reserve a table"),
        ("donation of old coats", "Donate old coats"),
        ("my application for the grant", "Apply for the grant"),
        ("replace the filter", "Filter replacement"),
        ("the removal of the hedge", "Remove hedge"),
        ("pay the nursery", "Nursery payment"),
    ],
)
def test_what_is_made_from_a_word_means_it(reference: str, title: str) -> None:
    others = (
        "Call the roofer",
        "Stack logs",
        "Lay a table",
        "Wash old coats",
        "Read about the grant",
        "Trim hedge",
    )
    assert match(reference, (*others, title), title=str) == OneMatch(title)


def test_the_word_itself_comes_before_what_is_made_from_it() -> None:
    assert match("payment", ("Pay Jo", "Check the payment"), title=str) == OneMatch("Check the payment")
