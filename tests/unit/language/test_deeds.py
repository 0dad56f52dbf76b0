"""Things that were done, and things that each get a day, parted by the form of their sentence."""

from datetime import UTC, datetime

import pytest

from steward.language.deeds import MOST_SENTENCES, deeds, moved_each, moved_last, sentences_of

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "each"),
    [
        ("I watered the ferns and fed the cat, so tick both off", ["I watered the ferns", "I fed the cat"]),
        (
            "I've posted the parcel and rang the bank. please mark both of them as done",
            ["I've posted the parcel", "I've rang the bank"],
        ),
        (
            "we cleaned the gutter and the shed, cross them off",
            ["we cleaned the gutter", "we cleaned the shed"],
        ),
        (
            "I bought stamps, picked up the keys and wrote to Ben, so could you mark those as finished?",
            ["I bought stamps", "I picked up the keys", "I wrote to Ben"],
        ),
        (
            "I renewed the pass and I paid the fine; complete both please",
            ["I renewed the pass", "I paid the fine"],
        ),
        (
            "we just sold the sofa and gave away the lamp and so take them off the list",
            ["we just sold the sofa", "we just gave away the lamp"],
        ),
        (
            "I ironed the shirts and aired the tent! check off both",
            ["I ironed the shirts", "I aired the tent"],
        ),
    ],
)
def test_what_was_done_is_told_of_each_thing(said: str, each: list[str]) -> None:
    assert deeds(said) == each


@pytest.mark.parametrize(
    "said",
    [
        "I paid the rent, tick it off",
        "I watered the ferns and fed the cat",
        "tick both off",
        "add watch both films and mark both as seen",
        "the ferns and the cat, tick both off",
    ],
)
def test_what_tells_of_no_two_deeds_is_left(said: str) -> None:
    assert not deeds(said)


@pytest.mark.parametrize(
    ("said", "each"),
    [
        (
            "haircut to monday, oil change to the 27th",
            ["move haircut to monday", "move oil change to the 27th"],
        ),
        (
            "the visa form to friday, the photos to saturday and the fee to sunday please",
            ["move the visa form to friday", "move the photos to saturday", "move the fee to sunday"],
        ),
        (
            "piano until thursday; chess until next week",
            ["move piano to thursday", "move chess to next week"],
        ),
        (
            "move ballet to tuesday, the recital to 4 december",
            ["move ballet to tuesday", "move the recital to 4 december"],
        ),
        (
            "put the mop on friday and the bins on saturday",
            ["move the mop to friday", "move the bins to saturday"],
        ),
        ("can you push rent to monday, gas to tuesday", ["move rent to monday", "move gas to tuesday"]),
    ],
)
def test_each_thing_keeps_the_day_it_was_said_with(said: str, each: list[str]) -> None:
    assert moved_each(said, NOW) == each


@pytest.mark.parametrize(
    "said",
    [
        "haircut to monday",
        "a trip to Rome, a letter to Ann",
        "talk to Tim on monday, write to Bo on friday",
        "milk, eggs and bread",
        "move ballet to tuesday and delete the recital",
        "from monday to friday, each day",
    ],
)
def test_what_gives_no_two_things_a_day_is_left(said: str) -> None:
    assert not moved_each(said, NOW)


def test_a_message_is_parted_at_its_sentences_and_colons() -> None:
    said = "Hello! What a week: I cleaned up. Thanks"
    assert sentences_of(said) == ["Hello!", "What a week", "I cleaned up.", "Thanks"]


def test_what_stands_before_the_moves_is_told_apart_where_it_orders_nothing() -> None:
    said = "mondays are a mess. haircut to tuesday, oil change to the 27th"
    moved = ["move haircut to tuesday", "move oil change to the 27th"]
    assert moved_last(said, NOW) == (["mondays are a mess."], moved)
    assert moved_last("delete the haircut. wax to tuesday, oil change to the 27th", NOW) == ((), ())


def test_what_stands_behind_a_whole_page_is_not_parted() -> None:
    told = [f"The {number}th lamp is on." for number in range(MOST_SENTENCES)]
    wish = "physio to wednesday, tyre change to thursday"
    assert moved_last(" ".join([*told[:2], wish]), NOW)[1]
    assert moved_last(" ".join([*told, wish]), NOW) == ((), ())
