"""Several wishes in one message, parted by its form alone."""

import pytest

from steward.language.wishes import crowd, enumerated, gapped, halves, ordered, orders_it, points


def test_the_lines_of_a_list_are_wishes_with_what_stands_before_them() -> None:
    assert enumerated("please add:\n- screws\n- glue") == ["please add: screws", "please add: glue"]


def test_marks_that_count_on_part_a_running_text() -> None:
    assert enumerated("add tasks: a) pay rent b) ring Tom") == ["add tasks: pay rent", "add tasks: ring Tom"]


@pytest.mark.parametrize("said", ["buy 2. grade oil", "meet at 5. Then go home", "add milk", "1. only one"])
def test_what_only_looks_like_a_list_is_one_wish(said: str) -> None:
    assert enumerated(said) == []


def test_orders_that_stand_side_by_side_are_parted() -> None:
    assert ordered("move the dentist to friday and delete the gym task") == [
        "move the dentist to friday",
        "delete the gym task",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "remind me to call Ana and move the car",
        "I need to pack and cancel the paper",
        "add 'read and delete old mail'",
        "add milk and bread",
    ],
)
def test_what_a_person_is_to_do_is_not_taken_for_an_order(said: str) -> None:
    assert ordered(said) == []


def test_the_verbs_of_the_tools_at_hand_part_orders_too() -> None:
    said = "pause the music and lock the front door"
    assert ordered(said) == []
    assert ordered(said, frozenset({"pause", "lock"})) == ["pause the music", "lock the front door"]


def test_a_sentence_has_two_halves_where_one_word_joins_them() -> None:
    assert halves("pause the print and stick 'oil and wax' on my list") == (
        "pause the print",
        "stick 'oil and wax' on my list",
    )


@pytest.mark.parametrize(
    "said",
    ["buy milk and eggs", "remind me to feed the cat and water the plants", "a b c and d e f and g h i"],
)
def test_what_is_one_wish_or_several_has_no_halves(said: str) -> None:
    assert halves(said) == ()


def test_two_wishes_may_share_their_verb() -> None:
    assert gapped("move physio to monday and the notes to tuesday") == [
        "move physio to monday",
        "move the notes to tuesday",
    ]
    assert gapped("move physio to monday and delete the notes") == ()


def test_what_leads_a_wish_is_no_part_of_it() -> None:
    assert ordered("first add nails, then mark screws done, and finally tell me what's left") == [
        "add nails",
        "mark screws done",
        "tell me what's left",
    ]


LONG = "water the roses in the garden behind the house " * 4


@pytest.mark.parametrize("said", [f"- add {LONG}\n" * 15, f"1. add {LONG} " * 15])
def test_what_is_too_long_to_be_followed_one_by_one_is_one_text(said: str) -> None:
    assert enumerated(said) == []


def test_orders_too_long_to_be_followed_one_by_one_are_one_text() -> None:
    assert ordered(f"add {LONG} and delete {LONG}. " * 8) == []


@pytest.mark.parametrize(
    ("said", "many"),
    [
        ("Add these tasks:\n" + "- buy milk\n" * 30, True),
        ("- add milk\n" * 30, True),
        (f"Add:\n- {LONG}\n" + f"- {LONG}\n" * 14, True),
        ("Add these tasks:\n" + "- buy milk\n" * 20, False),
        ("What do these have in common?\n" + "- milk\n" * 30, False),
        ("Tell me about this:\n" + "- milk\n" * 30, False),
        (f"Add {LONG * 15}", False),
    ],
)
def test_a_list_that_orders_more_than_is_followed_one_by_one_is_a_crowd(said: str, many: bool) -> None:
    assert crowd(said) is many


@pytest.mark.parametrize(
    "said",
    [
        "we moved the ladder, so forget where that one is",
        "I paid the fine, so tick it off",
        "I fed the cat and rang Bo, so please mark both of them as done",
        "I changed the lock. delete that one",
    ],
)
def test_an_order_that_only_points_belongs_to_what_was_told_before_it(said: str) -> None:
    assert not ordered(said)


def test_orders_are_parted_behind_so_and_behind_a_question() -> None:
    said = "we sold the car, so delete the tyre task. Could you also add 'buy a bike'?"
    assert ordered(said) == ["we sold the car", "delete the tyre task", "add 'buy a bike'?"]
    assert ordered("what is open? and add milk") == ["what is open", "add milk"]


def test_one_line_that_begins_with_a_mark_is_a_list_too() -> None:
    said = "1) the boiler is fixed 2) move yoga to sunday 3) new task: buy stamps"
    assert enumerated(said) == ["the boiler is fixed", "move yoga to sunday", "new task: buy stamps"]


@pytest.mark.parametrize(
    ("said", "ordered_it"),
    [
        ("Priya: make it half three instead of two", True),
        ("tea: his name is spelled Jon, please correct it", True),
        ("pour down, shift it to the sunday after", True),
        ("fix the gate", False),
        ("write to Ana", False),
        ("call mom", False),
    ],
)
def test_an_order_that_points_is_no_name(said: str, *, ordered_it: bool) -> None:
    assert orders_it(said) == ordered_it


@pytest.mark.parametrize(
    ("said", "back"), [("Remember that.", True), ("delete both, please", True), ("add soap", False)]
)
def test_what_speaks_of_something_named_before_points(said: str, *, back: bool) -> None:
    assert points(said) == back
