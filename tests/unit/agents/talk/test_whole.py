from datetime import datetime

import pytest

from steward.agents.talk.amending import amended, counted, in_its_place, replaced, shifted, slip
from steward.agents.talk.whole import completed, in_full
from steward.models.planner.dialogue import Dialogue, Step

THURSDAY = datetime(2026, 11, 19, 9, 0)  # noqa: DTZ001 - by the speaker's own clock


def after(step: Step, said: str) -> Dialogue:
    return Dialogue(utterance=said, said_earlier=("before",), earlier=(step,))


@pytest.mark.parametrize(
    ("before", "said", "whole"),
    [
        ("what's the notice period?", "and the rent?", "what's the rent?"),
        ("how long does the soup simmer?", "and the stew?", "how long does the stew simmer?"),
        ("how much flour does it take?", "and salt?", "how much salt does it take?"),
        ("what's the weather in Oslo?", "and Bergen?", "what's the weather in Bergen?"),
        ("where does my sister live?", "what about my brother?", "where does my brother live?"),
        ("what is due on monday?", "and on tuesday?", "what is due on tuesday?"),
        ("what does B12 mean on the dryer?", "and C3?", "what does C3 mean on the dryer?"),
        ("when is Olga's exam?", "and Piet?", "when is Piet's exam?"),
        ("how heavy is the small anvil?", "and the large one?", "how heavy is the large anvil?"),
        (
            "how long do eggs boil in the big pot?",
            "and potatoes?",
            "how long do potatoes boil in the big pot?",
        ),
        ("do I have to reserve the sauna?", "with whom?", "with whom do I have to reserve the sauna?"),
        ("how many books did I read?", "which?", "which books did I read?"),
    ],
)
def test_a_question_is_completed_from_the_one_before(before: str, said: str, whole: str) -> None:
    assert completed(said, before, THURSDAY) == whole


def looked_into(title: str, said: str, before: str) -> Dialogue:
    found = {"results": [{"content": "It was made in 1998.", "metadata": {"document_title": title}}]}
    step = Step(tool="query_knowledge_base", arguments={"query": before}, data=found, helper=True, turn=1)
    return Dialogue(utterance=said, said_earlier=(before,), earlier=(step,))


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("who made it?", "who made the kiln"),
        ("and what is its voltage?", "what is the kiln's voltage"),
        ("and where is the fuse?", "where is the fuse"),
    ],
)
def test_a_pronoun_stands_for_what_the_document_is_about(said: str, whole: str) -> None:
    dialogue = looked_into("The kiln in the barn", said, "how hot does the kiln get?")
    assert in_full(dialogue, THURSDAY).utterance.strip(" ?") == whole


def test_a_pronoun_stands_for_what_a_memory_is_about() -> None:
    noted = Step(
        tool="store_memory", arguments={"content": "our landlady is called Frau Ott"}, data="m1", turn=1
    )
    assert in_full(after(noted, "what is her name?"), THURSDAY).utterance == "what is our landlady's name?"


def test_a_day_that_is_not_named_is_that_of_the_last_task() -> None:
    added = Step(tool="add_task", arguments={}, data={"task": {"id": "t", "due_date": "2026-11-27"}}, turn=1)
    whole = in_full(after(added, "add tune the harp for the same day"), THURSDAY).utterance
    assert whole == "add tune the harp on 2026-11-27"


@pytest.mark.parametrize("said", ["and delete the gym task", "and who wrote it?", "thanks", "and the rest?"])
def test_what_stands_alone_takes_nothing_over(said: str) -> None:
    assert completed(said, "what's the notice period?", THURSDAY) is None


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        ("times 4", "what is 36 times 4"),
        ("and divided by 8?", "what is 36 divided by 8"),
        ("multiply that by 7", "what is 36 times 7"),
        ("half of that", "what is half of 36"),
        ("and 20% of 300?", "and 20% of 300?"),
    ],
)
def test_a_sum_goes_on_with_what_was_worked_out(said: str, whole: str) -> None:
    step = Step(tool="calculate", arguments={"expression": "12 * 3"}, data={"result": "36"}, turn=1)
    assert in_full(after(step, said), THURSDAY).utterance == whole


def test_another_number_is_put_into_the_last_sum() -> None:
    step = Step(
        tool="calculate", arguments={"expression": "10 miles to km"}, data={"result": "16 km"}, turn=1
    )
    assert in_full(after(step, "and 25 miles?"), THURSDAY).utterance == "what is 25 miles to km"


def test_an_open_question_is_left_for_what_is_said_instead() -> None:
    asked = Dialogue(utterance="forget it, what's on tomorrow?", asked={"question": "Which one?"})
    left = in_full(asked, THURSDAY)
    assert (left.utterance, left.asked) == ("what's on tomorrow?", None)


def test_a_date_is_taken_from_the_document_that_was_read() -> None:
    text = "The villa opens on 11 December. Consent forms must be returned by 4 December."
    step = Step(
        tool="read_document", arguments={}, data={"passages": [{"heading": "", "text": text}]}, turn=1
    )
    said = "add return the consent form by the day it says"
    assert in_full(after(step, said), THURSDAY).utterance == "add return the consent form by 4 December"


@pytest.mark.parametrize(
    ("fact", "said", "old", "meant"),
    [
        ("Tom's birthday is on 4 May", "Tim's", "Tom's", "Tim's birthday is on 4 May"),
        ("my gym code is 4471", "4417", "", "my gym code is 4417"),
        ("Lena's flat number is 12", "21", "", "Lena's flat number is 21"),
        ("my sister lives in Leeds", "she lives in York", "", "my sister lives in York"),
        ("the key is under the pot", "it's with Mrs Lowe", "", "the key is with Mrs Lowe"),
        ("the key is under the pot", "it's not there", "", None),
        ("I play the oboe", "it's lovely", "", None),
    ],
)
def test_a_fact_is_put_right(fact: str, said: str, old: str, meant: str | None) -> None:
    assert amended(fact, said, old=old) == meant


def test_a_word_is_taken_for_the_one_it_was_misheard_as() -> None:
    assert slip("Zara", "ring Sara") == "ring Zara"
    assert slip("the plumber", "ring Sara") is None
    assert replaced("buy ham", "jam", "ham") == "buy jam"
    assert replaced("buy hamster food", "jam", "ham") is None


@pytest.mark.parametrize(
    ("said", "day"),
    [("the day before", "2026-11-26"), ("a week later", "2026-12-04"), ("two days earlier", "2026-11-25")],
)
def test_a_day_is_told_from_the_one_that_was_set(said: str, day: str) -> None:
    assert shifted(said, "2026-11-27") == day


@pytest.mark.parametrize("said", ["the dentist", "monday", "the day of the race"])
def test_other_words_shift_no_day(said: str) -> None:
    assert shifted(said, "2026-11-27") is None


@pytest.mark.parametrize(
    ("said", "title", "whole"),
    [
        ("three sacks", "carry two sacks of peat", "carry three sacks of peat"),
        ("two cakes", "bake a cake", "bake two cakes"),
        ("three crates", "carry two sacks of peat", None),
    ],
)
def test_another_number_of_the_same_things_is_put_into_a_title(
    said: str, title: str, whole: str | None
) -> None:
    assert counted(said, title) == whole


@pytest.mark.parametrize(
    ("new", "old", "same"),
    [
        ("the gardener comes on mondays", "The gardener comes on Thursdays", True),
        ("the gardener comes at ten", "The gardener comes on Thursdays", False),
        ("my sister lives in Turku", "My brother lives in Turku", False),
    ],
)
def test_a_fact_takes_the_place_of_one_on_the_same(new: str, old: str, same: bool) -> None:
    assert in_its_place(new, old) is same
