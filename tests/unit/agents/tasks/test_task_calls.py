"""From what the taught reader marked to a task, a list or a change."""

from datetime import datetime
from typing import Any

import pytest

from steward.agents.tasks.task_calls import changed, listed, new_tasks, of_what_is_there, touched
from steward.agents.tasks.task_reader import TaskReader
from steward.language.reading import ReadCall
from steward.models.planner.readers import Mention, ReaderQuestion
from steward.tasks.model import Priority

NOW = datetime(2026, 11, 16, 10)  # noqa: DTZ001 - a Monday, wherever


def call(tool: str, said: str, *, marked: dict[str, str], **arguments: Any) -> ReadCall:
    """A call in which these words of the utterance fill these parameters."""
    where = {name: (said.index(words), said.index(words) + len(words)) for name, words in marked.items()}
    return ReadCall(tool, {**marked, **arguments}, (), 0.9, where)


@pytest.mark.parametrize(
    ("said", "marked", "title"),
    [
        ("would you be so kind as to add that I should phone Eva", {"title": "phone Eva"}, "phone Eva"),
        ("I need to put the recycling out", {"title": "recycling out"}, "put the recycling out"),
        (
            "I have to get the form from the post office.",
            {"title": "get the form"},
            "get the form from the post office",
        ),
        ("i need to remember to buy lightbulbs", {"title": "buy lightbulbs"}, "buy lightbulbs"),
        ("put 'renew passport' on my list", {"title": "renew passport"}, "renew passport"),
        ("need to get the mail tomorrow", {"title": "get the mail tomorrow"}, "get the mail"),
    ],
)
def test_a_title_is_the_whole_phrase_and_nothing_around_it(
    said: str, marked: dict[str, str], title: str
) -> None:
    [item] = new_tasks(call("add_task", said, marked=marked), said, NOW)
    assert item.title == title


def test_dates_repetition_and_urgency_come_from_the_words_marked() -> None:
    said = "pay rent on the 1st of every month, high prio"
    marked = {
        "title": "pay rent",
        "due_date": "the 1st",
        "recurrence": "every month",
        "priority": "high prio",
    }
    [item] = new_tasks(call("add_task", said, marked=marked), said, NOW)
    assert item.due is not None
    assert item.due.value.date().isoformat() == "2026-12-01"
    assert item.recurrence == "FREQ=MONTHLY"
    assert item.priority is Priority.HIGH


@pytest.mark.parametrize(
    ("title", "things"),
    [
        ("rice and beans", ["rice", "beans"]),
        ("pens, paper & glue", ["pens", "paper", "glue"]),
        ("water and bread", ["water", "bread"]),
        ("order paper and toner", ["order paper and toner"]),
        ("wash and dry the towels", ["wash and dry the towels"]),
        ("dinner with Ann and Bob", ["dinner with Ann and Bob"]),
        ("Ann and Bob's wedding", ["Ann and Bob's wedding"]),
        ("call Ann and order paper", ["call Ann", "order paper"]),
    ],
)
def test_things_that_are_listed_are_tasks_by_themselves_and_one_thing_to_do_is_one(
    title: str, things: list[str]
) -> None:
    said = f"add {title}"
    added = new_tasks(call("add_task", said, marked={"title": title}), said, NOW)
    assert [each.title for each in added] == things


def test_what_is_quoted_is_one_title() -> None:
    said = "add 'rice and beans'"
    [item] = new_tasks(call("add_task", said, marked={"title": "rice and beans"}), said, NOW)
    assert item.title == "rice and beans"


@pytest.mark.parametrize(
    ("said", "marked", "title"),
    [
        ("I must not forget feeding the hens", "forget feeding the hens", "feed the hens"),
        ("I must not to forget paying the coalman", "forget paying the coalman", "pay the coalman"),
        ("don't let me forget to call Ines", "forget to call Ines", "call Ines"),
        ("we should never forget about washing the nets", "washing the nets", "wash the nets"),
        ("I can't forget the evening class", "forget the evening class", "the evening class"),
        ("never let me forget returning Bo's drill", "forget returning Bo's drill", "return Bo's drill"),
        ("put 'Lea's coat, size 4' down as she's cold", "Lea's coat", "Lea's coat, size 4"),
    ],
)
def test_a_title_is_the_thing_itself(said: str, marked: str, title: str) -> None:
    [item] = new_tasks(call("add_task", said, marked={"title": marked}), said, NOW)
    assert item.title == title


def test_the_objects_of_one_verb_stay_together_where_they_were_marked_apart() -> None:
    said = "add order paper and toner"
    marked = [call("add_task", said, marked={"title": title}) for title in ("order paper", "toner")]
    readings = TaskReader().interpret(marked, said, unasked=False, now=NOW)
    assert [each.arguments["title"] for each in readings] == ["order paper and toner"]


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("update the milk task", "update_task"),
        ("remove my gym reminder", "delete_task"),
        ("finish the laundry item", "complete_task"),
        ("put the milk on the list", "add_task"),
        ("change oil", "add_task"),
    ],
)
def test_nobody_adds_a_task_by_changing_it(said: str, tool: str) -> None:
    assert of_what_is_there(call("add_task", said, marked={}), said).tool == tool


def test_a_call_without_a_title_asks_for_it() -> None:
    [reading] = TaskReader().interpret(
        [call("add_task", "add a task", marked={})], "add a task", unasked=False, now=NOW
    )
    assert reading.question is not None


def test_a_word_is_searched_for_only_where_it_was_marked() -> None:
    said = "what do i need to get done by friday"
    reading = listed(call("list_tasks", said, marked={}), said, NOW)
    assert "search" not in reading.arguments
    assert "completed" not in reading.arguments


def test_the_task_that_is_pointed_to_is_looked_for_by_the_words_marked() -> None:
    said = "bin the piano lesson one, no need for it"
    reading = touched(call("delete_task", said, marked={"task_id": "the piano lesson one"}), said, NOW)
    mention = reading.mentions["task_id"]
    assert isinstance(mention, Mention)
    assert mention.text == "piano lesson"


def test_what_the_grammar_of_changes_does_not_read_is_taken_as_marked() -> None:
    said = "zzz qqq milk oat milk"
    found = changed(call("update_task", said, marked={"title": "oat milk"}), said, NOW)
    assert found.title == "oat milk"


@pytest.mark.parametrize(
    ("said", "text", "places", "it"),
    [
        ("I finished the call", "call", (), False),
        ("mark the second one as done", "", (2,), False),
        ("tick it off", "", (), True),
        ("complete everything", "", (), False),
    ],
)
def test_where_no_words_were_marked_it_is_only_where_it_was_said(
    said: str, text: str, places: tuple[int, ...], it: bool
) -> None:
    mention = touched(ReadCall("complete_task", {}, (), 0.9), said, NOW).mentions["task_id"]
    assert isinstance(mention, Mention)
    assert (mention.text, mention.places, mention.it) == (text, places, it)


@pytest.mark.parametrize(
    "call_", [ReadCall("list_tasks", {"search": "rent"}, (), 0.9), ReadCall("complete_task", {}, (), 0.9)]
)
def test_what_is_only_named_is_offered_as_a_task_and_nothing_is_touched(call_: ReadCall) -> None:
    [reading] = TaskReader().interpret([call_], "the rent", unasked=True, now=NOW)
    assert isinstance(reading.question, ReaderQuestion)
    assert reading.question.text == "Would you like me to add 'the rent' as a new task?"
