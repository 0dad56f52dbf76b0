"""What a person's own tasks say to a question: "when is the vet?", "who am I having lunch with on Tuesday?".

Owns which tasks a question is about, and how they are told. Pure.
"""

from collections.abc import Sequence
from datetime import datetime

from steward.agents.researcher.questions import keywords
from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_choice import HELP_LISTING
from steward.agents.tasks.task_reader import TaskReader
from steward.language.asking import asks_of_day
from steward.language.dates.find import find_dates
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.readers import Record
from steward.models.planner.words import stems

ABOUT = 0.5  # of the words that carry a question, for a task to be what it asks about
MOST_TOLD = 5


def ask_tasks(
    dialogue: Dialogue, tools: Sequence[str], now: datetime, *, least: float = ABOUT
) -> Decision | None:
    """The next step towards what the tasks say; None where they say nothing.

    `least`: of the words that carry the question, for a task to be what it asks about.
    """
    if words.LIST not in tools:
        return None
    listed = [step for step in dialogue.steps if step.tool == words.LIST]
    if not listed:
        return Call(tool=words.LIST, arguments=dict(HELP_LISTING), goal=0, helper=True)
    if listed[0].failure is not None:
        return None
    found = about(dialogue.utterance, TaskReader().shown(listed[0]) or (), now, least=least)
    if not found:
        return None
    if len(found) == 1 and len(listed) == 1:  # on its own, so that it is what "it" means from here on
        search = {"search": str(found[0].get("title") or "")[:100]}
        return Call(tool=words.LIST, arguments=search, goal=0, confidence=1.0)
    told = "\n".join(f"- {words.line(each, now)}" for each in found[:MOST_TOLD])
    return Tell(text=f"This is in your tasks:\n{told}", confidence=ABOUT)


def about(question: str, tasks: Sequence[Record], now: datetime, *, least: float = ABOUT) -> list[Record]:
    """The open tasks that share most words with a question, of the day it names."""
    dates = find_dates(question, now)
    said = question
    for mention in reversed(dates):
        start, end = mention.span
        said = f"{said[:start]} {said[end:]}"
    wanted = set(keywords(said))
    days = {each.start.date().isoformat() for each in dates}
    kept = [each for each in tasks if not each.get("completed") and _on(each, days)]
    shared = [len(wanted & set(stems(str(each.get("title") or "")))) for each in kept]
    if asks_of_day(question, now):
        return kept
    most = max(shared, default=0)
    if not wanted or most / len(wanted) < least:
        return []
    return [each for each, count in zip(kept, shared, strict=True) if count == most]


def _on(task: Record, days: set[str]) -> bool:
    return not days or str(task.get("due_date") or "")[:10] in days
