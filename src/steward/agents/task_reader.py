"""The task language as a hint to the planner: what people say about tasks, and how it is answered.

Owns the translation from what `tasks.language` understood to calls of the task tools, and back from their
results to words. Touches nothing: the planner calls, the door decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, assert_never, cast
from zoneinfo import ZoneInfo

from pydantic_ai import ToolDefinition

from steward.agents import task_words as words
from steward.agents.task_calls import listed, new_task, touched, what_to_add
from steward.agents.task_changes import due_text, finisher
from steward.agents.task_choice import touch_reading
from steward.agents.task_lists import headline, list_reading, looked_for, sifted
from steward.conversations.model import CallRecord, CallStatus
from steward.language.reading import ReadCall
from steward.models.planner.dialogue import Step
from steward.models.planner.readers import Question, Reading, Record
from steward.tasks.answers import Cancel, Everything, No, Yes, read_answer
from steward.tasks.changes import Changes, read_update
from steward.tasks.language import (
    Add,
    Ask,
    Complete,
    Delete,
    List,
    Other,
    Understanding,
    Update,
    understand,
    understand_by_verb,
)
from steward.tasks.new_tasks import NewTask, read_new_tasks
from steward.tasks.repeats import first_due

NAME = "tasks"
TOUCHING = frozenset({words.COMPLETE, words.UPDATE, words.DELETE})
NOTHING_DONE = "Okay, I haven't changed anything."


class TaskReader:
    """A planner's `UtteranceReader` and `Speaker` for the task tools."""

    def read(self, utterance: str, tools: Sequence[ToolDefinition], now: datetime) -> Sequence[Reading]:  # noqa: ARG002
        meaning = understand(utterance, now)
        if isinstance(meaning, Other):  # less sure, so that a tool that fits better wins
            meaning = understand_by_verb(utterance, now)
            if isinstance(meaning, List) and meaning.filters.search:
                return [looked_for(meaning.filters.search, certainty=meaning.confidence)]
        return _readings(meaning, utterance, now)

    def interpret(
        self, calls: Sequence[ReadCall], utterance: str, *, rules: Sequence[Reading], now: datetime
    ) -> Sequence[Reading]:
        """What was filled, read by the grammar of tasks; the rules' word where too little was filled."""
        found: list[Reading] = []
        for call in calls:
            if call.tool == words.ADD:
                item = new_task(call, utterance, now)
                found.append(
                    what_to_add(call.fit) if item is None else replace(_add(item, now), certainty=call.fit)
                )
            elif call.tool == words.LIST:
                found.append(listed(call, utterance, now))
            else:
                found.append(touched(call, utterance, now))
        asks = any(each.question is not None for each in found)
        pointless = any(call.tool in TOUCHING and "task_id" not in call.arguments for call in calls)
        return rules if rules and (asks or pointless) else found

    def answer(
        self,
        memo: Mapping[str, Any],
        utterance: str,
        tools: Sequence[ToolDefinition],  # noqa: ARG002
        now: datetime,
    ) -> Sequence[Reading] | str | None:
        said = read_answer(utterance)
        if isinstance(said, No | Cancel):
            return NOTHING_DONE
        match memo.get("waits_for"):
            case "yes":
                proposed = str(memo.get("meaning") or "")
                return self._proposed(proposed, now) if isinstance(said, Yes | Everything) else None
            case "title":
                return _new_title(utterance, now)
            case "change":
                return _new_change(str(memo.get("task_id")), memo.get("task"), utterance, now)
            case _:
                return None

    def _proposed(self, meaning: str, now: datetime) -> Sequence[Reading]:
        if meaning == "list":
            return [Reading(tool=words.LIST)]
        items = read_new_tasks(meaning, now) or (NewTask(meaning),)
        return [_add(item, now) for item in items]

    def which(
        self, tool: str, mention: str, records: Sequence[Record], now: datetime
    ) -> tuple[str, list[str]]:
        return words.which(tool, mention), [words.line(record, now) for record in records]

    def abilities(self, unmet: str | None) -> str:
        return f"{words.NOT_ABOUT_TASKS} {words.ABILITIES}" if unmet else words.ABILITIES

    def nothing(self, tool: str, mention: str) -> Question:  # noqa: ARG002
        return Question(words.not_found(mention), {"waits_for": "yes", "meaning": "list"})

    def shown(self, step: Step) -> Sequence[Record] | None:
        record = _record(step)
        tasks = words.listed(record)
        return None if tasks is None else sifted(tasks, step.memo)

    def tell(self, steps: Sequence[Step], known: Sequence[Step], now: datetime) -> str:
        records = [_record(step) for step in known]
        told: list[str] = []
        batch: list[CallRecord] = []
        for step in steps:
            tasks = self.shown(step)
            if tasks is None:
                batch.append(_record(step))
                continue
            told += [words.told(batch, records, now)] if batch else []
            batch = []
            told.append(words.list_told(tasks, now, headline(step.memo)))
        told += [words.told(batch, records, now)] if batch else []
        return "\n".join(told)


def _record(step: Step) -> CallRecord:
    failed = step.failure is not None
    return CallRecord(
        tool=step.tool,
        arguments=step.arguments,
        status=CallStatus.FAILED if failed else CallStatus.DONE,
        data=step.data,
        error=step.failure,
        error_code=step.code,
    )


# --- readings ---


def _readings(  # noqa: PLR0911 - one line a meaning
    meaning: Understanding, utterance: str, now: datetime
) -> Sequence[Reading]:
    match meaning:
        case Add(items=items, confidence=sure):
            return [replace(_add(item, now), certainty=sure) for item in items]
        case List(filters=filters, confidence=sure):
            return [list_reading(filters, now, certainty=sure)]
        case Complete(reference=reference, confidence=sure):
            return [touch_reading(words.COMPLETE, reference, wanted=False, certainty=sure)]
        case Delete(reference=reference, confidence=sure):
            return [touch_reading(words.DELETE, reference, wanted=None, certainty=sure)]
        case Update(reference=reference, changes=changes, confidence=sure):
            reopening = changes.completed is False
            touch = touch_reading(words.UPDATE, reference, wanted=reopening, certainty=sure)
            return [replace(touch, finish=finisher(changes, now))]
        case Ask(question=question, proposal=proposal, confidence=sure):
            memo = {"waits_for": "yes", "meaning": utterance} if proposal else {"waits_for": "title"}
            return [Reading(tool=words.ADD, question=Question(question, memo), certainty=sure)]
        case Other():
            return []
        case _:
            assert_never(meaning)


def _add(item: NewTask, now: datetime) -> Reading:
    arguments: dict[str, Any] = {"title": item.title}
    due = due_text(item.due) if item.due else None
    if item.recurrence and due is None:
        # Reckoned in wall-clock time, whatever the zone.
        first = first_due(item.recurrence, now=now.replace(tzinfo=UTC), zone=ZoneInfo("UTC"))
        due = first.on.isoformat() if first else None
    given = {
        "due_date": due,
        "priority": item.priority.value if item.priority else None,
        "description": item.description,
        "recurrence": item.recurrence,
    }
    return Reading(
        tool=words.ADD,
        arguments=arguments | {name: value for name, value in given.items() if value is not None},
    )


# --- which task ---


# --- changes ---


# --- answers ---


def _new_title(utterance: str, now: datetime) -> Sequence[Reading] | None:
    """What was to be added; None for a request that is plainly another one."""
    meaning = understand(utterance, now)
    if isinstance(meaning, List | Delete | Update) and meaning.confidence >= 0.9:
        return None
    items = meaning.items if isinstance(meaning, Add) else read_new_tasks(f"add {utterance}", now)
    return [_add(item, now) for item in items] or None


def _new_change(task_id: str, task: Any, utterance: str, now: datetime) -> Sequence[Reading] | None:
    """What to change about the task that was asked about."""
    meaning = understand(utterance, now)
    if isinstance(meaning, Add | List | Delete | Complete) and meaning.confidence >= 0.9:
        return None
    changes = read_update(utterance, now)[1]
    if changes == Changes():
        changes = read_update(f"change it to {utterance}", now)[1]
    record: Record = {"id": task_id}
    if isinstance(task, Mapping):
        record = {**record, **cast("Record", task)}
    finished = finisher(changes, now)(record)
    if isinstance(finished, Question):
        return [Reading(tool=words.UPDATE, question=finished)]
    return [Reading(tool=words.UPDATE, arguments={"task_id": task_id, **finished})]
