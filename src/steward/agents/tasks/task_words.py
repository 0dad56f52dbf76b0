"""How the task assistant says what was done, found, refused or went wrong: from records, never from a model.

Pure. Owns the wording of confirmations, lists, questions and failures about tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast

from steward.contract.errors import ErrorCode
from steward.contract.showing import can_be_said
from steward.conversations.model import CallRecord, CallStatus
from steward.tasks.envelopes import TaskCode
from steward.tasks.matching import stems

ADD, LIST, COMPLETE, DELETE, UPDATE = "add_task", "list_tasks", "complete_task", "delete_task", "update_task"
TASK_TOOLS = (ADD, LIST, COMPLETE, DELETE, UPDATE)
CHANGING = (ADD, COMPLETE, DELETE, UPDATE)

NO_TASKS = "You don't have any tasks yet."
SEE_TASKS = "Would you like to see your current tasks?"
TROUBLE_CHANGING = "I'm having trouble updating your tasks right now. Please try again."
TROUBLE_READING = "I'm having trouble reading your tasks right now. Please try again."
TOO_MANY_REQUESTS = "I'm getting too many requests at the moment. Please wait a moment and try again."
ABILITIES = "I can add, show, complete, change and delete tasks for you. What would you like to do?"
NOT_ABOUT_TASKS = "I only know about your tasks, so I can't help with that."
NOTHING_CHANGED = "I haven't changed anything in your tasks."
_SHOWN = 100
_NEAR_DAYS = 7

# The person said no: to a proposal of this conversation, or elsewhere.
DECLINED = frozenset({str(ErrorCode.FORBIDDEN), str(ErrorCode.PROPOSAL_REJECTED)})

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ListHeadline:
    """What was asked to see, for the headline of a list."""

    about: str = ""  # "due today", "with high priority", ...
    filtered: bool = False


# --- details ---


def due_words(due: str, now: datetime) -> str:
    """ "today", "tomorrow at 5pm", "Friday at 9:30am", "3 Mar 2027"."""
    day, moment = _due(due)
    clock = "" if moment is None else f" at {clock_words(moment)}"
    return f"{_day_words(day, now.date())}{clock}"


def clock_words(moment: datetime) -> str:
    hour = moment.hour % 12 or 12
    minutes = f":{moment.minute:02d}" if moment.minute else ""
    return f"{hour}{minutes}{'am' if moment.hour < 12 else 'pm'}"


def _due(due: str) -> tuple[date, datetime | None]:
    if "T" not in due:
        return date.fromisoformat(due), None
    moment = datetime.fromisoformat(due)  # in its owner's zone already
    return moment.date(), moment


def _day_words(day: date, today: date) -> str:
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get((day - today).days)
    if near:
        return near
    if 0 < (day - today).days < _NEAR_DAYS:
        return f"{day:%A}"
    written = f"{day.day} {day:%b}"
    return written if day.year == today.year else f"{written} {day.year}"


_EVERY = {"HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_DAYS = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
    "SU": "Sunday",
}  # fmt: skip


def repeat_words(rule: str) -> str:
    parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
    unit = _EVERY.get(parts.get("FREQ", ""), "")
    if not unit:
        return f"repeats {rule}"
    interval = parts.get("INTERVAL", "1")
    every = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    days = [_DAYS[each] for each in parts.get("BYDAY", "").split(",") if each in _DAYS]
    return f"repeats {every}{' on ' + spoken(days) if days else ''}"


def details(task: Record, now: datetime, *, priority_said: bool = False, done: bool = False) -> list[str]:
    """Everything that is set about a task besides its title."""
    found: list[str] = []
    if isinstance(task.get("due_date"), str):
        found.append(f"due {due_words(task['due_date'], now)}")
    priority = task.get("priority")
    if priority in ("high", "low") or (priority and priority_said):
        found.append(f"{priority} priority")
    if isinstance(task.get("recurrence"), str):
        found.append(repeat_words(task["recurrence"]))
    if isinstance(task.get("notify_at"), str):
        found.append(reminder_words(task, now))
    if task.get("description"):
        found.append(f"note: {task['description']}")
    if done and task.get("completed"):
        found.append("done")
    return found


def reminder_words(task: Record, now: datetime) -> str:
    at, due = task["notify_at"], task.get("due_date")
    if at == due:
        return "with a reminder"
    clock = clock_words(datetime.fromisoformat(at))
    return f"reminder at {clock}" if str(due)[:10] == at[:10] else f"reminder {due_words(at, now)}"


def named(task: Record, now: datetime, *, done: bool = False, priority_said: bool = False) -> str:
    """'title' with its details behind it."""
    more = ", ".join(details(task, now, done=done, priority_said=priority_said))
    return f"'{task.get('title', '')}'" + (f" ({more})" if more else "")


def line(task: Record, now: datetime) -> str:
    more = ", ".join(details(task, now, done=True))
    return f"{task.get('title', '')}" + (f" ({more})" if more else "")


def spoken(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


# --- what the records know ---


def data_of(record: CallRecord) -> Record:
    """The object that a call answered with; an empty one where it answered with something else."""
    data: Any = record.data
    return cast("Record", data) if isinstance(data, Mapping) else {}


def tasks_in(record: CallRecord) -> Iterator[Record]:
    """Every task in the answer of a call that worked."""
    if record.status is not CallStatus.DONE:
        return
    data = data_of(record)
    for key in ("task", "deleted_task", "next_task"):
        if isinstance(data.get(key), Mapping):
            yield cast("Record", data[key])
    listed = data.get("tasks")
    for task in cast("list[Any]", listed) if isinstance(listed, list) else ():
        if isinstance(task, Mapping):
            yield cast("Record", task)


def known_task(task_id: Any, records: Sequence[CallRecord]) -> dict[str, Any]:
    """All that the records say about a task, the latest word first."""
    known: dict[str, Any] = {}
    for record in reversed(records):
        for task in tasks_in(record):
            if task.get("id") == task_id:
                known = {**task, **known}
    return known


def listed(record: CallRecord) -> list[Record] | None:
    """The tasks that a listing call returned; None for any other call."""
    return list(tasks_in(record)) if record.tool == LIST and record.status is CallStatus.DONE else None


# --- what came of a call ---


def told(
    records: Sequence[CallRecord],
    known: Sequence[CallRecord],
    now: datetime,
    said: ListHeadline | None = None,
) -> str:
    """What these calls did, in the order in which they did it."""
    adds = [each for each in records if each.tool == ADD and each.status is CallStatus.DONE]
    plain = len(adds) > 1 and not any(details(_task(each), now) for each in adds)
    sentences: list[str] = []
    for record in records:
        if plain and record in adds:
            if record is adds[0]:
                titles = spoken([f"'{_task(each).get('title', '')}'" for each in adds])
                sentences.append(f"I've added {titles} to your tasks.")
            continue
        sentences.append(one_told(record, known, now, said))
    return "\n".join(dict.fromkeys(sentence for sentence in sentences if sentence))


def one_told(
    record: CallRecord, known: Sequence[CallRecord], now: datetime, said: ListHeadline | None = None
) -> str:
    match record.status:
        case CallStatus.DONE:
            return _done(record, known, now, said)
        case CallStatus.FAILED | CallStatus.REJECTED:
            return failed(record, known)
        case CallStatus.REFUSED:
            return f"I couldn't tell which task you mean. {SEE_TASKS}"
        case CallStatus.PENDING_APPROVAL:
            return confirmation(record.arguments, known, now)


def _task(record: CallRecord) -> Record:
    data = data_of(record)
    task = data.get("task") or data.get("deleted_task")
    return cast("Record", task) if isinstance(task, Mapping) else {}


def _done(record: CallRecord, known: Sequence[CallRecord], now: datetime, said: ListHeadline | None) -> str:
    data = data_of(record)
    task = {**known_task(_task(record).get("id"), known), **_task(record)}
    match record.tool:
        case "add_task":
            given = named(task, now, priority_said=bool(record.arguments.get("priority")))
            title, _, more = given.partition("' (")
            return (
                f"I've added {title}' to your tasks ({more}."
                if more
                else f"I've added {given} to your tasks."
            )
        case "complete_task":
            if data.get("code") == TaskCode.ALREADY_COMPLETED:
                return f"{named(task, now)} was already complete."
            following = data.get("next_task")
            again = cast("Record", following).get("due_date") if isinstance(following, Mapping) else None
            more = f" It is due again {due_words(again, now)}." if isinstance(again, str) else ""
            return f"Great! I've marked {_with_details(task, now, 'as complete')}.{more}"
        case "delete_task":
            return f"I've deleted {_with_details(task, now, 'from your tasks')}."
        case "update_task":
            return _updated(record, task, known, now)
        case _:
            return list_told(listed(record) or [], now, said)


def _with_details(task: Record, now: datetime, tail: str) -> str:
    more = ", ".join(details(task, now))
    return f"'{task.get('title', '')}' {tail}" + (f" ({more})" if more else "")


def _updated(record: CallRecord, task: Record, known: Sequence[CallRecord], now: datetime) -> str:
    changes = changed_fields(record)
    if not changes:
        return f"{named(task, now)} was like that already, so nothing changed."
    before = known_task(task.get("id"), [each for each in known if each is not record and each != record])
    if (retimed := _retimed(task, before, changes, now)) is not None:
        return retimed
    old = before.get("title")
    renamed = "title" in changes and old and old != task.get("title")
    opening = (
        f"I've renamed '{old}' to '{task.get('title')}'"
        if renamed
        else f"I've updated '{task.get('title', '')}'"
    )
    states = [words for name in changes if (words := _state(name, task, now))]
    clauses = [f"it is now {spoken(states)}"] if states else []
    clauses += [words for name in changes if (words := _clause(name, task))]
    rest = [each for each in details(task, now) if not any(each in words for words in clauses)]
    rest = [each for each in rest if not (each.startswith("note:") and "description" in changes)]
    sentence = f"{opening}: {', '.join(clauses)}" if clauses else opening
    return f"{sentence} ({', '.join(rest)})." if rest else f"{sentence}."


def _retimed(task: Record, before: Record, changes: Sequence[str], now: datetime) -> str | None:
    """What is said where nothing but the time of day was changed; None elsewhere."""
    due, old = task.get("due_date"), before.get("due_date")
    if not isinstance(due, str) or not {"due_date"} <= set(changes) <= {"due_date", "title"}:
        return None
    day, moment = _due(due)
    if moment is None or (isinstance(old, str) and old[:10] != due[:10]):
        return None
    clock = clock_words(moment)
    title, known = str(task.get("title") or ""), str(before.get("title") or "")
    name = title.removesuffix(clock).rstrip().removesuffix(" at").rstrip()
    if (old is None and title == known) or not name or not known.startswith(name):
        return None
    what = f"the {name} time" if " " not in name else f"the time of '{name}'"
    when = clock if day == now.date() else f"{clock} ({_day_words(day, now.date())})"
    return f"I've updated {what} to {when}."


def changed_fields(record: CallRecord) -> list[str]:
    """What an update changed, by its own account."""
    changes = data_of(record).get("changes")
    return [str(each) for each in cast("list[Any]", changes)] if isinstance(changes, list) else []


def _state(name: str, task: Record, now: datetime) -> str:
    """What a task is now; nothing where the change is not told as a state."""
    match name:
        case "due_date":
            due = task.get("due_date")
            return f"due {due_words(due, now)}" if isinstance(due, str) else "without a due date"
        case "priority":
            return f"{task.get('priority')} priority"
        case "completed":
            return "complete" if task.get("completed") else "open again"
        case _:
            return ""


def _clause(name: str, task: Record) -> str:
    match name:
        case "description":
            note = task.get("description")
            return f"its note says: {note}" if note else "it has no note any more"
        case "recurrence":
            rule = task.get("recurrence")
            return f"it now {repeat_words(rule)}" if isinstance(rule, str) else "it no longer repeats"
        case _:
            return ""


def list_told(tasks: Sequence[Record], now: datetime, said: ListHeadline | None = None) -> str:
    about = f" {said.about}" if said and said.about else ""
    if not tasks:
        return f"You don't have any tasks{about}." if said and said.filtered else NO_TASKS
    shown = [f"{number}. {line(task, now)}" for number, task in enumerate(tasks[:_SHOWN], 1)]
    head = f"You have {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}{about}:"
    return "\n".join([head, *shown])


# --- questions ---


def confirmation(arguments: Record, known: Sequence[CallRecord], now: datetime) -> str:
    """The question before a deletion, with the title from the record."""
    task = known_task(arguments.get("task_id"), known)
    # A title that could be a trick does not stand in our sentence; the call below it shows it.
    what = named(task, now) if can_be_said(str(task.get("title") or "")) else "this task"
    return f"Are you sure you want to delete {what}? This cannot be undone."


def kept(arguments: Record, known: Sequence[CallRecord]) -> str:
    task = known_task(arguments.get("task_id"), known)
    return (
        f"Okay, I'll keep '{task['title']}' in your tasks."
        if task.get("title")
        else "Okay, I'll keep it in your tasks."
    )


def which(tool: str, mention: str) -> str:
    verb = {COMPLETE: "did you complete", DELETE: "should I delete", UPDATE: "should I change"}.get(
        tool, "do you mean"
    )
    if not mention:
        return f"Which task {verb}?"
    return f"I found multiple tasks with '{mention}'. Which one {verb}?"


def none_fits(mention: str) -> str:
    about = f" matching '{mention}'" if mention else ""
    return f"I couldn't find a task{about}."


def not_found(mention: str) -> str:
    return f"{none_fits(mention)} {SEE_TASKS}"


# --- failures ---

_FAILURES: Mapping[str, str] = {
    TaskCode.INVALID_TITLE: "A task's title must have 1 to 500 characters. What should it be called?",
    TaskCode.INVALID_DESCRIPTION: "A note can have at most 2000 characters. Could you make it shorter?",
    TaskCode.INVALID_DATE: "I couldn't understand that date. Could you say it like 'next Friday at 5pm'?",
    TaskCode.INVALID_PRIORITY: "A priority can be low, medium or high. Which one would you like?",
    TaskCode.INVALID_RECURRENCE: "I couldn't repeat it like that. When is it due first, and how often?",
    TaskCode.INVALID_FILTER: "I couldn't filter your tasks like that. Would you like to see all of them?",
    TaskCode.INVALID_USER: "I couldn't find your task list. Please check who you are signed in as.",
    TaskCode.NO_CHANGES: "What would you like to change about it?",
    TaskCode.UNAUTHORIZED: f"I couldn't find that task in your list. {SEE_TASKS}",
    TaskCode.TASK_NOT_FOUND: f"I couldn't find that task any more. {SEE_TASKS}",
    ErrorCode.RATE_LIMITED: TOO_MANY_REQUESTS,
    ErrorCode.MODEL_RATE_LIMITED: TOO_MANY_REQUESTS,
    ErrorCode.PROPOSAL_EXPIRED: "Nobody confirmed it in time, so I didn't delete anything.",
}


def failed(record: CallRecord, known: Sequence[CallRecord]) -> str:
    """What went wrong, without anything technical in it."""
    if record.tool == DELETE and record.error_code in DECLINED:
        return kept(record.arguments, known)
    if record.outcome_unknown or record.error_code == ErrorCode.CONFLICT:
        return "I can't tell whether that went through. Please look at your tasks before trying again."
    found = _FAILURES.get(record.error_code or "")
    return found or (TROUBLE_READING if record.tool == LIST else TROUBLE_CHANGING)


def mentions_title(text: str, title: str) -> bool:
    """Whether a sentence speaks of the task of this title: by the words that carry its meaning."""
    wanted = stems(title)
    return bool(wanted) and wanted <= stems(text)
