"""The task language as a hint to the planner: what people say about tasks, and how it is answered.

Owns the translation from what `tasks.language` understood to calls of the task tools, and back from their
results to words. Touches nothing: the planner calls, the door decides.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never, cast
from zoneinfo import ZoneInfo

from pydantic_ai import ToolDefinition

from steward.agents import task_words as words
from steward.conversations.model import CallRecord, CallStatus
from steward.models.planner.dialogue import Step
from steward.models.planner.readers import Meant, Mention, Question, Reading, Record
from steward.tasks.answers import Cancel, Everything, No, Yes, read_answer
from steward.tasks.changes import Changes, read_update
from steward.tasks.dates.calendar import Grain, floor
from steward.tasks.dates.find import find_dates
from steward.tasks.dates.mention import DateMention
from steward.tasks.filters import Filters
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
from steward.tasks.matching import NoMatch, OneMatch, SeveralMatches, match
from steward.tasks.new_tasks import NewTask, read_new_tasks
from steward.tasks.references import Reference
from steward.tasks.repeats import first_due

NAME = "tasks"
NOTHING_DONE = "Okay, I haven't changed anything."
_HELP_LISTING = {"limit": 100}
_SHORTEST_ID = 6
_BARE_DONE = frozenset({"done", "finished", "completed", "complete", "all done"})
_NUMBERS = re.compile(r"[1-9]\d?(?:(?:\s*,\s*|\s+and\s+|\s*&\s*)[1-9]\d?)*")


class TaskReader:
    """A planner's `UtteranceReader` and `Speaker` for the task tools."""

    def read(self, utterance: str, tools: Sequence[ToolDefinition], now: datetime) -> Sequence[Reading]:  # noqa: ARG002
        meaning = understand(utterance, now)
        if isinstance(meaning, Other):  # less sure, so that a tool that fits better wins
            meaning = understand_by_verb(utterance, now)
        return _readings(meaning, utterance, now)

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
        return None if tasks is None else _sifted(tasks, step.memo)

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
            told.append(words.list_told(tasks, now, _headline(step.memo)))
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
            return [_list(filters, now, certainty=sure)]
        case Complete(reference=reference, confidence=sure):
            return [_touch(words.COMPLETE, reference, wanted=False, certainty=sure)]
        case Delete(reference=reference, confidence=sure):
            return [_touch(words.DELETE, reference, wanted=None, certainty=sure)]
        case Update(reference=reference, changes=changes, confidence=sure):
            reopening = changes.completed is False
            touch = _touch(words.UPDATE, reference, wanted=reopening, certainty=sure)
            return [replace(touch, finish=_finisher(changes, now))]
        case Ask(question=question, proposal=proposal, confidence=sure):
            memo = {"waits_for": "yes", "meaning": utterance} if proposal else {"waits_for": "title"}
            return [Reading(tool=words.ADD, question=Question(question, memo), certainty=sure)]
        case Other():
            return []
        case _:
            assert_never(meaning)


def _add(item: NewTask, now: datetime) -> Reading:
    arguments: dict[str, Any] = {"title": item.title}
    due = _due(item.due) if item.due else None
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


def _due(mention: DateMention) -> str:
    return mention.start.isoformat() if mention.has_time else mention.start.date().isoformat()


def _list(filters: Filters, now: datetime, *, certainty: float) -> Reading:
    after, before = filters.due_after, filters.due_before
    arguments: dict[str, Any] = {
        "completed": filters.completed,
        "priority": filters.priority.value if filters.priority else None,
        # The tool's bounds are both exclusive days.
        "due_after": (after.date() - timedelta(days=1)).isoformat() if after else None,
        "due_before": before.date().isoformat() if before else None,
        "search": filters.search,
    }
    memo: dict[str, Any] = {"about": _about(filters, now)}
    if filters.overdue:
        arguments["due_before"] = now.isoformat()
    if filters.done_after is not None or filters.done_before is not None:
        memo |= {
            "done_after": filters.done_after.isoformat() if filters.done_after else None,
            "done_before": filters.done_before.isoformat() if filters.done_before else None,
        }
        arguments["limit"] = 100
    return Reading(
        tool=words.LIST,
        arguments={name: value for name, value in arguments.items() if value is not None},
        certainty=certainty,
        memo={name: value for name, value in memo.items() if value},
    )


def _about(filters: Filters, now: datetime) -> str:
    parts = [f"with {filters.priority.value} priority"] if filters.priority else []
    if filters.overdue:
        parts.append("overdue")
    elif filters.due_after or filters.due_before:
        parts.append(f"due {_window(filters.due_after, filters.due_before, now)}")
    if filters.done_after or filters.done_before:
        parts.append(f"completed {_window(filters.done_after, filters.done_before, now)}")
    elif filters.completed:
        parts.append("completed")
    elif filters.completed is False and not filters.overdue:
        parts.append("still open")
    if filters.search:
        parts.append(f"about '{filters.search}'")
    return " ".join(parts)


def _window(after: datetime | None, before: datetime | None, now: datetime) -> str:
    if after is not None and before is not None:
        last = before - timedelta(days=1)
        first = words.due_words(after.date().isoformat(), now)
        return (
            first
            if last.date() <= after.date()
            else f"{first} to {words.due_words(last.date().isoformat(), now)}"
        )
    if before is not None:
        return f"before {words.due_words(before.date().isoformat(), now)}"
    return f"from {words.due_words(after.date().isoformat(), now)} on" if after is not None else ""


def _sifted(tasks: Sequence[Record], memo: Mapping[str, Any]) -> list[Record]:
    """Only those done within the time asked about: the tool cannot filter by that."""
    after, before = memo.get("done_after"), memo.get("done_before")
    if not after and not before:
        return list(tasks)
    kept: list[Record] = []
    for task in tasks:
        done = task.get("completed_at")
        at = datetime.fromisoformat(done) if isinstance(done, str) else None
        if at is None or (after and at < datetime.fromisoformat(after)):
            continue
        if not before or at < datetime.fromisoformat(before):
            kept.append(task)
    return kept


def _headline(memo: Mapping[str, Any]) -> words.Said:
    about = str(memo.get("about") or "")
    return words.Said(about, filtered=bool(about))


# --- which task ---


def _touch(tool: str, reference: Reference, *, wanted: bool | None, certainty: float) -> Reading:
    """`wanted` is whether the task meant should be done already; open ones come first otherwise."""
    if reference.text.lower() in _BARE_DONE:  # "done": with what was spoken of
        reference = Reference("", pronoun=True)
    pointed = reference.pronoun and not reference.text and not reference.everything
    # "mark 1 and 3 as done": bare numbers are places, as nobody names a task like that.
    places = reference.ordinals or (
        tuple(int(each) for each in re.findall(r"\d+", reference.text))
        if _NUMBERS.fullmatch(reference.text)
        else ()
    )
    mention = Mention(
        text=reference.text,
        places=places,
        it=pointed,
        among=None if pointed or places else _chooser(reference, wanted=wanted),
    )
    return Reading(tool=tool, mentions={"task_id": mention}, listing=_HELP_LISTING, certainty=certainty)


def _chooser(reference: Reference, *, wanted: bool | None) -> Callable[[Sequence[Record]], Meant]:
    def among(records: Sequence[Record]) -> Meant:
        if reference.everything:
            return Meant(_everything(reference, records, wanted=wanted), every=True)
        by_id = [each for each in records if _is_id(reference.text, str(each.get("id", "")))]
        if by_id:
            return Meant(by_id)
        groups = _by_state(records, wanted)
        for group in groups:
            found = _matched(reference.text, group, hint=reference.hint)
            if found:
                return Meant(found)
        return _each_part(reference, groups)

    return among


def _is_id(text: str, task_id: str) -> bool:
    given = text.strip().lower()
    return len(given) >= _SHORTEST_ID and (given == task_id or (given.isalnum() and task_id.endswith(given)))


def _by_state(records: Sequence[Record], wanted: bool | None) -> list[list[Record]]:
    """Tasks in the state that is likely meant first, the others only where none of those fits."""
    done = [each for each in records if each.get("completed")]
    still = [each for each in records if not each.get("completed")]
    return [done, still] if wanted else [still, done]


def _everything(reference: Reference, records: Sequence[Record], *, wanted: bool | None) -> list[Record]:
    state = reference.completed if reference.completed is not None else wanted
    chosen = [each for each in records if state is None or bool(each.get("completed")) is state]
    return _matched(reference.text, chosen, hint="") if reference.text else chosen


def _matched(text: str, records: Sequence[Record], *, hint: str) -> list[Record]:
    found = match(text, records, title=lambda record: str(record.get("title", "")), hint=hint)
    match found:
        case OneMatch(task=task):
            return [task]
        case SeveralMatches(tasks=several):
            return list(several)
        case NoMatch():
            return []


def _each_part(reference: Reference, groups: Sequence[Sequence[Record]]) -> Meant:
    """ "milk and eggs": one task for each piece, where each piece means exactly one."""
    chosen: list[Record] = []
    for part in reference.parts:
        tried = [_matched(part, group, hint="") for group in groups]
        found = next((hits for hits in tried if hits), tried[-1])
        if len(found) != 1:
            return Meant(())
        chosen += [each for each in found if each not in chosen]
    return Meant(chosen, every=True)


# --- changes ---


def _finisher(changes: Changes, now: datetime) -> Callable[[Record], Mapping[str, Any] | Question]:
    def finish(task: Record) -> Mapping[str, Any] | Question:
        arguments: dict[str, Any] = {
            name: value
            for name, value in (
                ("title", changes.title),
                ("priority", changes.priority.value if changes.priority else None),
                ("completed", changes.completed),
                ("description", changes.description),
            )
            if value is not None
        }
        if changes.clear_due:
            arguments["due_date"] = None
        if changes.due is not None:
            arguments |= _moved(task, changes.due, now)
        if changes.delay is not None:
            due = _current_due(task, now)
            if due is None:
                return _what_change(
                    task, f"'{task.get('title', '')}' has no due date yet. When should it be due?"
                )
            arguments["due_date"] = _text(due[0] + changes.delay, has_time=due[1] or _finer(changes.delay))
        return arguments or _what_change(
            task, f"What would you like to change about '{task.get('title', '')}'?"
        )

    return finish


@dataclass(frozen=True, slots=True)
class _Clock:
    """A time of day in a title: "meeting at 3pm"."""

    start: int
    end: int


def _moved(task: Record, due: DateMention, now: datetime) -> dict[str, Any]:
    """The new date. A time alone keeps the day, and a time in the title does not stay behind."""
    if not due.time_only:
        return {"due_date": _due(due)}
    value = due.value
    current = _current_due(task, now)
    if current is not None:
        day = current[0]
        value = value.replace(year=day.year, month=day.month, day=day.day)
    arguments: dict[str, Any] = {"due_date": value.isoformat()}
    title = str(task.get("title", ""))
    clock = _clock_in(title, now)
    if clock is not None:
        arguments["title"] = f"{title[: clock.start]}{words.clock_words(value)}{title[clock.end :]}"
    return arguments


def _clock_in(title: str, now: datetime) -> _Clock | None:
    for mention in find_dates(title, now):
        if mention.time_only and mention.end is None:
            start, end = mention.span
            lead = re.match(r"(?:at|by|@)\s+", title[start:end], re.IGNORECASE)
            return _Clock(start + (lead.end() if lead else 0), end)
    return None


def _current_due(task: Record, now: datetime) -> tuple[datetime, bool] | None:
    due = task.get("due_date")
    if not isinstance(due, str):
        return None
    if "T" in due:
        return datetime.fromisoformat(due), True
    return datetime.fromisoformat(due).replace(tzinfo=now.tzinfo), False


def _finer(delay: timedelta) -> bool:
    return delay.total_seconds() % 86_400 != 0


def _text(value: datetime, *, has_time: bool) -> str:
    return value.isoformat() if has_time else floor(value, Grain.DAY).date().isoformat()


def _what_change(task: Record, question: str) -> Question:
    known = {name: task[name] for name in ("title", "due_date") if task.get(name) is not None}
    return Question(question, {"waits_for": "change", "task_id": task.get("id"), "task": known})


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
    finished = _finisher(changes, now)(record)
    if isinstance(finished, Question):
        return [Reading(tool=words.UPDATE, question=finished)]
    return [Reading(tool=words.UPDATE, arguments={"task_id": task_id, **finished})]
