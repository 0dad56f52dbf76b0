"""What calls of the task tools mean, where the taught reader has filled them.

Owns how its pieces of text become a task, a filter or a change: titles free of by-words, dates and rules of
repetition by the tasks' own grammar, and the task that is pointed to. Which tool is meant was decided before.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from steward.agents import task_words as words
from steward.agents.task_changes import finisher
from steward.agents.task_choice import touch_reading
from steward.agents.task_lists import list_reading
from steward.language.reading import ReadCall
from steward.models.planner.readers import Question, Reading
from steward.tasks.changes import Changes, read_update
from steward.tasks.dates.find import find_dates
from steward.tasks.dates.mention import DateMention
from steward.tasks.filters import Filters, read_filters
from steward.tasks.language import WHAT_TO_ADD
from steward.tasks.new_tasks import NewTask, read_new_tasks
from steward.tasks.priority import Priority, find_priority
from steward.tasks.references import Reference, read_reference

WHEN = ("due_date", "recurrence")
JOINED = 8  # characters between two pieces that say one thing: "the 1st (of) every month"


def new_task(call: ReadCall, utterance: str, now: datetime) -> NewTask | None:
    """The task of one call: its title as it was marked, the rest by the grammar from the words marked."""
    title = _said(call, "title", utterance)
    if not title:
        return None
    when = " ".join(_pieces(utterance, [call.where[name] for name in WHEN if name in call.where]))
    parsed = read_new_tasks(f"add {title} {when}".strip(), now)
    item = parsed[0] if len(parsed) == 1 else NewTask(title)
    due = item.due or _date_at(call, utterance, now)
    urgency = find_priority(_said(call, "priority", utterance))
    return replace(
        item,
        title=title if not item.due and due is not None else item.title,
        due=due,
        priority=item.priority or (_priority(call) if urgency is None else urgency.priority),
        description=_said(call, "description", utterance) or item.description,
    )


def _pieces(utterance: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The texts of these spans in order; what stands close together is one piece, with what joins it."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] <= JOINED:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return [utterance[start:end] for start, end in joined]


def _date_at(call: ReadCall, utterance: str, now: datetime) -> DateMention | None:
    """The date that stands where the due date was marked."""
    start, end = call.where.get("due_date", (0, 0))
    mentions = find_dates(utterance, now)
    return next((each for each in mentions if each.span[0] < end and each.span[1] > start), None)


def what_to_add(certainty: float) -> Reading:
    return Reading(
        tool=words.ADD, question=Question(WHAT_TO_ADD, {"waits_for": "title"}), certainty=certainty
    )


def listed(call: ReadCall, utterance: str, now: datetime) -> Reading:
    """When and how urgent is read by the grammar; a word to search for only where it was marked as one."""
    by_grammar = read_filters(utterance, now)
    completed = call.arguments.get("completed")
    done = bool(completed) if isinstance(completed, bool) else None
    filters: Filters = replace(
        by_grammar,
        search=_said(call, "search", utterance) or None,
        completed=done,
        done_after=by_grammar.done_after if done else None,
        done_before=by_grammar.done_before if done else None,
        due_before=by_grammar.due_before or (None if done else by_grammar.done_before),
        due_after=by_grammar.due_after or (None if done else by_grammar.done_after),
    )
    return list_reading(filters, now, certainty=call.fit)


def touched(call: ReadCall, utterance: str, now: datetime) -> Reading:
    """Completing, changing or deleting a task that is pointed to."""
    named = _said(call, "task_id", utterance)
    reference = read_reference(named) if named else Reference("", pronoun=True)
    if call.tool != words.UPDATE:
        wanted = False if call.tool == words.COMPLETE else None
        return touch_reading(call.tool, reference, wanted=wanted, certainty=call.fit)
    changes = changed(call, utterance, now)
    touch = touch_reading(words.UPDATE, reference, wanted=changes.completed is False, certainty=call.fit)
    return replace(touch, finish=finisher(changes, now))


def changed(call: ReadCall, utterance: str, now: datetime) -> Changes:
    """What is to be changed: by the grammar of changes where it finds something, else as it was marked."""
    by_grammar = read_update(utterance, now)[1]
    if by_grammar != Changes():
        return by_grammar
    due = find_dates(_said(call, "due_date", utterance), now)
    priority = find_priority(_said(call, "priority", utterance))
    completed: Any = call.arguments.get("completed")
    return Changes(
        title=_said(call, "title", utterance) or None,
        due=due[0] if due else None,
        priority=_priority(call) if priority is None else priority.priority,
        completed=completed if isinstance(completed, bool) else None,
    )


def _priority(call: ReadCall) -> Priority | None:
    said = str(call.arguments.get("priority") or "").lower()
    return next((each for each in Priority if each.value == said), None)


def _said(call: ReadCall, parameter: str, utterance: str) -> str:
    """The words that fill a parameter, as they stand in the utterance."""
    if parameter in call.where:
        start, end = call.where[parameter]
        return utterance[start:end].strip(" ,.;:!?\"'\u201c\u201d")
    value = call.arguments.get(parameter)
    return value.strip() if isinstance(value, str) else ""
