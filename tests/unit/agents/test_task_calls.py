"""From what the taught reader marked to a task, a list or a change."""

from datetime import datetime
from typing import Any

import pytest

from steward.agents.task_calls import changed, listed, new_task, touched
from steward.agents.task_reader import TaskReader
from steward.language.reading import ReadCall
from steward.models.planner.readers import Mention
from steward.tasks.priority import Priority

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
    item = new_task(call("add_task", said, marked=marked), said, NOW)
    assert item is not None
    assert item.title == title


def test_dates_repetition_and_urgency_come_from_the_words_marked() -> None:
    said = "pay rent on the 1st of every month, high prio"
    marked = {
        "title": "pay rent",
        "due_date": "the 1st",
        "recurrence": "every month",
        "priority": "high prio",
    }
    item = new_task(call("add_task", said, marked=marked), said, NOW)
    assert item is not None
    assert item.due is not None
    assert item.due.value.date().isoformat() == "2026-12-01"
    assert item.recurrence == "FREQ=MONTHLY"
    assert item.priority is Priority.HIGH


def test_a_call_without_a_title_asks_for_it() -> None:
    [reading] = TaskReader().interpret(
        [call("add_task", "add a task", marked={})], "add a task", rules=(), now=NOW
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


def test_the_rules_have_the_word_where_nothing_is_pointed_to() -> None:
    reader = TaskReader()
    rules = reader.read("I finished the call", [], NOW)
    told = reader.interpret(
        [ReadCall("complete_task", {}, (), 0.9)], "I finished the call", rules=rules, now=NOW
    )
    assert told is rules
