import pytest

from steward.selection.requests import (
    bare,
    clauses,
    is_question,
    name_for,
    snake_case,
    speaks_of_own,
    without_values,
)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Send the mail and book a flight", ["Send the mail", "book a flight"]),
        ("Find bread and butter", ["Find bread and butter"]),
        ("Read the file; then delete it", ["Read the file", "delete it"]),
        ('Post "stop and delete it" in the chat', ['Post "stop and delete it" in the chat']),
        ("I am late. Call a taxi", ["I am late. Call a taxi"]),
        ("", [""]),
    ],
)
def test_a_request_is_split_where_a_verb_commands_on_both_sides(request_: str, expected: list[str]) -> None:
    assert clauses(request_) == expected


@pytest.mark.parametrize(
    ("clause", "name"),
    [
        ("Water the plants in the greenhouse", "water_plants"),
        ("could you please fax this letter to the embassy", "fax_letter"),
        ("Order a pizza", "order_pizza"),
        ("42!", "unknown_capability"),
    ],
)
def test_what_nobody_wrote_down_is_named_by_verb_and_object(clause: str, name: str) -> None:
    assert name_for(clause) == name


def test_a_question_asks_to_know_and_a_command_to_do() -> None:
    asked = [
        "What is it?",
        "please tell me who won",
        "I want to know when it opens",
        "Hello, is there any bread?",
    ]
    done = ["Turn it on", "whatever you do, stop", "I would like to have access to the archive"]
    done += ["Is there a way to back the server up every night?"]
    assert [is_question(each) for each in [*asked, *done]] == [True] * 4 + [False] * 4


def test_what_the_speaker_has_or_points_at_is_nothing_that_was_published() -> None:
    own = ["What is in my cellar?", "which style is this painting", "how do these figures compare"]
    public = ["What does petrol cost in my city?", "who won this year", "what does this mean", "is amy here"]
    assert [speaks_of_own(each) for each in [*own, *public]] == [True] * 3 + [False] * 4


def test_names_and_numbers_are_what_a_request_is_about_not_what_it_asks() -> None:
    assert without_values("book a flight to Oslo on 12 May for Anna") == "book a flight to on for"
    assert without_values("42") == "42"


def test_what_is_all_capitals_is_a_kind_of_thing_and_no_name() -> None:
    assert without_values("what are 100 USD in EUR for Ana") == "what are USD in EUR for"
    assert without_values("can you merge PDFs from Ana") == "can you merge PDFs from"


def test_any_name_gets_the_one_form() -> None:
    assert [snake_case(each) for each in ("FinancialData API", "send-email", " x ")] == [
        "financial_data_api",
        "send_email",
        "x",
    ]


def test_courtesies_are_dropped() -> None:
    assert bare("Hey, could you please open it") == "open it"


def test_a_page_is_one_request_however_many_verbs_are_in_it() -> None:
    page = "Send the mail and book a flight. " * 100
    assert clauses(page) == [page.strip()]


def test_a_name_stays_short_where_nothing_but_numbers_is_said() -> None:
    assert name_for("3rd " * 8_000) == "_".join(["3rd"] * 6)
