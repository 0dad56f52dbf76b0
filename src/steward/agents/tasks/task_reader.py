"""What calls of the task tools mean, and how what came of them is told.

Owns the translation from what the taught reader filled to calls of the task tools, and back from their
results to words. Touches nothing: the planner calls, the door decides.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from pydantic_ai import ToolDefinition

from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_calls import (
    listed,
    new_tasks,
    of_what_is_there,
    put_together,
    touched,
    what_to_add,
)
from steward.agents.tasks.task_changes import due_text, finisher
from steward.agents.tasks.task_lists import headline, sifted
from steward.contract.preferences import without_rivals
from steward.contract.tool import ToolSpec
from steward.conversations.model import CallRecord, CallStatus
from steward.language.reading import Readable, ReadCall, read
from steward.language.reply import Cancel, Everything, No, Yes, read_answer
from steward.language.telling import asks_to_be_told
from steward.language.values import Moment
from steward.models.planner.dates import spoken_dates
from steward.models.planner.dialogue import Step
from steward.models.planner.readers import InterpretedCall, ReaderQuestion, Record
from steward.models.reader import taught_reader
from steward.tasks.changes import Changes, read_update
from steward.tasks.new_tasks import NewTask, read_new_tasks
from steward.tasks.repeats import first_due

NAME = "tasks"
IN_SESSION = frozenset({"user_id", "idempotency_key"})
NAMING = frozenset({"title", "search", "task_id"})  # what names a task, and says nothing about it
# One word that asks for the list, or for a part of it.
LISTS = frozenset(
    """agenda all backlog chores completed done due errands everything finished items list lists open
    outstanding overdue pending plan plans remaining reminders schedule task tasks to-do to-dos todo todos
    today tomorrow undone upcoming""".split()  # noqa: SIM905 - a word list reads best as words
)
NOTHING_DONE = "Okay, I haven't changed anything."


def _is_thing(calls: Sequence[ReadCall], utterance: str) -> bool:
    """Whether one word was said that names no list: "groceries" names what there is to do."""
    said = utterance.lower().strip(" .!?").split()
    return (
        len(said) == 1
        and said[0] not in LISTS
        and [call.tool for call in calls] == [words.LIST]
        and not calls[0].arguments
    )


ASKED_FOR = 0.4  # how surely a task must be meant for its title to be asked for


class TaskReader:
    """A planner's `Interpreter` and `Speaker` for the task tools."""

    def interpret(
        self, calls: Sequence[ReadCall], utterance: str, *, unasked: bool, now: datetime
    ) -> Sequence[InterpretedCall]:
        """What was filled, read by the grammar of tasks. What is only named is offered as a task."""
        calls = [of_what_is_there(call, utterance) for call in calls]
        if (unasked or _is_thing(calls, utterance)) and all(set(call.arguments) <= NAMING for call in calls):
            return [_offered(utterance, calls[0].fit)]
        # Changes are read from the whole request: of one task there is one, whatever it was marked as.
        changed = {_pointed(call): call for call in calls if call.tool == words.UPDATE}
        once = [call for call in calls if call.tool != words.UPDATE or changed[_pointed(call)] is call]
        together = put_together(once, utterance)
        return _told_once([meant for call in together for meant in self._meant(call, utterance, now)])

    def _meant(self, call: ReadCall, utterance: str, now: datetime) -> Sequence[InterpretedCall]:
        if call.tool == words.ADD:
            told = asks_to_be_told(utterance)
            items = new_tasks(call, utterance, now)
            added = [replace(addition(item, now, told=told), certainty=call.fit) for item in items]
            return added or ([what_to_add(call.fit)] if call.fit >= ASKED_FOR else [])
        return [listed(call, utterance, now) if call.tool == words.LIST else touched(call, utterance, now)]

    def answer(
        self,
        memo: Mapping[str, Any],
        utterance: str,
        tools: Sequence[ToolDefinition],  # noqa: ARG002
        now: datetime,
    ) -> Sequence[InterpretedCall] | str | None:
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

    def _proposed(self, meaning: str, now: datetime) -> Sequence[InterpretedCall]:
        if meaning == "list":
            return [InterpretedCall(tool=words.LIST)]
        items = read_new_tasks(meaning, now) or (NewTask(meaning),)
        return [addition(item, now) for item in items]

    def which(
        self, tool: str, mention: str, records: Sequence[Record], now: datetime
    ) -> tuple[str, list[str]]:
        return words.which(tool, mention), [words.line(record, now) for record in records]

    def abilities(self, unmet: str | None) -> str:
        return f"{words.NOT_ABOUT_TASKS} {words.ABILITIES}" if unmet else words.ABILITIES

    def nothing(self, tool: str, mention: str) -> ReaderQuestion:  # noqa: ARG002
        return ReaderQuestion(words.not_found(mention), {"waits_for": "yes", "meaning": "list"})

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


def task_readings(said: str, specs: Iterable[ToolSpec], now: datetime) -> Sequence[InterpretedCall]:
    """What is asked of the task tools alone; empty where nothing is."""
    tools = [
        Readable(each.name, without_rivals(each.description), _shown(each.input_schema)) for each in specs
    ]
    moments = [
        Moment(each.start, each.end, each.value, timed=each.has_time) for each in spoken_dates(said, now)
    ]
    calls = read(said, tools, taught_reader(), moments=moments).calls
    return TaskReader().interpret(calls, said, unasked=False, now=now) if calls else ()


def _shown(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without what the session fills in."""
    shown = {name: each for name, each in schema["properties"].items() if name not in IN_SESSION}
    return {**schema, "properties": shown, "required": [n for n in schema.get("required", ()) if n in shown]}


def _told_once(readings: Sequence[InterpretedCall]) -> Sequence[InterpretedCall]:
    """ "Oil change, December 4th": a task without a time that comes again with one is the same task."""
    timed = {_title(each) for each in readings if each.tool == words.ADD and "due_date" in each.arguments}
    return [
        each
        for each in readings
        if each.tool != words.ADD or "due_date" in each.arguments or _title(each) not in timed
    ]


def _title(reading: InterpretedCall) -> str:
    return str(reading.arguments.get("title") or "").lower()


def _pointed(call: ReadCall) -> str:
    """The words that name the task of a call."""
    return str(call.arguments.get("task_id") or "")


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


def _offered(utterance: str, fit: float) -> InterpretedCall:
    """ "Milk": perhaps a task, and the person says whether it is one."""
    question = f"Would you like me to add '{utterance.strip(' .!?')}' as a new task?"
    return InterpretedCall(
        tool=words.ADD,
        question=ReaderQuestion(question, {"waits_for": "yes", "meaning": utterance}),
        certainty=fit,
    )


def addition(item: NewTask, now: datetime, *, told: bool = False) -> InterpretedCall:
    """`told`: whether the person asks to be told when it is due."""
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
        "notify": True if told and due is not None else None,
    }
    return InterpretedCall(
        tool=words.ADD,
        arguments=arguments | {name: value for name, value in given.items() if value is not None},
    )


def _new_title(utterance: str, now: datetime) -> Sequence[InterpretedCall] | None:
    """What was to be added."""
    return [addition(item, now) for item in read_new_tasks(f"add {utterance}", now)] or None


def _new_change(task_id: str, task: Any, utterance: str, now: datetime) -> Sequence[InterpretedCall] | None:
    """What to change about the task that was asked about."""
    changes = read_update(utterance, now)[1]
    if changes == Changes():
        changes = read_update(f"change it to {utterance}", now)[1]
    record: Record = {"id": task_id}
    if isinstance(task, Mapping):
        record = {**record, **cast("Record", task)}
    finished = finisher(changes, now)(record)
    if isinstance(finished, ReaderQuestion):
        return [InterpretedCall(tool=words.UPDATE, question=finished)]
    return [InterpretedCall(tool=words.UPDATE, arguments={"task_id": task_id, **finished})]
