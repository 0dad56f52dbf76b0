"""Requests about tasks, as people say them, read by the task assistant.

`tests/requests/tasks.jsonl` holds the words and what they mean: the calls with their arguments, the words
that point at a task, what is to be changed about it, or that something is asked first. A row without
arguments is about the tool alone.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.taught_tasks import read_tasks

from steward.models.planner.decisions import Goal
from steward.models.planner.readers import Mention, ReaderQuestion

ROWS = Path(__file__).parents[3] / "requests" / "tasks.jsonl"
NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)  # a Monday
RECORD = {"id": "task_1", "title": "x", "due_date": "2026-11-20"}
RIGHT, RIGHT_TOOL, WRONG_CHANGE = 0.86, 0.91, 0.03


def described(goal: Goal) -> dict[str, Any]:
    named = goal.memo.get("named")  # what is looked for in the whole list
    given = dict(goal.arguments) if named is None else {"named": named}
    found: dict[str, Any] = {"tool": goal.tool.name, "arguments": given}
    mention = goal.mentions.get("task_id")
    if isinstance(mention, Mention):
        found["names"] = {
            "text": mention.text.lower(),
            "places": list(mention.places),
            "it": mention.it,
        }
    if goal.finish is not None:
        finished = goal.finish(RECORD)
        found["changes"] = "asks" if isinstance(finished, ReaderQuestion) else dict(finished)
    return found


def same(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    return all(wanted.get(part, {}) == found.get(part, {}) for part in ("arguments", "names", "changes"))


def verdict(row: Mapping[str, Any], goals: Sequence[Goal]) -> str:
    asks = any(goal.question is not None for goal in goals)
    changes = [goal for goal in goals if goal.tool.changes and goal.question is None]
    if row.get("asks"):
        return "right" if asks else "wrong change" if changes else "wrong"
    wanted = row["calls"]
    tools = [goal.tool.name for goal in goals]
    if asks or set(tools) != {each["tool"] for each in wanted}:
        return "wrong change" if changes else "wrong"
    if all(set(each) == {"tool"} for each in wanted):
        return "right"
    found = [described(goal) for goal in goals]
    whole = len(found) == len(wanted) and all(map(same, wanted, found))
    return "right" if whole else "right tool"


@pytest.mark.req("TODO-SC-002")
@pytest.mark.timeout(600)
def test_what_people_say_about_tasks_is_understood() -> None:
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    counted: Counter[str] = Counter()
    missed: list[str] = []
    for row in rows:
        goals = read_tasks(row["text"], NOW)
        said = verdict(row, goals)
        counted[said] += 1
        if said != "right":
            missed.append(f"{said}: {row['text']!r}: {[described(each) for each in goals]}")
    told = "\n".join([str(counted), *missed])
    assert counted["right"] / len(rows) >= RIGHT, told
    assert (counted["right"] + counted["right tool"]) / len(rows) >= RIGHT_TOOL, told
    assert counted["wrong change"] / len(rows) <= WRONG_CHANGE, told


@pytest.mark.parametrize("text", ["add " * 20_000, "x" * 1_000_000, "add a\0b", "," * 3000, "", "   ", "\n"])
def test_hostile_texts_are_read_without_an_error(text: str) -> None:
    assert isinstance(read_tasks(text, NOW), list)
