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
from steward.contract import linear_re as re
from steward.language.reading import ReadCall
from steward.models.planner.readers import Question, Reading
from steward.tasks.changes import Changes, read_update
from steward.tasks.dates.find import find_dates
from steward.tasks.dates.mention import DateMention
from steward.tasks.filters import Filters, read_filters
from steward.tasks.language import WHAT_TO_ADD
from steward.tasks.new_tasks import NewTask, read_new_tasks, without_list
from steward.tasks.priority import Priority, find_priority
from steward.tasks.references import Reference, read_reference

_EDGES = " ,.;:!?\"'\u201c\u201d"
_QUOTES = "\"'\u201d"
# "I have to get [the form]": from the verb on. "[the form] from the post office": to the end of the phrase.
_INFINITIVE = re.compile(
    r"\bto\s+(?P<rest>(?!(?:my|the|our|a|an|add)\b)\w+(?:\s+\w+){0,2}\s+)$", re.IGNORECASE
)
_CONTINUES = re.compile(
    r"\s+(?:from|in|at|with|for|to|of|about|into)(?:\s+(?!me\b)[\w'-]+){1,4}(?=\s*(?:[.,;!?]|(?:(?:by|before|on|until|due)(?:\s+the)?)?\s*$))",
    re.IGNORECASE,
)
SOMETHING = "x"  # stands for the title where only the date is read
WHEN = ("due_date", "recurrence")
JOINED = 8  # characters between two pieces that say one thing: "the 1st (of) every month"


def new_task(call: ReadCall, utterance: str, now: datetime) -> NewTask | None:
    """The task of one call: its title as it was marked, the rest by the grammar from the words marked."""
    title = _title(call, utterance)
    if not title:
        return None
    if find_dates(title, now):  # a date in the title is none of its words
        parsed = read_new_tasks(f"add {title}", now)
        item = parsed[0] if len(parsed) == 1 else NewTask(title)
    else:
        item = NewTask(without_list(title).strip() or title)
    urgency = find_priority(_said(call, "priority", utterance))
    when = [_timed(piece, now) for piece in _pieces(utterance, _spans(call))]
    return replace(
        item,
        due=next((each.due for each in when if each.due), None) or item.due or _date_at(call, utterance, now),
        recurrence=next((each.recurrence for each in when if each.recurrence), item.recurrence),
        priority=item.priority or (_priority(call) if urgency is None else urgency.priority),
        description=_said(call, "description", utterance) or item.description,
    )


def _spans(call: ReadCall) -> list[tuple[int, int]]:
    return [call.where[name] for name in WHEN if name in call.where]


def _timed(words: str, now: datetime) -> NewTask:
    parsed = read_new_tasks(f"add {SOMETHING} {words.lower()}", now)
    return parsed[0] if len(parsed) == 1 else NewTask(SOMETHING)


def _title(call: ReadCall, utterance: str) -> str:
    """The words marked as the title, with the rest of their phrase: "put the bins out", not "bins"."""
    if "title" not in call.where:
        return _said(call, "title", utterance)
    start, end = call.where["title"]
    others = [span for name, span in call.where.items() if name != "title"]
    before = utterance[max([0, *(stop for _, stop in others if stop <= start)]) : start]
    verb = _INFINITIVE.search(before)
    if verb is not None and not verb["rest"].rstrip().lower().endswith(" to"):
        start -= len(verb["rest"])
    following = utterance[end : min([len(utterance), *(first for first, _ in others if first >= end)])]
    more = _CONTINUES.match(following)
    if more is not None and utterance[end - 1 : end] not in _QUOTES:
        end += more.end()
    return utterance[start:end].strip(_EDGES)


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
        return utterance[start:end].strip(_EDGES)
    value = call.arguments.get(parameter)
    return value.strip() if isinstance(value, str) else ""
