"""What calls of the house's own tools mean, and what is only said in passing."""

from zoneinfo import ZoneInfo

import pytest
from tests.support.planner_talk import NOW

from steward.agents.assistant.builtin_reader import HouseReader
from steward.agents.assistant.small_talk import asks_for_ours, small_talk
from steward.language.reading import ReadCall
from steward.models.planner.readers import ReaderQuestion


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Good morning!", "Hello!"),
        ("Hi there, how are you?", "Hello!"),
        ("thanks a lot", "You're welcome."),
        ("How are you doing?", "I'm ready."),
        ("bye", "Goodbye!"),
        ("Nice to meet you.", "Likewise."),
        ("Hello, add milk to my list", None),
        ("Thanks, and what is the weather?", None),
    ],
)
def test_small_talk_is_answered_as_small_talk(said: str, answer: str | None) -> None:
    assert small_talk(said) == answer


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("where are my tasks stored?", True),
        ("Where do you keep all of my memories?", True),
        ("where are my keys kept?", False),
        ("where are my tasks?", False),
    ],
)
def test_who_asks_where_things_are_kept_here_is_told(said: str, *, told: bool) -> None:
    assert ("database" in (small_talk(said) or "")) is told


@pytest.mark.parametrize(
    ("said", "answer"),
    [("good morning, Steward", "Hello!"), ("hey, how's it going?", "I'm ready."), ("stop", "All right.")],
)
def test_a_greeting_before_something_else_is_only_a_greeting(said: str, answer: str) -> None:
    assert small_talk(said) == answer


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("can you read PDFs?", True),
        ("Could you open Word documents?", True),
        ("can you read the reports?", False),
        ("can you read PDFs aloud to me now?", False),
        ("read PDFs", False),
    ],
)
def test_who_asks_what_could_be_done_wants_nothing_done(said: str, *, asked: bool) -> None:
    assert asks_for_ours(said, lambda _, ability: ability == "file_reading") is asked


def test_what_the_house_does_not_do_is_left_to_the_search_for_gaps() -> None:
    assert not asks_for_ours("can you book flights?", lambda _, ability: ability == "travel_booking")


def test_every_sentence_of_what_is_to_be_remembered_is_kept() -> None:
    said = "Remember that the code is 1234. The cellar key is with Ana. The car is in row 7."
    where = {"content": (said.index("the code"), said.index("1234") + 4)}
    call = ReadCall("store_memory", {"content": "the code is 1234"}, (), 0.9, where)
    [reading] = HouseReader().interpret([call], said, unasked=False, now=NOW)
    assert (
        reading.arguments["content"] == "the code is 1234. The cellar key is with Ana. The car is in row 7."
    )


def test_what_only_asks_to_keep_it_is_left_out() -> None:
    said = "my daughter is called Greta, keep that in mind"
    call = ReadCall("store_memory", {}, (), 0.9, {"content": (0, said.index(","))})
    [reading] = HouseReader().interpret([call], said, unasked=False, now=NOW)
    assert reading.arguments["content"] == "my daughter is called Greta"


def test_what_is_looked_for_is_the_whole_question_where_no_part_of_it_was_marked() -> None:
    call = ReadCall("search_memory", {}, (), 0.9)
    [reading] = HouseReader().interpret([call], "what was Noor's shoe size?", unasked=False, now=NOW)
    assert reading.arguments == {"query": "what was Noor's shoe size"}


def test_a_fact_that_nobody_asked_to_keep_is_asked_about() -> None:
    said = "My locker is 2207"
    call = ReadCall("store_memory", {"content": said}, (), 0.9, {"content": (0, len(said))})
    [reading] = HouseReader().interpret([call], said, unasked=True, now=NOW)
    assert isinstance(reading.question, ReaderQuestion)
    assert reading.question.text == "Should I remember this: “My locker is 2207”?"


def test_a_look_at_the_clock_is_in_the_persons_zone() -> None:
    call = ReadCall("get_current_time", {}, (), 0.9)
    zoned = NOW.replace(tzinfo=ZoneInfo("Europe/Oslo"))
    [plain] = HouseReader().interpret([call], "What time is it?", unasked=False, now=zoned)
    assert plain.arguments == {"timezone": "Europe/Oslo"}


def test_code_is_taken_out_of_its_fence() -> None:
    call = ReadCall("code_execution", {"code": "`ls -l`", "language": "shell"}, (), 0.95)
    [reading] = HouseReader().interpret([call], "run `ls -l`", unasked=False, now=NOW)
    assert reading.arguments == {"code": "ls -l", "language": "shell"}


@pytest.mark.parametrize(
    ("said", "kept"), [("what does my lease doc say", False), ("ask project lease", True)]
)
def test_a_project_is_meant_only_where_one_is_spoken_of(said: str, *, kept: bool) -> None:
    call = ReadCall("query_knowledge_base", {"query": said, "project_name": "lease"}, (), 0.9)
    [reading] = HouseReader().interpret([call], said, unasked=False, now=NOW)
    assert ("project_name" in reading.arguments) == kept
