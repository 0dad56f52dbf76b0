"""How people ask for what the house can do."""

from typing import Any

import pytest
from pydantic_ai import ToolDefinition
from tests.planner_talk import NOW

from steward.agents.house_reader import TOOLS, HouseReader, speaks_of_tasks, tells_of_tasks, understands
from steward.agents.manners import asks_for_ours, small_talk
from steward.language.reading import ReadCall

OFFERED = [ToolDefinition(name=name) for name in sorted(TOOLS)]


def read(said: str) -> Any:
    reading = HouseReader().read(said, OFFERED, NOW)
    return reading and (reading.tool, reading.question or dict(reading.arguments))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "What's the weather in Seoul today?",
            ("web_search", {"query": "What's the weather in Seoul today"}),
        ),
        ("latest news on Python", ("web_search", {"query": "latest news on Python"})),
        ("Weather in Oslo", ("web_search", {"query": "Weather in Oslo"})),
        ("Search the web for folding bikes", ("web_search", {"query": "folding bikes"})),
        ("google the Louvre", ("web_search", {"query": "the Louvre"})),
        ("Look up train strikes online", ("web_search", {"query": "train strikes"})),
        ("Remember that Ana likes tea", ("store_memory", {"content": "Ana likes tea"})),
        ("Keep in mind: the code changed", ("store_memory", {"content": "the code changed"})),
        ("What did we decide about Rome?", ("search_memory", {"query": "What did we decide about Rome"})),
        ("What did I tell you about tea?", ("search_memory", {"query": "What did I tell you about tea"})),
        ("What do my documents say about swarms?", ("query_knowledge_base", {"query": "swarms"})),
        ("List all collections", ("manage_collections", {"action": "list"})),
        (
            "Create a project collection called moon",
            (
                "manage_collections",
                {"action": "create", "collection_name": "moon", "collection_type": "project-specific"},
            ),
        ),
        (
            "Delete the collection named moon",
            ("manage_collections", {"action": "delete", "collection_name": "moon"}),
        ),
        ("Create a collection", ("manage_collections", "What is the name of the collection to create?")),
        ("Run this Python code: print(1)", ("code_execution", {"code": "print(1)", "language": "python"})),
        ("Execute the command `ls -l`", ("code_execution", {"code": "ls -l", "language": "shell"})),
        ("Ask me which colour I like", ("request_human_input", {"question": "Which colour I like?"})),
        ("Read notes.md", ("read_file", {"path": "notes.md"})),
        ("Read https://a.example/x.", ("fetch_page", {"url": "https://a.example/x"})),
        ("Read a file", ("read_file", "Which file should I read?")),
        ("What is in docs/notes.md?", ("read_file", {"path": "docs/notes.md"})),
        ("What does notes.md say?", ("read_file", {"path": "notes.md"})),
        ("What time is it?", ("get_current_time", {})),
        ("what is my bike lock code?", ("search_memory", {"query": "what is my bike lock code"})),
    ],
)
def test_the_everyday_ways_of_asking_are_read(said: str, meant: Any) -> None:
    assert read(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "What is the capital of France?",
        "What time is it in Tokyo right now?",
        "What do I have to do today?",
        "Add milk to my list tomorrow",
        "Send an email to Tom about the news",
        "Hello",
    ],
)
def test_everything_else_is_left_to_what_definitions_say(said: str) -> None:
    assert read(said) is None


def test_speaking_of_the_list_is_told_from_speaking_of_things() -> None:
    assert speaks_of_tasks("Don't let me forget to buy stamps")
    assert speaks_of_tasks("Add renew the passport tomorrow 9am, high priority")
    assert not speaks_of_tasks("Add a column to the customers table")
    assert not speaks_of_tasks("Order a pizza for dinner")


def test_a_tool_that_is_not_offered_is_not_read() -> None:
    assert HouseReader().read("google the Louvre", [ToolDefinition(name="read_file")], NOW) is None


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


def test_a_countdown_is_understood() -> None:
    assert understands("How many days until Christmas?")


@pytest.mark.parametrize(
    "said", ["I've paid the rent", "the plants are watered", "I need to call the plumber on Thursday"]
)
def test_what_is_done_or_ones_own_to_do_is_told_of_tasks(said: str) -> None:
    assert tells_of_tasks(said)


@pytest.mark.parametrize(
    "said", ["Close the garage", "Delete the old orders table", "I need a taxi", "I live in Lyon"]
)
def test_a_command_or_a_wish_is_not(said: str) -> None:
    assert not tells_of_tasks(said)


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
        ("can you list tasks?", False),
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
    [reading] = HouseReader().interpret([call], said, rules=(), now=NOW)
    assert (
        reading.arguments["content"] == "the code is 1234. The cellar key is with Ana. The car is in row 7."
    )


def test_what_only_asks_to_keep_it_is_left_out() -> None:
    said = "my daughter is called Greta, keep that in mind"
    call = ReadCall("store_memory", {}, (), 0.9, {"content": (0, said.index(","))})
    [reading] = HouseReader().interpret([call], said, rules=(), now=NOW)
    assert reading.arguments["content"] == "my daughter is called Greta"


def test_what_is_looked_for_is_the_whole_question_where_no_part_of_it_was_marked() -> None:
    call = ReadCall("search_memory", {}, (), 0.9)
    [reading] = HouseReader().interpret([call], "what was Noor's shoe size?", rules=(), now=NOW)
    assert reading.arguments == {"query": "what was Noor's shoe size"}
